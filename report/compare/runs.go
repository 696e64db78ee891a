package compare

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// SpreadFunc returns the known spread between runs of a configuration in a metric, of logarithms; one without degrees
// of freedom where it is unknown.
type SpreadFunc func(s *setup.Setup, key string) stats.Spread

// OfRuns compares several runs of one server with several of another: the unit is the run. A value is the geometric
// mean of the runs of its side (of shares the mean). Its interval is by Student's t and the spread between runs: that
// within both sides, pooled with the known one, and at least that within the runs. Without a spread, as with one run a
// side, there is no interval. A metric that is a bound in one run is left out.
func OfRuns(sides [2][]setup.Setup, anyWorkload bool, known SpreadFunc) (*Comparison, error) {
	all := slices.Concat(sides[0], sides[1])
	if len(sides[0]) == 0 || len(sides[1]) == 0 {
		return nil, errors.New("compare needs runs on both sides of --: llmsweep compare A1 A2 A3 -- B1 B2")
	}
	groups := groups(all, anyWorkload)
	if len(groups) > 1 {
		return nil, differentWorkloads{&all[groups[0].members[0]], &all[groups[1].members[0]]}
	}
	c := &Comparison{Schema: schema, Runs: [2]int{len(sides[0]), len(sides[1])},
		groups: []group{{run: groups[0].run, members: []int{0, 1}}}}
	if c.groups[0].run != nil {
		c.Workload = workload(c.groups[0].run, lang.English)
	}
	measured := [2][]Configuration{}
	for i, runs := range sides {
		side := Configuration{Name: fmt.Sprintf("%c (%d)", 'A'+i, len(runs)), Origin: runs[0].Origin(),
			Labels: runs[0].Run.Labels}
		for j := range runs {
			measured[i] = append(measured[i], Measure(&runs[j]))
		}
		c.Setups = append(c.Setups, side)
	}
	for j := range measured[1] {
		if a, b := &measured[0][0], &measured[1][j]; hitsDiffer(a, b) && !anyWorkload {
			return nil, differentHits{a, b}
		}
	}
	for _, key := range Keys() {
		c.poolMetric(key, measured, known(&sides[0][0], key))
	}
	if len(c.Changes) == 0 {
		return nil, errors.New("the runs have no metric in common that is more than a bound; closed loops are compared " +
			"without --: llmsweep compare A1 A2 B1 B2")
	}
	return c, nil
}

func (c *Comparison) poolMetric(key string, measured [2][]Configuration, known stats.Spread) {
	var values [2][]float64
	within, n := 0.0, 0.0
	first, _ := measured[0][0].Get(key)
	for i, runs := range measured {
		for j := range runs {
			f, ok := runs[j].Get(key)
			if !ok || f.Terms != first.Terms || !f.Value.Known() || f.Most.Known() || f.Open ||
				!isShare(key) && f.Value.Value() <= 0 {
				return
			}
			scale := 1.0
			if !isShare(key) {
				scale = f.Value.Value()
			}
			values[i] = append(values[i], toScale(key, f.Value.Value()))
			if !math.IsNaN(f.se) {
				within, n = within+f.se*f.se/scale/scale, n+1
			}
		}
	}
	spread := stats.PooledSpread(values[0], values[1], known)
	if n > 0 {
		spread.Deviation = max(spread.Deviation, math.Sqrt(within/n))
	}
	half := math.NaN() // of the difference
	if spread.DF > 0 {
		runs := math.Sqrt(1/float64(len(values[0])) + 1/float64(len(values[1])))
		half = stats.StudentQuantile(0.975, spread.DF) * spread.Deviation * runs
	}
	d := Difference{Setup: c.Setups[1].Name, From: c.Setups[0].Name, Key: key}
	c.Changes = append(c.Changes, d.within(stats.Mean(values[1])-stats.Mean(values[0]), half))
	for i, side := range values {
		mean := stats.Mean(side)
		f := Figure{Key: key, Value: fromScale(key, mean), Where: c.Setups[i].Origin, se: math.NaN()}
		if spread.DF > 0 {
			half := spread.Half(len(side), 0.05)
			f.Low, f.High = fromScale(key, mean-half), fromScale(key, mean+half)
		}
		c.Setups[i].Figures = append(c.Setups[i].Figures, f)
	}
}

// RunLabels returns the labels that describe a run, and not its configuration.
func RunLabels() []string { return []string{"commit", "build", "run", "date"} }

// ConfigurationName names what the runs of one configuration have in common.
func ConfigurationName(of *rundir.Run) lang.Text {
	run := *of
	run.Labels.Free = maps.Clone(run.Labels.Free)
	for _, key := range RunLabels() {
		delete(run.Labels.Free, key)
	}
	return lang.Both(func(l lang.Lang) string {
		return cmp.Or(setup.Title(&run, l), wordNoLabels.In(l)) + lang.Comma.In(l) + Workload(&run, l)
	})
}

// toScale returns a value as it is averaged: its logarithm, and a share, which may be 0, itself.
func toScale(key string, v float64) float64 {
	if isShare(key) {
		return v
	}
	return math.Log(v)
}

// fromScale is the inverse of toScale.
func fromScale(key string, v float64) rundir.Number {
	if isShare(key) {
		return rundir.Exactly(v)
	}
	return rundir.Exactly(math.Exp(v))
}
