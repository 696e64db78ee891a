package workload

import (
	"context"
	"math"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// Spec is which prompts are sent and how long answers are asked for: one text (Prompt), rows of a file (Dataset), a
// trace (Replay), conversations (Talking), prompts that begin alike (PrefixTokens, also with Talking), or else prompts
// of drawn lengths.
type Spec struct {
	PromptTokens, OutputTokens rundir.Lengths
	PromptSet, OutputSet       bool // these lengths stand in place of those of a file
	Seed                       uint64

	Prompt    string
	Dataset   string // its path
	Rows      int    // of the dataset, at most
	MultiTurn bool   // whole conversations of it
	Graded    bool   // answers to its rows that tell what is right are graded
	Replay    *Replay

	Talk    Talk
	Talking bool

	PrefixTokens, PrefixGroups int
	PrefixZipf                 bool // prefixes are as popular as Zipf's law says
}

// Replay is a trace and how it is replayed.
type Replay struct {
	File  string
	Speed float64 // 2 replays it twice as fast; 0 is 1
	Rate  float64 // mean requests per second, which sets the speed; 0 for Speed
	Limit int     // number of requests; 0 for all
}

// Opened is a workload, and what was found out while it was made.
type Opened struct {
	Workload
	Costs   Calibration // of made-up texts; zero where there are none
	Counted int         // tokens that the server counted for a prompt of the wanted length; 0 where it did not
	Notes   []note.Note
}

// SpecError is an error of a spec, or of a file that it names, and not of the server.
type SpecError struct{ error }

// Unwrap returns the error.
func (e *SpecError) Unwrap() error { return e.error }

// Open makes the workload of a spec. count counts the tokens of texts as the server does. costs is what made-up texts
// cost, where that is known; where it is nil, it is found out with count, and so is whether prompts have the length
// wanted.
func Open(ctx context.Context, s *Spec, count Counter, costs *Calibration) (o Opened, err error) {
	switch {
	case s.Prompt != "":
		o.Workload = Repeated{Text: s.Prompt, Output: s.OutputTokens, Seed: s.Seed}
		return o, nil
	case s.Dataset != "":
		return s.openDataset(ctx, count)
	case costs != nil:
		o.Costs = *costs
		return o, s.makeTexts(ctx, &o)
	}
	if o.Costs, o.Notes, err = calibrateOrGuess(ctx, count, int(s.PromptTokens.Mean)); err != nil {
		return o, err
	}
	if err := s.makeTexts(ctx, &o); err != nil {
		return o, err
	}
	plain, ok := o.Workload.(*Synthetic)
	if !ok || o.Costs == Guess {
		return o, nil
	}
	wanted := int(s.PromptTokens.Mean)
	if o.Costs.Word < 1 { // no tokenizer has less for a word: the server may count a part of a prompt
		counted, notes, err := plain.Check(ctx, count, wanted)
		o.Counted, o.Notes = counted, append(o.Notes, notes...)
		return o, err
	}
	o.Counted = o.Costs.Tokens(wanted)
	if off := math.Abs(float64(o.Counted - wanted)); off > tolerance*float64(wanted) && off > o.Costs.Word/2 {
		o.Notes = append(o.Notes, noteLengthOff.New(wanted, o.Counted))
	}
	return o, nil
}

// Texts returns the texts that [Open] has counted first; nil where it has none.
func (s *Spec) Texts() []string {
	if s.Prompt != "" || s.Dataset != "" {
		return nil
	}
	return []string{opening(0), allWords(sampleWords(int(s.PromptTokens.Mean)))}
}

func (s *Spec) openDataset(ctx context.Context, count Counter) (o Opened, err error) {
	d, err := openDataset(ctx, s.Dataset, datasetOptions{
		Rows: s.Rows, Seed: s.Seed, Count: count, Output: s.OutputTokens, ForceOutput: s.OutputSet,
		MultiTurn: s.MultiTurn, Think: s.Talk.Think, Graded: s.Graded,
	})
	if err != nil {
		return o, &SpecError{err}
	}
	o.Workload, o.Notes = d, d.Notes()
	if s.Dataset == BuiltIn {
		o.Notes = []note.Note{noteBuiltIn.New(int(s.OutputTokens.Mean))}
	}
	return o, nil
}

func (s *Spec) makeTexts(ctx context.Context, o *Opened) error {
	switch {
	case s.Replay != nil:
		return s.replay(ctx, o)
	case s.Talking:
		c := NewConversations(s.Talk, s.Seed, o.Costs)
		if s.PrefixTokens > 0 {
			if err := c.Share(s.PrefixTokens, s.PrefixGroups); err != nil {
				return &SpecError{err}
			}
		}
		o.Workload = c
	case s.PrefixTokens > 0:
		w, err := newPrefixed(s.PrefixTokens, s.PrefixGroups, s.PromptTokens, s.OutputTokens, s.Seed, o.Costs)
		if err != nil {
			return &SpecError{err}
		}
		w.Zipf = s.PrefixZipf
		o.Workload = w
	default:
		o.Workload = NewSynthetic(s.PromptTokens, s.OutputTokens, s.Seed, o.Costs)
	}
	return nil
}

func (s *Spec) replay(ctx context.Context, o *Opened) error {
	options := traceOptions{Replay: *s.Replay, Seed: s.Seed, Costs: o.Costs}
	if s.PromptSet {
		options.Prompt = s.PromptTokens
	}
	if s.OutputSet {
		options.Output = s.OutputTokens
	}
	trace, err := openTrace(ctx, options)
	if err != nil {
		return &SpecError{err}
	}
	o.Workload, o.Notes = trace, append(o.Notes, trace.Notes()...)
	return nil
}
