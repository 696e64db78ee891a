// Package setup makes of a run what comparing and choosing need: the usable rows by load, the plateau that they reach,
// and metrics interpolated between two of them. It never extrapolates, invents no interval, and leaves out, with a
// reason, the rows that the audit calls impossible. Begin with [Load].
package setup

import (
	"path/filepath"
	"slices"
	"strconv"

	"llmsweep/report/audit"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// Input is a run and where it was found: a run directory, or a document that others published.
type Input struct {
	Path string
	Run  *rundir.Run
}

// Setup is one configuration with what it does at each load.
type Setup struct {
	Input
	Name    string // unique among those read together
	Rows    []Row  // those that may be relied on, by load from low to high
	LeftOut []RowMark
	Marked  []RowMark // rows that count, and that the audit doubts or remarks on
	Plateau Plateau
	// Runs are the sweeps that [Pool] made one setup of: the rows are those of the one in the middle, the limits theirs
	// together.
	Runs []Setup

	impossible []*rundir.Stage
	dropped    []*rundir.Stage // that the audit rules out
	show       func(path string) string
}

// Doubtful reports whether the audit doubts figures of the rows, left out or not.
func (s *Setup) Doubtful(rows ...*Row) bool {
	return slices.ContainsFunc(rows, func(r *Row) bool {
		switch {
		case r == nil:
			return false
		case r.Doubted || r.printed == nil:
			return r.Doubted
		}
		stages := append([]*rundir.Stage{r.printed}, r.Repeats...)
		return slices.ContainsFunc(s.Marked, func(o RowMark) bool {
			return o.Grade != audit.Remark &&
				slices.ContainsFunc(stages, func(st *rundir.Stage) bool { return s.Concerns(o, st) })
		})
	})
}

// Impossible reports whether the audit calls a stage of the setup impossible, whether or not it would be a point of the
// curve.
func (s *Setup) Impossible(st *rundir.Stage) bool { return slices.Contains(s.impossible, st) }

// Options are the ways to make setups.
type Options struct {
	Show          func(path string) string // how paths are shown; nil for [Names]
	Lang          lang.Lang                // of the names
	MergeReprints bool                     // a measurement that a document prints twice is one setup
}

// Load makes setups of runs. A figure that contradicts others is left out, and a row without a rate that it completed.
func Load(all []Input) []Setup { return LoadWith(all, Options{}) }

// Names returns how the paths of results are shown: an absolute one by its last part, since the rest belongs to the
// machine, or by its last two where results share the last; a relative one as it is.
func Names(all []Input) func(path string) string {
	paths, shared := map[string]string{}, map[string]bool{}
	for _, in := range all {
		for _, path := range []string{in.Path, fileOf(in)} {
			if abs, err := filepath.Abs(path); err == nil {
				path = abs
			}
			name := filepath.Base(path)
			if other, ok := paths[name]; ok && other != path {
				shared[name] = true
			}
			paths[name] = path
		}
	}
	return func(path string) string {
		if !filepath.IsAbs(path) {
			return path
		}
		dir, name := filepath.Split(filepath.Clean(path))
		if shared[name] {
			name = filepath.Join(filepath.Base(dir), name)
		}
		return filepath.ToSlash(name)
	}
}

// LoadWith is Load with options.
func LoadWith(all []Input, o Options) []Setup {
	if o.Show == nil {
		o.Show = Names(all)
	}
	all = wholeRunFigures(all)
	var subjects []audit.Subject
	for _, in := range all {
		subjects = append(subjects, audit.Subject{File: fileOf(in), Run: in.Run})
	}
	found := audit.Runs(subjects)
	audit.Mark(subjects)
	var again []Input
	if o.MergeReprints {
		all, again = splitReprints(all)
	}
	setups := make([]Setup, len(all))
	for i, in := range all {
		s := &setups[i]
		s.Input, s.Name, s.show = in, Title(in.Run, o.Lang), o.Show
		s.Rows, s.LeftOut, s.Marked = s.selectRows(found)
		for _, reprint := range again {
			if isReprint(in, reprint) {
				t := Setup{Input: reprint, show: o.Show}
				s.Marked = append(s.Marked, t.marks(&reprint.Run.Stages[0], nil)...)
				s.Marked[len(s.Marked)-1].Reprint = true
			}
		}
		for j := range in.Run.Stages {
			if st := &in.Run.Stages[j]; s.impossibility(st, found) != nil {
				s.impossible = append(s.impossible, st)
			}
		}
		s.Plateau = s.plateau()
	}
	distinguish(setups, o.Lang)
	return setups
}

// wholeRunFigures returns the inputs with the figures of whole runs in place of steady ones, where some closed loop has
// no others: results of engines' benchmarks, and of earlier versions. The two differ by up to a fifth on one server.
func wholeRunFigures(all []Input) []Input {
	if !slices.ContainsFunc(all, func(in Input) bool {
		return slices.ContainsFunc(in.Run.Stages, func(st rundir.Stage) bool {
			return st.Whole && !st.Rate.Known() && st.MaxConcurrency > 1
		})
	}) {
		return all
	}
	all = slices.Clone(all)
	for i, in := range all {
		run := *in.Run
		run.Stages = slices.Clone(run.Stages)
		for j := range run.Stages {
			run.Stages[j] = *run.Stages[j].OfWholeRun()
		}
		all[i].Run = &run
	}
	return all
}

// splitReprints splits off the inputs whose measurement another of them prints too.
func splitReprints(all []Input) (first, again []Input) {
	for _, in := range all {
		if slices.ContainsFunc(all, func(o Input) bool { return isReprint(o, in) }) {
			again = append(again, in)
		} else {
			first = append(first, in)
		}
	}
	return first, again
}

func isReprint(first, again Input) bool {
	line := audit.Reprint(again.Run)
	return line > 0 && first.Run.Source != nil && first.Run.Source.File == again.Run.Source.File &&
		first.Run.Source.Line == line
}

func fileOf(in Input) string {
	if in.Run.Source != nil {
		return in.Run.Source.File
	}
	return filepath.Join(in.Path, rundir.RunFile)
}

// OpenLoop reports whether a row of the setup was measured at an arrival rate.
func (s *Setup) OpenLoop() bool {
	return slices.ContainsFunc(s.Rows, func(r Row) bool { return r.Stage.Rate.Known() && !ConcurrencyBound(r.Stage) })
}

// Origin returns the file and line, or the directory, of the setup.
func (s *Setup) Origin() string {
	if src := s.Run.Source; src != nil {
		return s.show(src.File) + ":" + strconv.Itoa(src.Line)
	}
	return s.show(s.Path)
}
