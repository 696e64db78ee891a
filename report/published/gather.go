package published

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"

	"llmsweep/sweep/rundir"
)

// Gather makes one run of the Benchmark Reports of documents that belong together, in the document of the first: those
// of one configuration that name one experiment. Where they name none, the files must be called alike apart from
// numbers, and the loads differ. Where an experiment is one load, as with vLLM's benchmark, those of one known stack at
// different loads are one run, too.
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
					doc.setJoined(all[at].run)
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
				doc.setJoined(to)
				continue
			}
			runs = append(runs, *run)
		}
		doc.Runs = runs
	}
}

// setJoined notes that a result of the document is a part of a run of another one.
func (d *Document) setJoined(run *rundir.Run) {
	if run.Source.File != d.Name {
		d.MergedInto = run.Source.File
	}
}

// reportGroup are Benchmark Reports that are made one run.
type reportGroup struct {
	run           *rundir.Run
	configuration string          // what was asked of what, by which harness
	experiment    string          // that the reports name; else what their files are called without numbers
	named         bool            // the reports name it
	stackKnown    bool            // the reports tell the model and its GPUs
	several       bool            // the experiment has several reports
	loads         map[string]bool // by the names of their stages
}

// digits are the numbers in the name of a file.
var digits = regexp.MustCompile(`\d+`)

func newReportGroup(run *rundir.Run) *reportGroup {
	source, loads := run.Source, map[string]bool{run.Stages[0].Name: true}
	g := &reportGroup{run: run, experiment: source.Labels[labelExperiment].Text, loads: loads}
	if g.named = g.experiment != ""; !g.named {
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

// sameExperiment reports whether g is of the experiment of o.
func (g *reportGroup) sameExperiment(o *reportGroup) bool {
	return g.configuration == o.configuration && g.experiment == o.experiment && g.named == o.named &&
		(g.named || !o.sharesLoad(g))
}

// sameStack reports whether g and o are experiments of one load each, on one known stack.
func (g *reportGroup) sameStack(o *reportGroup) bool {
	return g.configuration == o.configuration && g.stackKnown && !g.several && !o.several && g.named && o.named &&
		!o.sharesLoad(g)
}

// sharesLoad reports whether g has a load of o.
func (o *reportGroup) sharesLoad(g *reportGroup) bool {
	for load := range g.loads {
		if o.loads[load] {
			return true
		}
	}
	return false
}

// add adds the stages of g.
func (o *reportGroup) add(g *reportGroup) {
	o.several = o.several || o.experiment == g.experiment
	for load := range g.loads {
		o.loads[load] = true
	}
	addStages(o.run, g.run)
}

// finishGroup puts the stages in the order of their load, or, of this program, of their time, and tells repeats
// apart.
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
			if number[name]++; number[name] > 1 {
				s.Name = fmt.Sprintf("%s#%d", name, number[name])
			}
			s.Repeat = number[name]
		}
		run.Plan.Repeats = max(run.Plan.Repeats, s.Repeat)
	}
}

// isSweep reports whether stages are a sweep: arrivals at two rates.
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
