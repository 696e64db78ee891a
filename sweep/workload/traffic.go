package workload

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"time"

	"llmsweep/client/note"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// Traffic draws whole sessions of recorded traffic: the lengths and pauses of their turns, and how much of their first prompts they share. The load decides
// how many sessions begin or are open. The texts are made up.
type Traffic struct {
	name    string
	draw    func(*rand.Rand) visit
	asked   rundir.Workload
	clients []arrival.Client
	notes   []note.Note
	sharing
}

// visit is a session as it was recorded.
type visit struct {
	talk                 // of the first request
	at     time.Duration // of the first request
	shared []int64       // hash ids of the beginning of the first prompt, as far as other sessions have it too
	turns  []visitTurn
	more   int // turns that were to come when the recording ended, by those of other sessions
}

// visitTurn is a turn of a session.
type visitTurn struct {
	prompt int           // tokens: of the first prompt, then of what each turn adds to what was said before
	output int           // tokens of the answer
	pause  time.Duration // after the answer before
	from   time.Duration // when it was sent
	to     time.Duration // when its answer ended
	agents []visit       // that the next turn waited for; the pause of their first turns is that after this one
}

// longestPause is the longest pause between turns that is kept: stages are shorter than the longest that people make.
const longestPause = 10 * time.Minute

// openTraffic reads recorded traffic: a trace, the directory of a recording, or a [Description]. Where no request can be used, the error is an
// [UnusableError].
func openTraffic(ctx context.Context, path string, seed uint64, costs Calibration) (*Traffic, error) {
	if d, err := readDescription(path); err != nil {
		return nil, err
	} else if d != nil {
		w := &Traffic{name: path, draw: d.draw, asked: describeVisits(d.sample()), clients: d.Clients, sharing: newSharing(seed, costs)}
		w.block, w.beyond = d.Block, d.Block/2
		w.notes = []note.Note{noteDescribed.New(path, d.Sessions, d.K)}
		return w, nil
	}
	recorded, err := OpenTrace(ctx, path, TraceOptions{Share: true})
	if err != nil {
		return nil, err
	}
	all, cut := recorded.visits(2)
	open, sessions := cutOff(all), len(all)
	all = whole(joined(all))
	w := &Traffic{name: path, asked: describeVisits(all), clients: clientsOf(all, 1), notes: recorded.notes, sharing: newSharing(seed, costs)}
	w.block, w.beyond = recorded.block, recorded.block/2
	w.draw = func(rng *rand.Rand) visit { return all[rng.IntN(len(all))] }
	w.notes = append(w.notes, noteTraffic.New(path, len(all), recorded.Rows()))
	if open > 0 {
		w.notes = append(w.notes, noteCutOff.New(path, open, sessions))
	}
	if cut > 0 {
		w.notes = append(w.notes, noteLongPauses.New(path, cut, longestPause))
	}
	w.notes = append(w.notes, recorded.skipped.notes(path)...)
	return w, nil
}

// visits returns the sessions of a trace in the order of their first requests, and how many pauses were cut to the longest. A beginning counts as shared
// where at least the given number of sessions has it.
func (t *Trace) visits(least int) (all []visit, cut int) {
	type last struct {
		place int           // of the session in all
		said  int           // tokens of its latest prompt and answer
		end   time.Duration // of its latest answer
	}
	known, having := map[int]*last{}, map[int64]int{}
	for i, at := range t.log.at {
		talk, prompt, output := t.log.talkOf(i), int(t.log.prompt[i]), int(t.log.output[i])
		turn := visitTurn{prompt: prompt, output: output, from: at, to: at + talk.took}
		l := known[talk.session]
		if l == nil {
			l = &last{place: len(all)}
			known[talk.session] = l
			hashes := t.log.hashesOf(i)
			for _, h := range hashes {
				having[h]++
			}
			all = append(all, visit{talk: talk, at: at, shared: hashes})
		} else {
			turn.prompt, turn.pause = max(1, prompt-l.said), max(0, at-l.end)
			if turn.pause > longestPause {
				turn.pause, cut = longestPause, cut+1
			}
		}
		all[l.place].turns = append(all[l.place].turns, turn)
		l.said, l.end = prompt+output, at+talk.took
	}
	for i := range all {
		v := &all[i]
		n := 0
		for n < len(v.shared) && having[v.shared[n]] >= least {
			n++
		}
		v.shared = v.shared[:n]
	}
	return all, cut
}

// joined makes sub-agents parts of the sessions that called them. Where the next turn of a session was sent before a sub-agent had ended, it did not wait for
// it, and the sub-agent stays a session of its own.
func joined(all []visit) (whole []visit) {
	places := map[int]int{}
	for i, v := range all {
		places[v.session] = i
	}
	for i := len(all) - 1; i >= 0; i-- { // sub-agents begin after the sessions that call them
		v := all[i]
		caller, known := places[v.caller]
		if known && v.caller > 0 && all[caller].take(v) {
			continue
		}
		whole = append(whole, v)
	}
	slices.Reverse(whole)
	return whole
}

// take adds a sub-agent after the turn that called it, and reports whether the session waited for it.
func (v *visit) take(agent visit) bool {
	next := 0
	for next < len(v.turns) && v.turns[next].to <= agent.at {
		next++
	}
	ended := agent.ends()
	if next == 0 || next < len(v.turns) && v.turns[next].from < ended {
		return false
	}
	turn := &v.turns[next-1]
	agent.turns[0].pause = min(agent.at-turn.to, longestPause)
	turn.agents = append(turn.agents, agent)
	if next < len(v.turns) {
		v.turns[next].pause = min(v.turns[next].pause, v.turns[next].from-ended)
	}
	return true
}

// ends returns when the last answer of a session ended, those of its sub-agents included.
func (v *visit) ends() (last time.Duration) {
	for _, t := range v.turns {
		last = max(last, t.to)
		for _, a := range t.agents {
			last = max(last, a.ends())
		}
	}
	return last
}

// requests returns the number of requests of a session, those of its sub-agents included.
func (v *visit) requests() (n int) {
	for _, t := range v.turns {
		n++
		for _, a := range t.agents {
			n += a.requests()
		}
	}
	return n
}

// TrafficTurns returns the mean number of requests in a session of recorded traffic.
func TrafficTurns(ctx context.Context, path string) (float64, error) {
	w, err := openTraffic(ctx, path, 0, Calibration{})
	if err != nil {
		return 0, err
	}
	return w.asked.Turns(), nil
}

// describeVisits returns the workload of sessions as run.json has it.
func describeVisits(all []visit) (w rundir.Workload) {
	var first, later, output, turns spread
	var pauses time.Duration
	var count func(v *visit)
	count = func(v *visit) {
		for i, t := range v.turns {
			output.add(t.output)
			if i > 0 {
				later.add(t.prompt)
				pauses += t.pause
			}
			for k := range t.agents {
				first.add(t.agents[k].turns[0].prompt)
				count(&t.agents[k])
			}
		}
	}
	for i := range all {
		turns.add(all[i].requests())
		first.add(all[i].turns[0].prompt)
		count(&all[i])
	}
	w = rundir.Workload{PromptTokens: first.lengths(), OutputTokens: output.lengths()}
	if n := int(output.n) - len(all); n > 0 {
		w.Conversation = &rundir.Conversation{
			Turns: turns.lengths(), TurnTokens: later.lengths(), Pause: (pauses / time.Duration(n)).Round(time.Millisecond).Seconds(), RandomPauses: true,
		}
	}
	return w
}

// Describe returns the workload as run.json has it, with the lengths of first prompts.
func (w *Traffic) Describe() rundir.Workload {
	d := w.asked
	d.Dataset, d.Seed = filepath.Base(w.name), w.seed
	return d
}

// Notes returns what a reader of the run should know of the traffic.
func (w *Traffic) Notes() []note.Note { return w.notes }

// Stage returns a source of sessions for one stage, drawn at random. All stages share the beginnings of prompts.
func (w *Traffic) Stage(name string) load.Source {
	answers := stats.Rand(w.seed, "answers", name)
	return &visits{w, stats.Rand(w.seed, "workload", name), func(tokens int) string { return w.costs.reply(tokens, answers) }}
}

type visits struct {
	*Traffic
	rng    *rand.Rand
	invent func(tokens int) string
}

func (v *visits) Next() (load.Session, bool) {
	drawn, agents := v.draw(v.rng), 0
	return v.session(&drawn, &agents), true
}

// session makes the texts of a session. agents counts its sub-agents.
func (v *visits) session(drawn *visit, agents *int) load.Session {
	s := load.Session{Turns: make([]load.Turn, len(drawn.turns)), Invent: v.invent, Repeats: v.repeats(drawn.turns[0].prompt, drawn.shared)}
	for i, t := range drawn.turns {
		turn := load.Turn{PromptTokens: t.prompt, OutputTokens: t.output, Think: t.pause}
		if i == 0 {
			turn.User = v.text(t.prompt, drawn.shared, v.rng)
		} else {
			turn.User = v.costs.reply(t.prompt, v.rng)
		}
		for k := range t.agents {
			*agents++
			number := *agents
			one := v.session(&t.agents[k], agents)
			one.Agent = number
			turn.Agents = append(turn.Agents, one)
		}
		s.Turns[i] = turn
	}
	return s
}
