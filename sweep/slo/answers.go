package slo

import (
	"llmsweep/client"
	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

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
	Bound(b)
	return b
}

// Unknown returns why a stage does not tell the term's metric, so that it neither keeps nor breaks the term; zero where it does.
func (t Term) Unknown(s *rundir.Stage) (why note.Note) {
	switch d, _ := t.dist(s); {
	case s.Source != nil && d != nil:
	case t.Metric == Sessions && t.Counted(s) == nil:
		return noteNoSessions.New()
	case t.OfAnswers() && t.Counted(s) == nil:
		return noteNoAnswers.New()
	case t.Metric == TTFA && s.FirstAnswer.N == 0:
		return noteNoThinking.New()
	case t.Metric == Speed && (s.OutputTokens.N == 0 || s.TokenSource == client.SourceChunks):
		return noteNoTokens.New()
	case t.Metric == Speed && Packed(s.TokensPerChunk.Or(1), s.OutputTokens.Mean.Or(1)):
		return notePacked.New()
	case t.Metric == Stalls:
		if b := t.Counted(s); b == nil {
			return noteNoRecords.New()
		} else if b.Open == b.Of {
			return notePacked.New()
		}
	}
	return why
}

// Packed reports whether the first of an answer's chunks holds more of its tokens than its speed may be off by: they came before the time begins in
// which the others are counted.
func Packed(perChunk, tokens float64) bool {
	return perChunk-1 > speedOff*(tokens-1)
}
