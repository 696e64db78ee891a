package report

import (
	"strconv"
	"strings"
	"time"

	"llmsweep/sweep/rundir"
)

// fact is one line about how a run was made.
type fact struct{ name, text string }

// environment is what somebody needs to repeat a run, as far as it is known.
func environment(run *rundir.Run, l Lang) []fact {
	date := ""
	if !run.Started.IsZero() { // a published result does not say
		date = run.Started.Format(time.RFC3339)
		if t := lasted(run); t > 0 {
			date = lastedFor.in(l, date, clock(t))
		}
	}
	facts := []fact{
		{envTarget.in(l), spaced(run.Target.URL, run.Target.API, run.Target.Model, run.Target.Engine, run.Target.Version)},
		{envLabels.in(l), labels(run.Labels)},
		{envWorkload.in(l), workload(run, l)},
		{envTool.in(l), tool(run.Tool)},
		{envClient.in(l), client(run.Client, l)},
		{envSelftest.in(l), selftested(run.Client.Selftest, l)},
		{envClock.in(l), timestamps(run.Client.Timestamps, l)},
		{envDate.in(l), date},
	}
	known := facts[:0]
	for _, f := range facts {
		if f.text != "" {
			known = append(known, f)
		}
	}
	return known
}

func spaced(parts ...string) string {
	return strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
}

func labels(la rundir.Labels) string {
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

// workload is what was asked of the server.
func workload(run *rundir.Run, l Lang) string {
	wl := run.Workload
	var parts []string
	if prompt := lengthText(wl.PromptTokens); prompt != "" {
		if wl.CountedPrompt > 0 {
			parts = append(parts, loadCounted.in(l, prompt, strconv.Itoa(wl.CountedPrompt)))
		} else {
			parts = append(parts, loadPrompt.in(l, prompt))
		}
	}
	if out := lengthText(wl.OutputTokens); out != "" {
		if wl.Forced {
			parts = append(parts, loadForced.in(l, out))
		} else {
			parts = append(parts, loadOutput.in(l, out))
		}
	}
	if wl.Dataset != "" {
		parts = append(parts, loadDataset.in(l, wl.Dataset))
	}
	if wl.Prompt != "" {
		parts = append(parts, loadFixed.in(l))
	}
	if run.Source == nil {
		parts = append(parts, loadSeed.in(l, strconv.FormatUint(wl.Seed, 10)))
	}
	return strings.Join(parts, comma.in(l))
}

// lengthText is a distribution of lengths: 512, or 512±64 (1-1024).
func lengthText(n rundir.Lengths) string {
	if n.Mean == 0 {
		return ""
	}
	s := plain(n.Mean)
	if n.Std > 0 {
		s += "±" + plain(n.Std)
	}
	if n.Max > 0 {
		s += " (" + strconv.Itoa(n.Min) + "-" + strconv.Itoa(n.Max) + ")"
	}
	return s
}

// plain is a number as short as it can be written without an exponent.
func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func tool(t rundir.Tool) string {
	parts := []string{"llmsweep", t.Version, t.Go, t.OS}
	if t.CPUs > 0 {
		parts = append(parts, strconv.Itoa(t.CPUs), "CPUs")
	}
	return spaced(parts...)
}

func client(c rundir.Client, l Lang) string {
	if !c.LagP99.Known() || !c.CPU.Known() {
		return ""
	}
	return clientFit.in(l, durationText(c.LagP99), number(scaled(c.CPU, 100), short))
}

// selftested is what the client was shown to do before the run.
func selftested(s *rundir.Selftest, l Lang) string {
	if s == nil {
		return ""
	}
	return SelftestVerdict(s, l)
}

func timestamps(by string, l Lang) string {
	switch by {
	case "kernel":
		return clockKernel.in(l)
	case "user":
		return clockUser.in(l)
	}
	return by
}
