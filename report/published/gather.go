package published

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"

	"llmsweep/sweep/rundir"
)

// Gather makes one run of the Benchmark Reports that belong together, in the document of the first: those of one
// configuration and experiment, or, where an experiment is one load, those of one known stack at different loads. Where
// they name no experiment, as with vLLM's benchmark, the files must be called alike apart from numbers.
func Gather(docs ...*Document) {
	var all []*reportGroup
	kept := make([][]*rundir.Run, len(docs))
	for i, doc := range docs {
		for j := range doc.Runs {
			run := &doc.Runs[j]
			if run.Source.Format == LLMD && len(run.Stages) == 1 {
				g := newReportGroup(run)
				if at := slices.IndexFunc(all, g.sameExperiment); at >= 0 {
					all[at].add(g)
					doc.setMergedInto(all[at].run)
					continue
				}
				all = append(all, g)
			}
			kept[i] = append(kept[i], run)
		}
	}
	joined := map[*rundir.Run]*rundir.Run{}
	for i, g := range all {
		at := slices.IndexFunc(all[:i], func(o *reportGroup) bool { return joined[o.run] == nil && g.sameStack(o) })
		if at >= 0 {
			all[at].add(g)
			joined[g.run] = all[at].run
		}
	}
	for _, g := range all {
		if len(g.run.Stages) > 1 {
			finishGroup(g.run)
		}
	}
	for i, doc := range docs {
		var runs []rundir.Run
		for _, run := range kept[i] {
			if to := joined[run]; to != nil {
				doc.setMergedInto(to)
				continue
			}
			runs = append(runs, *run)
		}
		doc.Runs = runs
	}
}

func (d *Document) setMergedInto(run *rundir.Run) {
	if run.Source.File != d.Name {
		d.MergedInto = run.Source.File
	}
}

type reportGroup struct {
	run           *rundir.Run
	configuration string          // what was asked of what, by which harness
	experiment    string          // that the reports name; else what their files are called without numbers
	hasName       bool            // the reports name the experiment
	stackKnown    bool            // the reports tell the model and its GPUs
	severalLoads  bool            // the experiment has several reports
	loads         map[string]bool // by the names of their stages
}

var digits = regexp.MustCompile(`\d+`)

func newReportGroup(run *rundir.Run) *reportGroup {
	source, loads := run.Source, map[string]bool{run.Stages[0].Name: true}
	g := &reportGroup{run: run, experiment: source.Labels[labelExperiment].Text, loads: loads}
	g.hasName = g.experiment != ""
	if !g.hasName {
		dir, name := filepath.Split(source.File)
		g.experiment = dir + digits.ReplaceAllString(name, "#")
	}
	stack := source.Labels[labelStack].Text
	g.stackKnown = stack != "" && run.Labels.Model != "" && run.Labels.GPUs > 0
	b, err := json.Marshal([]any{source.Tool, run.Target, run.Labels, run.Workload, stack})
	if err != nil { // numbers and strings alone
		b = []byte(run.Source.File)
	}
	g.configuration = string(b)
	return g
}

// Reports of an experiment without a name belong together only where their loads differ.
func (g *reportGroup) sameExperiment(o *reportGroup) bool {
	return g.configuration == o.configuration && g.experiment == o.experiment && g.hasName == o.hasName &&
		(g.hasName || !g.sharesLoad(o))
}

// sameStack reports whether g and o are experiments of one load each, on one known stack.
func (g *reportGroup) sameStack(o *reportGroup) bool {
	return g.configuration == o.configuration && g.stackKnown && !g.severalLoads && !o.severalLoads &&
		g.hasName && o.hasName && !g.sharesLoad(o)
}

func (g *reportGroup) sharesLoad(o *reportGroup) bool {
	for load := range o.loads {
		if g.loads[load] {
			return true
		}
	}
	return false
}

func (g *reportGroup) add(o *reportGroup) {
	g.severalLoads = g.severalLoads || g.experiment == o.experiment
	maps.Copy(g.loads, o.loads)
	addStages(g.run, o.run)
}

// finishGroup sorts the stages by their load, or those that llmsweep measured by their time, and numbers repeats.
func finishGroup(run *rundir.Run) {
	own := run.Source.Labels[labelWriter].Text != ""
	slices.SortStableFunc(run.Stages, func(a, b rundir.Stage) int {
		if own {
			return cmp.Compare(a.Started, b.Started)
		}
		return cmp.Compare(loadOrder(&a), loadOrder(&b))
	})
	sweep := !own && isSweep(run.Stages)
	if sweep {
		run.Plan.Kind = rundir.KindSweep
	}
	total, number := map[string]int{}, map[string]int{}
	for _, s := range run.Stages {
		total[s.Name]++
	}
	for i := range run.Stages {
		s := &run.Stages[i]
		if sweep {
			s.Role = cmp.Or(rundir.RoleOf(s.Kind), rundir.Grid)
		}
		if name := s.Name; total[name] > 1 {
			number[name]++
			s.Repeat = number[name]
			if s.Repeat > 1 {
				s.Name = fmt.Sprintf("%s#%d", name, s.Repeat)
			}
		}
		run.Plan.Repeats = max(run.Plan.Repeats, s.Repeat)
	}
}

// isSweep reports whether there are arrivals at two rates.
func isSweep(stages []rundir.Stage) bool {
	rates := map[rundir.Number]bool{}
	for _, s := range stages {
		if s.Rate.Known() {
			rates[s.Rate] = true
		}
	}
	return len(rates) > 1
}

// loadOrder orders loads: one at a time, numbers in flight, rates, and all at once.
func loadOrder(s *rundir.Stage) float64 {
	switch {
	case s.Rate.Known():
		return 1e9 + s.Rate.Value()
	case s.MaxConcurrency > 0:
		return float64(s.MaxConcurrency)
	}
	return math.Inf(1)
}
