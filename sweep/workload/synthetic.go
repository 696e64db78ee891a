package workload

import (
	"crypto/rand"
	"encoding/binary"
	mathrand "math/rand/v2"
	"strings"
	"sync/atomic"

	"llmsweep/sweep"
	"llmsweep/sweep/rundir"
)

// Synthetic makes prompts of wanted lengths, each unlike all others from its first word. Lengths and words follow from
// the seed and the stage; the first word does not, since the server may remember an earlier run with the same seed.
type Synthetic struct {
	Prompt, Output rundir.Lengths
	Seed           uint64
	Costs          Calibration

	start, count uint64
}

// NewSynthetic returns a workload that begins somewhere no earlier run began.
func NewSynthetic(prompt, output rundir.Lengths, seed uint64, costs Calibration) *Synthetic {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return &Synthetic{Prompt: prompt, Output: output, Seed: seed, Costs: costs, start: binary.LittleEndian.Uint64(b[:])}
}

// Stage is a source of tasks for one stage.
func (s *Synthetic) Stage(name string) sweep.Source {
	return &synthetic{s, sweep.NewRand(s.Seed, "workload", name)}
}

type synthetic struct {
	*Synthetic
	rng *mathrand.Rand
}

// stride scatters successive openings over their span; it shares no factor with it.
const stride = 618_033_989

func (s *synthetic) Next() (sweep.Task, bool) {
	n := atomic.AddUint64(&s.count, 1)
	tokens := draw(s.Prompt, s.rng)
	size, fill := s.Costs.fit(tokens)
	text := make([]string, size)
	for i := range text {
		text[i] = words[s.rng.IntN(len(words))]
	}
	user := compose(opening(s.start%openingSpan+n*stride%openingSpan), text, strings.Repeat(s.Costs.Filler, fill))
	turn := sweep.Turn{User: user, PromptTokens: tokens, OutputTokens: draw(s.Output, s.rng)}
	return sweep.Task{Turns: []sweep.Turn{turn}}, true
}

// Repeated sends one given prompt over and over.
type Repeated struct {
	Text   string
	Output rundir.Lengths
	Seed   uint64
}

// Stage is a source of tasks for one stage.
func (r Repeated) Stage(name string) sweep.Source {
	return &repeated{r, sweep.NewRand(r.Seed, "workload", name)}
}

type repeated struct {
	Repeated
	rng *mathrand.Rand
}

func (r *repeated) Next() (sweep.Task, bool) {
	return sweep.Task{Turns: []sweep.Turn{{User: r.Text, OutputTokens: draw(r.Output, r.rng)}}}, true
}

// Sample is a prompt of the wanted number of tokens, as the stages send them.
func (s *Synthetic) Sample(tokens int) string {
	one := *s
	one.Prompt, one.count = rundir.Lengths{Mean: float64(tokens)}, openingSpan-1
	task, _ := (&synthetic{&one, sweep.NewRand(s.Seed, "sample", "")}).Next()
	return task.Turns[0].User
}
