package compare

import (
	"slices"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
)

// The reasons of a conclusion that are no notes of a run.
const (
	reasonOneRun     = "one-run-a-side"
	reasonNoInterval = "no-interval"
	reasonSteep      = "rows-apart"
	reasonBound      = "lower-bound"
	reasonNoMetric   = "no-metric-in-common"
	reasonBlocks     = "too-few-blocks"
	reasonClient     = "client-was-the-limit"
)

// Conclusions returns for each configuration but the baselines how it differs in the first of [Keys] that both have.
func (c *Comparison) Conclusions(setups []setup.Setup) []rundir.Conclusion {
	var all []rundir.Conclusion
	for _, g := range c.groups {
		for _, i := range g.members[1:] {
			one := c.conclusion(g.members[0], i)
			if c.Runs == [2]int{} {
				one.NextCommand = nextCommand(setups[g.members[0]].Run, setups[i].Run, one.MayClaim)
			}
			all = append(all, one)
		}
	}
	return all
}

func (c *Comparison) conclusion(from, to int) rundir.Conclusion {
	one := rundir.Conclusion{Schema: rundir.VerdictSchema, Subject: c.Setups[to].Name, Against: c.Setups[from].Name}
	for _, key := range Keys() {
		i := slices.IndexFunc(c.Changes, func(ch Change) bool {
			return ch.Setup == one.Subject && ch.From == one.Against && ch.Key == key
		})
		if i >= 0 {
			c.conclude(&one, &c.Changes[i])
			return one
		}
	}
	one.Verdict, one.MayClaim, one.Because = rundir.DecisionUndecided, rundir.SupportsNothing, []string{reasonNoMetric}
	one.Claim = sayNothingCommon.In(lang.English, one.Subject, one.Against)
	return one
}

func (c *Comparison) conclude(one *rundir.Conclusion, ch *Change) {
	name, _ := MetricFormat(ch.Key)
	one.Metric, one.Value = ch.Key, ch.Ratio
	one.Claim = sayAgainst.In(lang.English, one.Subject, one.Against, name.In(lang.English)+" "+ch.String())
	switch {
	case ch.Bound:
		one.Verdict, one.MayClaim, one.Because = rundir.DecisionUndecided, rundir.SupportsValue, []string{reasonBound}
	case ch.Shown == nil && ch.steep:
		one.Verdict, one.MayClaim, one.Because = rundir.DecisionUndecided, rundir.SupportsValue, []string{reasonSteep}
	case ch.Shown == nil:
		one.Verdict, one.MayClaim, one.Because = rundir.DecisionUndecided, rundir.SupportsValue, []string{reasonNoInterval}
	case !*ch.Shown:
		one.Verdict, one.MayClaim = rundir.DecisionNoDifference, rundir.SupportsNoDifference
		one.Low, one.High = ch.Low, ch.High
		one.Claim = sayAgainst.In(lang.English, one.Subject, one.Against, sayNoneOf.In(lang.English, name.In(lang.English)))
	default:
		one.Verdict, one.MayClaim = rundir.DecisionDiffers, rundir.SupportsDifference
		one.Low, one.High = ch.Low, ch.High
	}
	// what runs of one configuration differ by is not known
	if c.Runs == [2]int{} && one.MayClaim == rundir.SupportsDifference {
		one.MayClaim, one.Because = rundir.SupportsDifferenceOfRuns, []string{reasonOneRun}
	}
}

// nextCommand returns the command that tells whether a difference is that of the configurations: a comparison in turns
// where each has a server of its own, else the second run once more, for llmsweep compare A B -- C. It is empty where
// one was not measured by this program, or nothing is open.
func nextCommand(a, b *rundir.Run, known rundir.Evidence) string {
	switch {
	case a.Source != nil || b.Source != nil || known == rundir.SupportsNoDifference:
		return ""
	case a.Target.URL != b.Target.URL:
		return findings.CommandLine([]string{"llmsweep", "compare", "--live", a.Target.URL, b.Target.URL})
	}
	return findings.RepeatCommand(b, "", "")
}

// Conclusions returns the conclusion on B, in a list as [Comparison.Conclusions] does.
func (v *PairComparison) Conclusions() []rundir.Conclusion {
	one := rundir.Conclusion{Schema: rundir.VerdictSchema, Subject: "B", Against: "A",
		Claim: v.conclusion(lang.English)[0], Cost: v.cost}
	r := v.decidingRow()
	switch {
	case v.State == rundir.Failed:
		one.Verdict, one.MayClaim, one.Because = rundir.DecisionFailed, rundir.SupportsNothing, []string{v.Failure.Code}
		one.Claim = findings.Note(v.Failure, lang.English)
		return []rundir.Conclusion{one}
	case r == nil:
		one.Verdict, one.MayClaim, one.Because = rundir.DecisionUndecided, rundir.SupportsNothing, []string{reasonBlocks}
	default:
		one.Metric, one.Value, one.Low, one.High = r.Key, r.Ratio, r.Low, r.High
		one.Verdict, one.MayClaim = rundir.DecisionNoDifference, rundir.SupportsNoDifference
		if r.Shown {
			one.Verdict, one.MayClaim = rundir.DecisionDiffers, rundir.SupportsDifference
		}
	}
	if len(v.invalid) > 0 {
		one.Because = append(one.Because, reasonClient)
	}
	if v.State == rundir.Interrupted {
		one.Because = append(one.Because, string(v.State))
	}
	return []rundir.Conclusion{one}
}

// ApplyGates returns conclusions with the verdict on the gates, which is that of the exit code, and the gates that
// failed or cannot be judged among the reasons.
func ApplyGates(all []rundir.Conclusion, result GateInput, gates []Gate) []rundir.Conclusion {
	if len(gates) == 0 {
		return all
	}
	verdict, because := rundir.DecisionMet, []string(nil)
	for _, g := range gates {
		failed, unjudged := Judge(result, []Gate{g})
		switch {
		case len(failed) > 0:
			verdict, because = rundir.DecisionMissed, append(because, g.String())
		case len(unjudged) > 0:
			because = append(because, g.String())
			if verdict == rundir.DecisionMet {
				verdict = rundir.DecisionUndecided
			}
		}
	}
	for i := range all {
		all[i].Verdict, all[i].Because = verdict, slices.Concat(all[i].Because, because)
	}
	return all
}
