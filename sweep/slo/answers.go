package slo

import "llmsweep/sweep/rundir"

// Answers returns what a stage tells of a limit on answers: those to canaries that differ, or those to graded questions that are not right. Answers to
// one canary or question are alike: they are worth no more than there were of these. It is nil where nothing was answered.
func (t Term) Answers(s *rundir.Stage) *rundir.Beyond {
	b := &rundir.Beyond{}
	different := 0
	switch a, g := s.Fidelity, s.Graded; {
	case t.Metric == Fidelity && a != nil:
		b.Count, b.Of, different = a.Differing(), a.Answers, a.Canaries
	case t.Metric == Accuracy && g != nil:
		b.Count, b.Of, different = g.Answers-g.Right, g.Answers, g.Items
	}
	if b.Of == 0 {
		return nil
	}
	b.Neff = rundir.Exactly(float64(max(1, min(b.Of, different))))
	low, high := Bounds(*b)
	b.Low, b.High = rundir.Exactly(low), rundir.Exactly(high)
	return b
}
