// Brings results and twins to the workload that is wanted: what was measured with it stays, and in place of the rest stand the
// predictions of twins.

package choose

import (
	"errors"
	"slices"

	"llmsweep/report/compare"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/twin"
)

// WishFile is a twin and where it was read.
type WishFile struct {
	Path string
	Twin *twin.Twin
}

// Wish is what is wanted.
type Wish struct {
	Load *twin.PredictedLoad // nil: that of the results
	// Unchecked takes also twins that failed their held-out check.
	Unchecked bool
}

var (
	errNoLoad  = errors.New("a twin predicts any workload: name the wanted one with --prompt-tokens and --output-tokens, or with --trace")
	errDataset = errors.New("the results were measured with a data set: name the wanted lengths with --trace, or with --prompt-tokens and --output-tokens")
)

// WishedSetups returns what to choose among: the results of the wanted workload, and for each twin whose server has no such result, what it predicts.
// Results of other workloads that no twin stands for, and twins that cannot be used, come without rows and with the reason.
func WishedSetups(measured []setup.Setup, files []WishFile, w Wish) ([]setup.Setup, error) {
	if w.Load == nil && len(files) == 0 {
		return measured, nil
	}
	if w.Load == nil {
		load, err := loadOf(measured)
		if err != nil {
			return nil, err
		}
		w.Load = load
	}
	asked := &rundir.Run{Workload: workloadOf(w.Load)}
	var all []setup.Setup
	for _, s := range measured {
		if same(s.Run, asked) {
			all = append(all, s)
		}
	}
	kept := len(all)
	for _, s := range measured {
		stands := func(f WishFile) bool { return of(f.Twin, s.Run) }
		if !same(s.Run, asked) && !slices.ContainsFunc(files, stands) {
			run := *s.Run
			run.Workload, run.Stages = asked.Workload, nil
			s.Run, s.Rows, s.Plateau, s.Predicted = &run, nil, setup.Plateau{}, &setup.Prediction{Refused: refusedOther}
			all = append(all, s)
		}
	}
	for _, f := range files {
		if !slices.ContainsFunc(all[:kept], func(s setup.Setup) bool { return of(f.Twin, s.Run) }) {
			all = append(all, w.predict(f))
		}
	}
	return all, nil
}

// loadOf is the workload of the results.
func loadOf(measured []setup.Setup) (*twin.PredictedLoad, error) {
	if len(measured) == 0 {
		return nil, errNoLoad
	}
	l := measured[0].Run.Workload
	if l.Dataset != "" || l.PromptTokens.Mean == 0 || l.OutputTokens.Mean == 0 {
		return nil, errDataset
	}
	return &twin.PredictedLoad{Prompt: l.PromptTokens, Output: l.OutputTokens}, nil
}

// workloadOf is a load as a run has it.
func workloadOf(l *twin.PredictedLoad) rundir.Workload {
	w := rundir.Workload{PromptTokens: l.Prompt, OutputTokens: l.Output}
	if l.Trace != nil {
		w.Dataset = l.Trace.Name
	}
	return w
}

// same reports whether two runs have the same workload.
func same(a, b *rundir.Run) bool {
	return compare.Workload(a, lang.English) == compare.Workload(b, lang.English)
}

// of reports whether a twin is that of the server of a run: it was fitted to it, or has the same labels.
func of(t *twin.Twin, run *rundir.Run) bool {
	l := run.Labels
	return t.FittedTo(run.Started) ||
		l.GPU != "" && t.Labels.GPU == l.GPU && max(1, t.Labels.GPUs) == max(1, l.GPUs) && t.Labels.Engine == setup.Engine(run) && t.Labels.Quant == l.Quant && t.Labels.Model == setup.Model(run)
}

// predict makes a setup of a twin.
func (w Wish) predict(f WishFile) setup.Setup {
	p := &setup.Prediction{Twin: f.Path, Failed: !f.Twin.Passed()}
	if f.Twin.Check != nil {
		p.CheckError = &f.Twin.Check.Error
	}
	var run *rundir.Run
	if p.Failed && !w.Unchecked {
		p.Refused = refusedCheck
	} else {
		var a twin.Answer
		run, a = twin.Predict(f.Twin, *w.Load)
		if p.Refused, p.Extrapolated = a.Refused, a.Extrapolated; a.Rate > 0 {
			p.Low, p.High = a.Low/a.Rate, a.High/a.Rate
		}
	}
	if run == nil {
		run = &rundir.Run{State: rundir.Complete, Labels: twin.PredictedLabels(f.Twin), Target: rundir.Target{Model: f.Twin.Labels.Model}}
	}
	run.Workload = workloadOf(w.Load)
	s := setup.Load([]setup.Input{{Path: f.Path, Run: run}})[0]
	s.Name += " " + markPredicted
	s.Predicted = p
	return s
}
