package experiment

import (
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
)

// grade has the answers of a stage graded.
func (x *Experiment) grade(s *Stage) {
	if x.config.Grader == nil {
		return
	}
	if s.Source == nil {
		s.Source = x.config.Sources(s.Name)
	}
	s.Source = x.config.Grader.Source(s.Name, s.Source)
}

// judgeAnswers writes how accurate the answers are so far.
func (x *Experiment) judgeAnswers() error {
	if x.config.Grader == nil {
		return nil
	}
	err := x.config.Log.AppendGrades(x.config.Grader.Judge(x.run))
	for i := range x.run.Stages {
		measure.GoodputJudge(&x.run.Stages[i], x.config.SLO)
	}
	return err
}

// recallAnswers takes over the graded answers of the first part of a run that goes on.
func (x *Experiment) recallAnswers(before *rundir.Run) error {
	if x.config.Grader == nil {
		return nil
	}
	return x.config.Grader.Recall(x.config.Log.Grades(), Keeps(before))
}
