package grade

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"llmsweep/sweep/fidelity"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// margin is the share by which the accuracy may be lower under load than alone in a stage that is called the same.
const margin = 0.05

// Tally counts the outcomes of a stage, by question.
type Tally struct {
	Name              string
	Load              float64 // by which stages are put in order
	None, Cut, Failed int
	items             map[string]*score
}

// score counts the answers to one question.
type score struct{ right, answers int }

// share is the share of the answers that are right.
func (s *score) share() float64 { return float64(s.right) / float64(s.answers) }

// newTally returns an empty tally.
func newTally(name string) *Tally { return &Tally{Name: name, items: map[string]*score{}} }

// Add counts an outcome; failed is why there is none.
func (t *Tally) Add(item string, o TaskOutcome, failed string) {
	switch {
	case failed != "":
		t.Failed++
		return
	case o == Cut:
		t.Cut++
		return
	case o == None:
		t.None++
	}
	s := t.items[item]
	if s == nil {
		s = &score{}
		t.items[item] = s
	}
	s.answers++
	if o == Right {
		s.right++
	}
}

// merge adds another tally.
func (t *Tally) merge(other *Tally) {
	t.None, t.Cut, t.Failed = t.None+other.None, t.Cut+other.Cut, t.Failed+other.Failed
	for item, s := range other.items {
		mine := t.items[item]
		if mine == nil {
			mine = &score{}
			t.items[item] = mine
		}
		mine.right, mine.answers = mine.right+s.right, mine.answers+s.answers
	}
}

// sum returns the accuracy. The answers to one question count as one observation of their mean.
func (t *Tally) sum() rundir.Graded {
	g := rundir.Graded{None: t.None, Cut: t.Cut, Failed: t.Failed, Items: len(t.items)}
	for _, s := range t.items {
		g.Answers, g.Right = g.Answers+s.answers, g.Right+s.right
	}
	if g.Answers > 0 {
		share, n := float64(g.Right)/float64(g.Answers), float64(g.Items)
		low, high := stats.ShareBounds(share*n, n, fidelity.Level/2)
		g.Accuracy = rundir.Estimate{N: g.Answers, Mean: rundir.Exactly(share), Low: rundir.Exactly(low), High: rundir.Exactly(high)}
	}
	return g
}

// compared are answers that were compared with others.
type compared struct {
	rundir.Graded
	noise float64 // share of the questions that changed by chance: as many as changed in the rarer direction
}

// against compares the answers with others to the same questions.
func (t *Tally) against(reference *Tally) compared {
	g := compared{Graded: t.sum()}
	worse, better := []fidelity.Count{}, []fidelity.Count{}
	var sum, lost, gained float64
	for _, item := range slices.Sorted(maps.Keys(t.items)) { // in order, so that sums are the same each time
		s, r := t.items[item], reference.items[item]
		if r == nil {
			continue
		}
		g.Pairs++
		d := s.share() - r.share()
		sum += d
		switch {
		case d < 0:
			g.Lost++
			lost -= d
		case d > 0:
			g.Gained++
			gained += d
		}
		worse = append(worse, fidelity.Count{Null: r.answers - r.right, OfNull: r.answers, Load: s.answers - s.right, OfLoad: s.answers})
		better = append(better, fidelity.Count{Null: r.right, OfNull: r.answers, Load: s.right, OfLoad: s.answers})
	}
	if g.Pairs == 0 {
		return g
	}
	low, high := bounds(lost, gained, float64(g.Pairs))
	g.Difference = rundir.Estimate{N: g.Pairs, Mean: rundir.Exactly(sum / float64(g.Pairs)), Low: rundir.Exactly(low), High: rundir.Exactly(high)}
	g.P = rundir.Exactly(min(1, 2*min(fidelity.Test(worse), fidelity.Test(better))))
	g.noise = min(lost, gained) / float64(g.Pairs)
	return g
}

// bounds returns the 95 % interval of a difference of paired shares, by how many of the pairs were lost and gained: that of Bonett and Price (2012), which
// adds a pair to both, so that it has a width also where none differs.
func bounds(lost, gained, pairs float64) (low, high float64) {
	down, up := (lost+1)/(pairs+2), (gained+1)/(pairs+2)
	half := stats.Z95 * math.Sqrt((down+up-(up-down)*(up-down))/(pairs+2))
	return max(-1, up-down-half), min(1, up-down+half)
}

// judgement is what graded questions show of a run.
type judgement struct {
	Alone, Load rundir.Graded
	Stages      map[string]rundir.Graded
	Verdict     rundir.GradesVerdict
	Stage       string // the one with the lowest load that shows a difference
	Hypotheses  int
	Noise       float64 // share of the questions whose answers change by chance in each direction
}

// judge compares the stages with the answers got alone.
func judge(alone *Tally, stages []*Tally) *judgement {
	j := &judgement{Alone: alone.sum(), Stages: map[string]rundir.Graded{}}
	together := newTally("")
	stages = slices.Clone(stages)
	slices.SortStableFunc(stages, func(a, b *Tally) int { return cmp.Compare(a.Load, b.Load) })
	family := make([]compared, 0, len(stages)+1)
	for _, s := range stages {
		together.merge(s)
		family = append(family, s.against(alone))
	}
	if len(stages) != 1 {
		family = append(family, together.against(alone))
	}
	all := make([]*rundir.Graded, len(family))
	for i := range family {
		all[i] = &family[i].Graded
	}
	j.Hypotheses = decide(all)
	j.Load, j.Noise = family[len(family)-1].Graded, family[len(family)-1].noise
	j.Verdict = cmp.Or(j.Load.Verdict, rundir.GradesUndecided)
	for i, s := range stages {
		g := family[i].Graded
		j.Stages[s.Name] = g
		if differs(g.Verdict) && j.Stage == "" && (!differs(j.Verdict) || g.Verdict == j.Verdict) {
			j.Verdict, j.Stage = g.Verdict, s.Name
		}
	}
	return j
}

func differs(verdict rundir.GradesVerdict) bool {
	return verdict == rundir.GradesWorse || verdict == rundir.GradesBetter
}

// decide tests all of a family together, and writes verdicts. It returns how many hypotheses there were.
func decide(family []*rundir.Graded) int {
	var p, weights []float64
	var tested []*rundir.Graded
	for _, g := range family {
		if g.P.Known() {
			p, weights, tested = append(p, g.P.Value()), append(weights, 1), append(tested, g)
		}
	}
	rejected := stats.Holm(p, weights, fidelity.Level)
	for i, g := range tested {
		switch {
		case rejected[i] && g.Difference.Mean.Value() < 0:
			g.Verdict = rundir.GradesWorse
		case rejected[i]:
			g.Verdict = rundir.GradesBetter
		case g.Difference.Low.Value() > -margin:
			g.Verdict = rundir.GradesSame
		default:
			g.Verdict = rundir.GradesUndecided
		}
	}
	return len(tested)
}
