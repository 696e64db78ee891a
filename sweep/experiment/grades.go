package experiment

import "llmsweep/sweep/measure"

func (x *Experiment) grade(s *Stage) {
	if x.config.Grader == nil {
		return
	}
	if s.Source == nil {
		s.Source = x.config.Sources(s.Name)
	}
	s.Source = x.config.Grader.Source(s.Name, s.Source)
}

func (x *Experiment) judgeAnswers() error {
	if x.config.Grader == nil {
		return nil
	}
	err := x.config.Log.AppendGrades(x.config.Grader.Judge(x.run))
	for i := range x.run.Stages {
		measure.JudgeGoodput(&x.run.Stages[i], x.config.SLO)
	}
	return err
}
