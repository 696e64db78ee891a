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
	var all []*gathered
	kept := make([][]*rundir.Run, len(docs))
	for i, doc := range docs {
		for j := range doc.Runs {
			run := &doc.Runs[j]
			if run.Source.Format == LLMD && len(run.Stages) == 1 {
				g := gatheredOf(run)
				if at := slices.IndexFunc(all, g.continues); at >= 0 {
					all[at].add(g)
					doc.joins(all[at].run)
					continue
				}
				all = append(all, g)
			}
			kept[i] = append(kept[i], run)
		}
	}
	joined := map[*rundir.Run]*rundir.Run{}
	for i, g := range all {
		at := slices.IndexFunc(all[:i], func(o *gathered) bool { return joined[o.run] == nil && g.extends(o) })
		if at >= 0 {
			all[at].add(g)
			joined[g.run] = all[at].run
		}
	}
	for _, g := range all {
		if len(g.run.Stages) > 1 {
			finishGathered(g.run)
		}
	}
	for i, doc := range docs {
		var runs []rundir.Run
		for _, run := range kept[i] {
			if to := joined[run]; to != nil {
				doc.joins(to)
				continue
			}
			runs = append(runs, *run)
		}
		doc.Runs = runs
	}
}

// joins notes that a result of the document is a part of a run of another one.
func (d *Document) joins(run *rundir.Run) {
	if run.Source.File != d.Name {
		d.Joined = run.Source.File
	}
}

// gathered are Benchmark Reports that are made one run.
type gathered struct {
	run           *rundir.Run
	configuration string          // what was asked of what, by which harness
	experiment    string          // that the reports name; else what their files are called without numbers
	named         bool            // the reports name it
	known         bool            // the reports tell the model and its GPUs
	several       bool            // the experiment has several reports
	loads         map[string]bool // by the names of their stages
}

// digits are the numbers in the name of a file.
var digits = regexp.MustCompile(`\d+`)

func gatheredOf(run *rundir.Run) *gathered {
	source, loads := run.Source, map[string]bool{run.Stages[0].Name: true}
	g := &gathered{run: run, experiment: source.Labels[labelExperiment].Text, loads: loads}
	if g.named = g.experiment != ""; !g.named {
		dir, name := filepath.Split(source.File)
		g.experiment = dir + digits.ReplaceAllString(name, "#")
	}
	stack := source.Labels[labelStack].Text
	g.known = stack != "" && run.Labels.Model != "" && run.Labels.GPUs > 0
	b, err := json.Marshal([]any{source.Tool, run.Target, run.Labels, run.Workload, stack})
	if err != nil { // numbers and strings alone
		b = []byte(run.Source.File)
	}
	g.configuration = string(b)
	return g
}

// continues reports whether g is of the experiment of o.
func (g *gathered) continues(o *gathered) bool {
	return g.configuration == o.configuration && g.experiment == o.experiment && g.named == o.named &&
		(g.named || !o.has(g))
}

// extends reports whether g and o are experiments of one load each, on one known stack.
func (g *gathered) extends(o *gathered) bool {
	return g.configuration == o.configuration && g.known && !g.several && !o.several && g.named && o.named && !o.has(g)
}

// has reports whether g has a load of o.
func (o *gathered) has(g *gathered) bool {
	for load := range g.loads {
		if o.loads[load] {
			return true
		}
	}
	return false
}

// add adds the stages of g.
func (o *gathered) add(g *gathered) {
	o.several = o.several || o.experiment == g.experiment
	for load := range g.loads {
		o.loads[load] = true
	}
	addRung(o.run, g.run)
}

// finishGathered puts the stages in the order of their load, or, of this program, of their time, and tells repeats
// apart.
func finishGathered(run *rundir.Run) {
	own := run.Source.Labels[labelWriter].Text != ""
	slices.SortStableFunc(run.Stages, func(a, b rundir.Stage) int {
		if own {
			return cmp.Compare(a.Started, b.Started)
		}
		return cmp.Compare(loadOf(&a), loadOf(&b))
	})
	sweep := !own && swept(run.Stages)
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
			ends := map[string]rundir.Role{"synchronous": rundir.Floor, "throughput": rundir.Ceiling}
			s.Role = cmp.Or(ends[s.Kind], rundir.Grid)
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

// swept reports whether stages are a sweep: arrivals at two rates.
func swept(stages []rundir.Stage) bool {
	rates := map[rundir.Number]bool{}
	for _, s := range stages {
		if s.Rate.Known() {
			rates[s.Rate] = true
		}
	}
	return len(rates) > 1
}

// loadOf orders loads: one at a time, numbers in flight, rates, and all at once.
func loadOf(s *rundir.Stage) float64 {
	switch {
	case s.Rate.Known():
		return 1e9 + s.Rate.Value()
	case s.MaxConcurrency > 0:
		return float64(s.MaxConcurrency)
	}
	return math.Inf(1)
}
