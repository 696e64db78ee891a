package workload

import (
	mathrand "math/rand/v2"

	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/seed"
)

// Synthetic makes prompts of wanted lengths, each unlike all others from its first word. Lengths and words follow from
// the seed and the stage; the first word does not, since the server may remember an earlier run with the same seed.
type Synthetic struct {
	Prompt, Output rundir.Lengths
	Seed           uint64
	Costs          Calibration
	Numbering
}

// NewSynthetic returns a workload that begins somewhere no earlier run began.
func NewSynthetic(prompt, output rundir.Lengths, seed uint64, costs Calibration) *Synthetic {
	return &Synthetic{Prompt: prompt, Output: output, Seed: seed, Costs: costs.usable(), Numbering: newNumbering(0)}
}

// Stage is a source of tasks for one stage.
func (s *Synthetic) Stage(name string) load.Source {
	return &synthetic{s, seed.Rand(s.Seed, "workload", name)}
}

// Describe is the workload as run.json has it.
func (s *Synthetic) Describe() rundir.Workload {
	return rundir.Workload{PromptTokens: s.Prompt, OutputTokens: s.Output, Seed: s.Seed}
}

type synthetic struct {
	*Synthetic
	rng *mathrand.Rand
}

func (s *synthetic) Next() (load.Session, bool) {
	tokens := draw(s.Prompt, s.rng)
	user := s.Costs.write(s.opening(s.next()), tokens, s.rng)
	turn := load.Turn{User: user, PromptTokens: tokens, OutputTokens: draw(s.Output, s.rng)}
	return load.Session{Turns: []load.Turn{turn}}, true
}

// Sample is a prompt of the wanted number of tokens, as the stages send them, and takes its number like one of theirs.
func (s *Synthetic) Sample(tokens int) string {
	opening := s.opening(s.next())
	return s.Costs.write(opening, tokens, seed.Rand(s.Seed, "sample", opening))
}

// Repeated sends one given prompt over and over.
type Repeated struct {
	Text   string
	Output rundir.Lengths
	Seed   uint64
}

// Stage is a source of tasks for one stage.
func (r Repeated) Stage(name string) load.Source {
	return &repeated{r, seed.Rand(r.Seed, "workload", name)}
}

// Describe is the workload as run.json has it.
func (r Repeated) Describe() rundir.Workload {
	return rundir.Workload{Prompt: r.Text, OutputTokens: r.Output, Seed: r.Seed}
}

type repeated struct {
	Repeated
	rng *mathrand.Rand
}

func (r *repeated) Next() (load.Session, bool) {
	return load.Session{Turns: []load.Turn{{User: r.Text, OutputTokens: draw(r.Output, r.rng)}}}, true
}
