package perplexity

import (
	"bytes"
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/client/note"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// alone names the pass in which windows are sent one at a time, before the first stage.
const alone = "text"

// Options is the configuration of a [Check].
type Options struct {
	Text   *Text
	Engine string // of the server, which decides what is tried first; "" for unknown
	// Limit is how long the windows may take; 0 for as long as it takes. Those that are scored until then are spread over the text.
	Limit time.Duration
	// Clean takes secrets out of texts of the server; nil for none.
	Clean func(string) string
}

// Check has a server score the windows of a text, one at a time.
type Check struct {
	Options

	mu      sync.Mutex
	ways    []*api.Scoring // those that are not ruled out; the first is used
	settled bool           // it was understood once
	order   []int          // windows, in the order in which they are sent
	next    int            // in order
	begun   time.Time
	over    bool // the limit has passed
	scores  map[int]rundir.WindowScore
	faults  map[fault]int
	failed  int    // requests without an answer
	why     string // the latest of them
	ignored []string
	refused []string
	message string // of the latest refusal
}

// New returns a check.
func New(o Options) *Check {
	c := &Check{Options: o, ways: api.Scorings(o.Engine), scores: map[int]rundir.WindowScore{}, faults: map[fault]int{}}
	c.order = rand.New(rand.NewPCG(1, 2)).Perm(len(o.Text.Windows)) // the same for all runs
	return c
}

// Phase is the phase in which windows are sent.
func (c *Check) Phase() string { return experiment.PhaseText }

// Requests returns how many requests the windows take.
func (c *Check) Requests() int { return len(c.Text.Windows) }

// Passes returns the name of the pass before the first stage.
func (c *Check) Passes() []string { return []string{alone} }

// Pass returns the windows that are not scored yet.
func (c *Check) Pass(string) load.Source {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next, c.begun = 0, time.Now()
	return pass{c}
}

// Source returns the sessions of a stage as they are: nothing is scored under load.
func (c *Check) Source(_ string, s load.Source) load.Source { return s }

// pass sends each window once.
type pass struct{ check *Check }

// Next returns the next window.
func (p pass) Next() (load.Session, bool) {
	c := p.check
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.next < len(c.order) && c.scores[c.order[c.next]].Tokens > 0 {
		c.next++
	}
	c.over = c.Limit > 0 && time.Since(c.begun) >= c.Limit
	if len(c.ways) == 0 || c.next == len(c.order) || c.over || c.faulty() >= mostFaults {
		return load.Session{}, false
	}
	i, way := c.order[c.next], c.ways[0]
	c.next++
	return load.Session{
		Turns: []load.Turn{{User: c.Text.Windows[i].Text, OutputTokens: 1, Score: way}},
		Ended: func(_, _ int, res *client.Result) { c.ended(i, way, res) },
	}, true
}

// mostFaults is how many windows may have scores of no use before the others are not sent: there is no perplexity then.
const mostFaults = 3

// faulty returns how many windows have scores of no use.
func (c *Check) faulty() (n int) {
	for _, k := range c.faults {
		n += k
	}
	return n
}

// mostFailures is how many requests may fail before a way is given up that no answer has shown to be understood.
const mostFailures = 3

// ended takes in the outcome of a request. It keeps nothing of the result. One that this program cancelled says nothing.
func (c *Check) ended(i int, way *api.Scoring, res *client.Result) {
	answer := bytes.Clone(res.LogProbs)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case res.Status == client.StatusIncomplete:
	case res.Status != client.StatusOK && c.settled, res.Status != client.StatusOK && passing(res) && c.failed < mostFailures-1:
		c.failed, c.why = c.failed+1, c.clean(res.Message)
	case res.Status != client.StatusOK:
		c.refused, c.message = append(c.refused, way.Name), c.clean(res.Message)
		c.another()
	default:
		c.answered(i, way, answer)
	}
}

func (c *Check) clean(s string) string {
	if c.Clean == nil {
		return s
	}
	return c.Clean(s)
}

// passing reports whether a request failed in a way that says nothing of what was asked.
func passing(res *client.Result) bool {
	return res.Class != client.ClassHTTP4xx && res.Class != client.ClassHTTP5xx && res.Class != client.ClassMalformed
}

// another goes on with another way, from the first window.
func (c *Check) another() { c.ways, c.next, c.failed, c.faults = c.ways[1:], 0, 0, map[fault]int{} }

// answered takes in an answer. The caller holds the lock.
func (c *Check) answered(i int, way *api.Scoring, answer []byte) {
	tokens, err := way.Tokens(answer)
	if errors.Is(err, api.ErrIgnored) && !c.settled {
		c.ignored = append(c.ignored, way.Name)
		c.another()
		return
	}
	c.settled = true
	var s rundir.WindowScore
	if err == nil {
		s, err = score(c.Text.Windows[i], tokens, way.Usage(answer).Prompt)
	}
	if err != nil {
		c.faults[faultOf(err)]++
		return
	}
	c.scores[i] = s
}

// Judge writes what is known so far into a run.
func (c *Check) Judge(run *rundir.Run, _ experiment.Log) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := &rundir.Perplexity{
		File: c.Text.Name, Text: c.Text.Print, Length: c.Text.Length, Window: c.Text.Window, Planned: len(c.Text.Windows), Notes: c.notes(),
	}
	if len(c.ways) > 0 && c.settled {
		p.Way = c.ways[0].Name
	}
	if len(c.faults) == 0 { // what is left out would not be left out at random
		for _, s := range c.scores {
			p.Scores = append(p.Scores, s)
		}
		slices.SortFunc(p.Scores, func(a, b rundir.WindowScore) int { return cmp.Compare(a.At, b.At) })
		summarize(p)
	}
	run.Perplexity = p
	return nil
}

// notes returns why there is no perplexity, or what limits it.
func (c *Check) notes() (all []note.Note) {
	windows := len(c.Text.Windows)
	if len(c.ways) == 0 {
		if len(c.ignored) > 0 {
			all = append(all, noteIgnored.New(strings.Join(c.ignored, ", ")))
		}
		if len(c.refused) > 0 {
			all = append(all, noteRefused.New(strings.Join(c.refused, ", "), c.message))
		}
		return all
	}
	for _, f := range []fault{faultText, faultCount, faultMissing, faultImpossible, faultPositive, faultConstant, faultShape} {
		if n := c.faults[f]; n > 0 {
			all = append(all, noteOf(f).New(n, len(c.scores)+c.faulty()))
		}
	}
	if c.failed > 0 {
		all = append(all, noteFailed.New(c.failed, windows, c.why))
	}
	if c.over && len(c.scores) < windows {
		all = append(all, noteShort.New(len(c.scores), windows))
	}
	return all
}

var (
	errOtherText = errors.New("the run was planned with another text than now: its file (--text) has changed")
	errNoScores  = errors.New("the scores of the text that the first part of the run got are gone: measure again")
)

// Recall takes over the scores of the first part of a run that goes on.
func (c *Check) Recall(before *rundir.Run, _ func(stage string) bool, _ experiment.Log) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := before.Perplexity
	switch {
	case p == nil && len(before.Stages) == 0: // it ended before the text was scored
		return nil
	case p == nil:
		return errNoScores
	case p.Text != c.Text.Print || p.Window != c.Text.Window || p.Planned != len(c.Text.Windows):
		return errOtherText
	}
	c.recallNotes(p.Notes)
	if way := api.ScoringWay(p.Way); way != nil {
		c.ways, c.settled = []*api.Scoring{way}, true
	} else if len(before.Stages) > 0 {
		c.ways = nil
	}
	for i, w := range c.Text.Windows {
		for _, s := range p.Scores {
			if s.At == w.At {
				c.scores[i] = s
			}
		}
	}
	return nil
}

// recallNotes takes over what only the notes tell.
func (c *Check) recallNotes(all []note.Note) {
	count := func(n note.Note) int {
		v, _ := n.Number("windows")
		return int(v)
	}
	for _, n := range all {
		switch {
		case n.Is(noteIgnored):
			c.ignored = strings.Split(n.String("ways"), ", ")
		case n.Is(noteRefused):
			c.refused, c.message = strings.Split(n.String("ways"), ", "), n.String("message")
		case n.Is(noteFailed):
			c.failed, c.why = count(n), n.String("message")
		case n.Is(noteShort):
			c.over = true
		}
		for _, f := range []fault{faultText, faultCount, faultMissing, faultImpossible, faultPositive, faultConstant, faultShape} {
			if n.Is(noteOf(f)) {
				c.faults[f] = count(n)
			}
		}
	}
}
