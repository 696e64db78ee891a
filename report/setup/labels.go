package setup

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/published"
	"llmsweep/sweep/rundir"
)

// Labels returns the labels of a run as those of documents are: model and engine are as the server reported them where
// no label tells, and the quantization is apart from the model's name.
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

// Engine is the serving engine, as labelled or as it said itself.
func Engine(run *rundir.Run) string { return Labels(run).Engine }

// Hardware is the GPUs, as far as they are known.
func Hardware(run *rundir.Run, l lang.Lang) string {
	gpu, n := run.Labels.GPU, run.Labels.GPUs
	if gpu == "" || n == 0 {
		return gpu
	}
	return sayHardware.In(l, n, gpu)
}

// Title names a configuration by its labels.
func Title(run *rundir.Run, l lang.Lang) string {
	var parts []string
	for _, p := range append([]string{findings.ModelName(run), Hardware(run, l), Engine(run)}, FreeLabels(run)...) {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, lang.Comma.In(l))
}

// FreeLabels returns the free labels of a run as they are written: "router=Rust".
func FreeLabels(run *rundir.Run) (all []string) {
	for _, key := range run.Labels.FreeKeys() {
		all = append(all, key+"="+run.Labels.Free[key])
	}
	return all
}

// AskedTokens returns the mean length of the answers that were asked for; absent where that is only a limit of them.
func AskedTokens(run *rundir.Run) rundir.Number {
	if w := &run.Workload; !w.Capped && w.OutputTokens.Mean > 0 {
		return rundir.Exactly(w.OutputTokens.Mean)
	}
	return rundir.Number{}
}

// Heading returns what the document calls a result that stands under a heading of its own, and nothing else tells.
func Heading(run *rundir.Run) string {
	if run.Source == nil {
		return ""
	}
	return published.HeadingName(run.Source)
}

// ThinkingText returns whether thinking was asked for or ruled out, in words; empty where neither was.
func ThinkingText(run *rundir.Run, l lang.Lang) string {
	switch think := run.Workload.Think; {
	case think == nil:
		return ""
	case *think:
		return wordThinking.In(l)
	}
	return wordNoThinking.In(l)
}

// parallelism are the options of launch commands that share a model out over GPUs.
var parallelism = regexp.MustCompile(`--(?:tensor-parallel-size|tp-size|tp|data-parallel-size|dp-size|dp)[ =]+\d+`)

// details return what tells results apart that are labelled alike.
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

// Description names a configuration by its labels and by all that tells results apart which are labelled alike.
func Description(run *rundir.Run, l lang.Lang) string {
	name := Title(run, l)
	for _, of := range details(l) {
		if v := of(run); v != "" {
			name = strings.TrimPrefix(name+lang.Comma.In(l)+v, lang.Comma.In(l))
		}
	}
	return name
}

// distinguish makes names unique. What is labelled alike is told apart by how it was started, by what it was asked for
// and by its heading, as far as these differ, else by where it was found.
func distinguish(all []Setup, l lang.Lang) {
	for _, of := range details(l) {
		values := map[string]map[string]bool{}
		for _, s := range all {
			if values[s.Name] == nil {
				values[s.Name] = map[string]bool{}
			}
			values[s.Name][of(s.Run)] = true
		}
		for i := range all {
			s := &all[i]
			if v := of(s.Run); v != "" && len(values[s.Name]) > 1 {
				s.Name = strings.TrimPrefix(s.Name+lang.Comma.In(l)+v, lang.Comma.In(l))
			}
		}
	}
	seen := map[string]int{}
	for _, s := range all {
		seen[s.Name]++
	}
	used := map[string]int{}
	for i := range all {
		s := &all[i]
		switch {
		case s.Name == "":
			s.Name = s.Origin()
		case seen[s.Name] > 1:
			s.Name += lang.InParens.In(l, s.Origin())
		}
		if used[s.Name]++; used[s.Name] > 1 {
			s.Name += " #" + strconv.Itoa(used[s.Name])
		}
		for j := range s.LeftOut {
			s.LeftOut[j].Setup = s.Name
		}
		for j := range s.Marked {
			s.Marked[j].Setup = s.Name
		}
	}
}
