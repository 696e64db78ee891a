package findings

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// EnvironmentFact is one line about how a run was made.
type EnvironmentFact struct{ Name, Text string }

// EnvironmentFacts returns what is needed to repeat a run, as far as it is known.
func EnvironmentFacts(run *rundir.Run, l lang.Lang) []EnvironmentFact {
	date := ""
	if !run.Started.IsZero() { // a published result does not say
		date = run.Started.Format(time.RFC3339)
		if t := RunSeconds(run); t > 0 {
			date = lastedFor.In(l, date, lang.Clock(t))
		}
	}
	facts := []EnvironmentFact{
		{envTarget.In(l), joinWords(run.Target.URL, run.Target.API, run.Target.Model, run.Target.Engine,
			run.Target.Version)},
		{envLabels.In(l), labelsText(run.Labels)},
		{envWorkload.In(l), workloadText(run, l)},
		{envTool.In(l), toolText(run.Tool)},
		{envClient.In(l), clientText(run.Client, l)},
		{envRanks.In(l), ranksText(run, l)},
		{envSelftest.In(l), selftestText(run.Client.Selftest, l)},
		{envClock.In(l), TimestampsText(run.Client.Timestamps, l)},
		{envDate.In(l), date},
		{envCommand.In(l), Command(run)},
	}
	for i, r := range run.Target.Replicas {
		fact := EnvironmentFact{replicaName(i).In(l), joinWords(r.URL, r.Engine, r.Version)}
		facts = slices.Insert(facts, 1+i, fact)
	}
	return slices.DeleteFunc(facts, func(f EnvironmentFact) bool { return f.Text == "" })
}

// Environment returns what somebody needs to repeat a run, in five lines at most.
func Environment(run *rundir.Run, l lang.Lang) (lines []string) {
	names := []string{envTarget.In(l), envWorkload.In(l), envTool.In(l), envDate.In(l), envCommand.In(l)}
	for _, f := range EnvironmentFacts(run, l) {
		if slices.Contains(names, f.Name) {
			lines = append(lines, f.Name+lang.Colon.In(l)+f.Text)
		}
	}
	return lines
}

func labelsText(la rundir.Labels) string {
	var parts []string
	add := func(key, value string) {
		if value != "" && value != "0" {
			parts = append(parts, key+"="+value)
		}
	}
	add("model", la.Model)
	add("gpu", la.GPU)
	add("gpus", strconv.Itoa(la.GPUs))
	add("engine", la.Engine)
	add("quant", la.Quant)
	add("price", strconv.FormatFloat(la.Price, 'f', -1, 64))
	return strings.Join(parts, ", ")
}

func workloadText(run *rundir.Run, l lang.Lang) string {
	wl := run.Workload
	var parts []string
	if prompt := lengthText(wl.PromptTokens); prompt != "" {
		if wl.CountedPrompt > 0 {
			parts = append(parts, loadCounted.In(l, prompt, strconv.Itoa(wl.CountedPrompt)))
		} else {
			parts = append(parts, loadPrompt.In(l, prompt))
		}
	}
	if out := lengthText(wl.OutputTokens); out != "" {
		switch {
		case wl.Capped:
			parts = append(parts, loadCapped.In(l, out))
		case wl.Forced:
			parts = append(parts, loadForced.In(l, out))
		default:
			parts = append(parts, loadOutput.In(l, out))
		}
	}
	parts = append(parts, Growth(&wl, l)...)
	if wl.Dataset != "" {
		parts = append(parts, loadDataset.In(l, filepath.Base(wl.Dataset)))
	}
	if wl.Prompt != "" {
		parts = append(parts, loadFixed.In(l))
	}
	if run.Source == nil {
		parts = append(parts, loadSeed.In(l, strconv.FormatUint(wl.Seed, 10)))
	}
	return strings.Join(parts, lang.Comma.In(l))
}

// AnswerText returns the length of answers asked for, or "up to 512" where they end by themselves.
func AnswerText(w *rundir.Workload, l lang.Lang) string {
	text := lengthText(w.OutputTokens)
	if w.Capped && text != "" {
		return loadUpTo.In(l, text)
	}
	return text
}

// lengthText is 512, 512±64 (1-1024), or exp 512 (1-4096).
func lengthText(n rundir.Lengths) string {
	if n.Mean == 0 {
		return ""
	}
	short := lang.WholeOr(1)
	s := short(n.Mean, false)
	if n.Shape != "" {
		s = n.Shape + " " + s
	}
	if n.Std > 0 {
		s += "±" + short(n.Std, false)
	}
	if n.Max > 0 {
		s += " (" + strconv.Itoa(n.Min) + "-" + strconv.Itoa(n.Max) + ")"
	}
	return s
}

func toolText(t rundir.Tool) string {
	parts := []string{"llmsweep", t.Version, t.Go, t.OS}
	switch {
	case t.CPUs == 1:
		parts = append(parts, "1 CPU")
	case t.CPUs > 1:
		parts = append(parts, strconv.Itoa(t.CPUs), "CPUs")
	}
	return joinWords(parts...)
}

func clientText(c rundir.Client, l lang.Lang) string {
	if !c.LagP99.Known() || !c.CPU.Known() {
		return ""
	}
	return clientUse.In(l, lang.Time(c.LagP99), lang.Number(lang.Scale(c.CPU, 100), lang.Short))
}

func selftestText(s *rundir.Selftest, l lang.Lang) string {
	if s == nil {
		return ""
	}
	return SelftestVerdict(s, l)
}

// TimestampsText returns who noted the instants at which bytes arrived: the kernel or the program.
func TimestampsText(by string, l lang.Lang) string {
	switch by {
	case "kernel":
		return clockKernel.In(l)
	case "user":
		return clockUser.In(l)
	}
	return by
}

func joinWords(parts ...string) string {
	return strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
}

func ranksText(run *rundir.Run, l lang.Lang) string {
	if run.Cluster == nil {
		return ""
	}
	var all []string
	for _, r := range run.Cluster.Ranks {
		all = append(all, r.Host)
	}
	return sayRanks.In(l, strconv.Itoa(len(all)), strings.Join(all, lang.Comma.In(l)))
}
