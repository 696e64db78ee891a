package slo

import (
	"llmsweep/client"
	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// wrongAnswers counts the graded answers of a stage that are not right. Answers to one question are alike: they are
// worth no more than there were questions. It is nil where nothing was graded.
func wrongAnswers(s *rundir.Stage) *rundir.Beyond {
	g := s.Graded
	if g == nil || g.Answers == 0 {
		return nil
	}
	b := &rundir.Beyond{Count: g.Answers - g.Right, Of: g.Answers,
		Neff: rundir.Exactly(float64(max(1, min(g.Answers, g.Items))))}
	Bound(b)
	return b
}

// Unknown returns why a stage does not tell the term's metric, so that it neither keeps nor breaks the term; zero where
// it does.
func (t Term) Unknown(s *rundir.Stage) (why note.Note) {
	switch d, _ := t.dist(s); {
	case s.Source != nil && d != nil:
	case t.Metric == Sessions && t.Counted(s) == nil:
		return noteNoSessions.New()
	case t.Metric == Accuracy && t.Counted(s) == nil:
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

// Packed reports whether the first of an answer's chunks holds more of its tokens than its speed may be off by: they
// came before the time begins in which the others are counted.
func Packed(perChunk, tokens float64) bool {
	return perChunk-1 > speedOff*(tokens-1)
}
