package workload

import (
	"context"
	"math"
	mathrand "math/rand/v2"

	"llmsweep/client/note"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// Synthetic makes prompts of given lengths. Each differs from all others in its first word. Lengths and words follow
// from the seed and the stage; the first word does not, since the server may have cached an earlier run with the same
// seed.
type Synthetic struct {
	Prompt, Output rundir.Lengths
	Seed           uint64
	Costs          Calibration
	Numbering
}

// NewSynthetic returns a workload whose prompts no earlier run is likely to have sent.
func NewSynthetic(prompt, output rundir.Lengths, seed uint64, costs Calibration) *Synthetic {
	return &Synthetic{Prompt: prompt, Output: output, Seed: seed, Costs: costs.Usable(), Numbering: newNumbering(0)}
}

// Stage returns a source of sessions for one stage.
func (s *Synthetic) Stage(name string) load.Source {
	return &synthetic{s, stats.Rand(s.Seed, "workload", name)}
}

// Describe returns the workload as run.json has it.
func (s *Synthetic) Describe() rundir.Workload {
	return rundir.Workload{PromptTokens: s.Prompt, OutputTokens: s.Output, Seed: s.Seed}
}

type synthetic struct {
	*Synthetic
	rng *mathrand.Rand
}

func (s *synthetic) Next() (load.Session, bool) {
	tokens := Draw(s.Prompt, s.rng)
	user := s.Costs.Write(s.Opening(s.Place()), tokens, s.rng)
	turn := load.Turn{User: user, PromptTokens: tokens, OutputTokens: Draw(s.Output, s.rng)}
	return load.Session{Turns: []load.Turn{turn}}, true
}

// Sample returns a prompt of the given number of tokens, made like those of the stages and different from all of them.
func (s *Synthetic) Sample(tokens int) string {
	opening := s.Opening(s.Place())
	return s.Costs.Write(opening, tokens, stats.Rand(s.Seed, "sample", opening))
}

// samples is how many prompts Check has counted, and tolerance how far the mean of all prompts may be from the wanted
// length: 1 % of it.
const (
	samples   = 3
	tolerance = 0.01
)

// Check has the server count a few prompts of the wanted number of tokens and returns their mean length, 0 where it
// cannot count. A note says where the mean is off by more than 1 %, by more than a few random prompts vary (95 %). The
// error is that of ctx alone.
func (s *Synthetic) Check(ctx context.Context, count Counter, wanted int) (counted int, notes []note.Note, err error) {
	var texts []string
	for range samples {
		texts = append(texts, s.Sample(wanted))
	}
	counts, _, err := count(ctx, texts...)
	if ctx.Err() != nil {
		return 0, nil, context.Cause(ctx)
	}
	if err != nil {
		return 0, []note.Note{noteLengthUnknown.New(err)}, nil
	}
	var lengths []float64
	for _, n := range counts {
		lengths = append(lengths, float64(n))
	}
	mean := stats.Mean(lengths)
	byChance := stats.StudentQuantile(0.975, samples-1) * stats.Deviation(lengths) / math.Sqrt(samples)
	counted = int(math.Round(mean))
	if math.Abs(mean-float64(wanted)) > tolerance*float64(wanted)+byChance {
		notes = append(notes, noteLengthOff.New(wanted, counted))
	}
	return counted, notes, nil
}

// Repeated sends the same prompt again and again.
type Repeated struct {
	Text   string
	Output rundir.Lengths
	Seed   uint64
}

// Stage returns a source of sessions for one stage.
func (r Repeated) Stage(name string) load.Source {
	return &repeated{r, stats.Rand(r.Seed, "workload", name)}
}

// Describe returns the workload as run.json has it.
func (r Repeated) Describe() rundir.Workload {
	return rundir.Workload{Prompt: r.Text, OutputTokens: r.Output, Seed: r.Seed}
}

type repeated struct {
	Repeated
	rng *mathrand.Rand
}

func (r *repeated) Next() (load.Session, bool) {
	return load.Session{Turns: []load.Turn{{User: r.Text, OutputTokens: Draw(r.Output, r.rng)}}, Repeats: load.AllTokens},
		true
}
