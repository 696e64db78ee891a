package grade

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// answers returns a tally of questions, each right with a probability that may depend on it.
func answers(name string, rng *rand.Rand, questions, times int, right func(i int) float64) *Tally {
	t := newTally(name)
	for i := range questions {
		for range times {
			o := Wrong
			if rng.Float64() < right(i) {
				o = Right
			}
			t.Add(fmt.Sprint(i), o, "")
		}
	}
	return t
}

// easy is right for two of three questions, always.
func easy(i int) float64 { return float64(min(1, i%3)) }

func TestVerdicts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	alone := answers("", rng, 300, 1, easy)
	for name, c := range map[string]struct {
		stages  []*Tally
		verdict rundir.GradesVerdict
		stage   string
	}{
		"no stage":  {nil, rundir.GradesUndecided, ""},
		"same":      {[]*Tally{answers("a", rng, 300, 1, easy), answers("b", rng, 300, 2, easy)}, rundir.GradesSame, ""},
		"few":       {[]*Tally{answers("a", rng, 20, 1, easy)}, rundir.GradesUndecided, ""},
		"one worse": {[]*Tally{answers("a", rng, 300, 1, easy), answers("b", rng, 300, 1, func(i int) float64 { return 0.8 * easy(i) })}, rundir.GradesWorse, "b"},
		"better":    {[]*Tally{answers("a", rng, 300, 1, func(int) float64 { return 0.95 })}, rundir.GradesBetter, "a"},
	} {
		j := judge(alone, c.stages)
		if j.Verdict != c.verdict || j.Stage != c.stage {
			t.Errorf("%s: %s from %q on, want %s from %q", name, j.Verdict, j.Stage, c.verdict, c.stage)
		}
	}
}

// TestOnlyWhatEndedIsGraded counts failed and cut answers apart.
func TestOnlyWhatEndedIsGraded(t *testing.T) {
	alone, load := newTally(""), newTally("a")
	for i, o := range []TaskOutcome{Right, Right, Wrong, Right} {
		alone.Add(fmt.Sprint(i), o, "")
	}
	load.Add("0", Right, "")
	load.Add("1", Cut, "")
	load.Add("2", None, "")
	load.Add("3", "", "timeout")
	g := load.against(alone)
	if g.Answers != 2 || g.Right != 1 || g.None != 1 || g.Cut != 1 || g.Failed != 1 || g.Pairs != 2 || g.Difference.Mean.Value() != 0 {
		t.Errorf("%+v", g)
	}
}

// TestMcNemar compares the p-value with that of the binomial distribution: 1 gained and 8 lost of 100.
func TestMcNemar(t *testing.T) {
	alone, load := newTally(""), newTally("a")
	for i := range 100 {
		before, after := Right, Right
		switch {
		case i < 8:
			after = Wrong
		case i == 8:
			before = Wrong
		}
		alone.Add(fmt.Sprint(i), before, "")
		load.Add(fmt.Sprint(i), after, "")
	}
	g := load.against(alone)
	if want := 2 * 10.0 / 512; math.Abs(g.P.Value()-want) > 1e-9 || g.Lost != 8 || g.Gained != 1 {
		t.Errorf("p %v, want %g: %+v", g.P, want, g)
	}
}

// TestNeededQuestions draws answers of which a share is lost. The number that Needed tells shows it in 80 % of the draws; alike servers are
// called different in at most 5 %.
func TestNeededQuestions(t *testing.T) {
	draws := simtest.SampleSize(40, 1000)
	for _, c := range []struct{ difference, noise float64 }{{0.05, 0}, {0.05, 0.02}, {0.01, 0}} {
		n := needed(c.difference, c.noise, 1)
		rng := rand.New(rand.NewPCG(3, uint64(n)))
		found, wrong, covered := 0, 0, 0
		for range draws {
			for _, lost := range []float64{c.difference, 0} {
				alone, load := newTally(""), newTally("a")
				for i := range n {
					before, after := Right, Right
					switch u := rng.Float64(); {
					case u < lost+c.noise:
						after = Wrong
					case u < lost+2*c.noise:
						before = Wrong
					}
					alone.Add(fmt.Sprint(i), before, "")
					load.Add(fmt.Sprint(i), after, "")
				}
				j := judge(alone, []*Tally{load})
				if d := j.Load.Difference; lost > 0 {
					found += count(j.Verdict == rundir.GradesWorse)
					covered += count(d.Low.Value() <= -lost && -lost <= d.High.Value())
				} else {
					wrong += count(differs(j.Verdict))
				}
			}
		}
		simtest.Claim(t, fmt.Sprintf("graded questions: %g points lost, %g %% change by chance, %d questions as told: found, alike servers called different, interval holds",
			100*c.difference, 100*c.noise, n), "at least 80 %, at most 5 %, 95 %", "%d, %d, %d of %d", found, wrong, covered, draws)
		if f, size := float64(found)/float64(draws), float64(draws); f < 0.8-2*math.Sqrt(0.16/size) || float64(wrong) > 0.05*size+2*math.Sqrt(0.05*0.95*size) ||
			float64(covered) < 0.95*size-3*math.Sqrt(0.05*0.95*size) {
			t.Errorf("%g lost, %g noise: %d found, %d wrong, %d covered of %d", c.difference, c.noise, found, wrong, covered, draws)
		}
	}
}

func count(v bool) int {
	if v {
		return 1
	}
	return 0
}

func TestNeeded(t *testing.T) {
	if n := needed(0.01, 0, 1); n != 811 {
		t.Errorf("%d questions", n)
	}
	if a, b := needed(0.05, 0, 1), needed(0.05, 0.05, 1); a >= b {
		t.Errorf("%d without noise, %d with it", a, b)
	}
	if d := Detects(811, 0, 1); math.Abs(d-0.01) > 2e-4 {
		t.Errorf("811 questions show %g", d)
	}
	if needed(0, 0, 1) != 0 || needed(0.5, 0.4, 1) != 0 || !math.IsNaN(Detects(3, 0, 1)) {
		t.Error("what cannot be shown is shown")
	}
}
