package setup

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/published"
	"llmsweep/sweep/rundir"
)

// Labels returns the labels of a run: model and engine as the server reported them where there is no label, and the
// quantization separate from the model's name, as in documents.
func Labels(run *rundir.Run) rundir.Labels {
	l := run.Labels
	l.Model, l.Engine = cmp.Or(l.Model, run.Target.Model), cmp.Or(l.Engine, run.Target.Engine)
	if model, quant := published.SplitQuant(l.Model); l.Quant == "" || strings.EqualFold(quant, l.Quant) {
		l.Model, l.Quant = model, cmp.Or(l.Quant, quant)
	}
	return l
}

// Model is the model's name without its quantization.
func Model(run *rundir.Run) string { return Labels(run).Model }

// Engine is the serving engine, as labelled or as reported.
func Engine(run *rundir.Run) string { return Labels(run).Engine }

// Hardware names the GPUs, as far as they are known.
func Hardware(run *rundir.Run, l lang.Lang) string {
	gpu, n := run.Labels.GPU, run.Labels.GPUs
	if gpu == "" || n == 0 {
		return gpu
	}
	return sayHardware.In(l, n, gpu)
}

// Title names a configuration by its labels.
func Title(run *rundir.Run, l lang.Lang) string {
	parts := []string{findings.ModelName(run), Hardware(run, l), Engine(run)}
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	for _, key := range run.Labels.FreeKeys() {
		parts = append(parts, key+"="+run.Labels.Free[key])
	}
	return strings.Join(parts, lang.Comma.In(l))
}

// AskedTokens returns the mean length of the answers that were asked for; absent where that is only a limit.
func AskedTokens(run *rundir.Run) rundir.Number {
	if w := &run.Workload; !w.Capped && w.OutputTokens.Mean > 0 {
		return rundir.Exactly(w.OutputTokens.Mean)
	}
	return rundir.Number{}
}

// Heading returns the heading of a result in its document, as [published.HeadingName] does; empty where there is none.
func Heading(run *rundir.Run) string {
	if run.Source == nil {
		return ""
	}
	return published.HeadingName(run.Source)
}

// ThinkingText returns whether thinking was asked for or ruled out, in words; empty where neither was.
func ThinkingText(run *rundir.Run, l lang.Lang) string {
	think := run.Workload.Think
	switch {
	case think == nil:
		return ""
	case *think:
		return wordThinking.In(l)
	}
	return wordNoThinking.In(l)
}

// parallelism matches the options of launch commands that share a model out over GPUs.
var parallelism = regexp.MustCompile(`--(?:tensor-parallel-size|tp-size|tp|data-parallel-size|dp-size|dp)[ =]+\d+`)

// details return what distinguishes results with the same labels.
func details(l lang.Lang) []func(*rundir.Run) string {
	return []func(*rundir.Run) string{
		func(run *rundir.Run) string {
			return strings.Join(parallelism.FindAllString(run.Target.Launch, -1), " ")
		},
		func(run *rundir.Run) string {
			if n := run.Workload.OutputTokens.Mean; n > 0 {
				return sayTokens.In(l, n)
			}
			return ""
		},
		func(run *rundir.Run) string { return ThinkingText(run, l) },
		Heading,
	}
}

// Description names a configuration by its labels and all further details.
func Description(run *rundir.Run, l lang.Lang) string {
	name := Title(run, l)
	for _, detail := range details(l) {
		if v := detail(run); v != "" {
			name = strings.TrimPrefix(name+lang.Comma.In(l)+v, lang.Comma.In(l))
		}
	}
	return name
}

// distinguish makes names unique, by the details that differ, else by where results were found.
func distinguish(all []Setup, l lang.Lang) {
	for _, detail := range details(l) {
		values := map[string]map[string]bool{}
		for _, s := range all {
			if values[s.Name] == nil {
				values[s.Name] = map[string]bool{}
			}
			values[s.Name][detail(s.Run)] = true
		}
		for i := range all {
			s := &all[i]
			if v := detail(s.Run); v != "" && len(values[s.Name]) > 1 {
				s.Name = strings.TrimPrefix(s.Name+lang.Comma.In(l)+v, lang.Comma.In(l))
			}
		}
	}
	count := map[string]int{}
	for _, s := range all {
		count[s.Name]++
	}
	used := map[string]int{}
	for i := range all {
		s := &all[i]
		switch {
		case s.Name == "":
			s.Name = s.Origin()
		case count[s.Name] > 1:
			s.Name += lang.InParens.In(l, s.Origin())
		}
		used[s.Name]++
		if n := used[s.Name]; n > 1 {
			s.Name += " #" + strconv.Itoa(n)
		}
		s.nameMarks(s.Name)
	}
}

func (s *Setup) nameMarks(name string) {
	for _, marks := range [][]RowMark{s.LeftOut, s.Marked} {
		for i := range marks {
			marks[i].Setup = name
		}
	}
}
