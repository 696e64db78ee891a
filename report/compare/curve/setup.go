// Package curve turns a run, measured here or read elsewhere, into what comparing and choosing need: the rows that may
// be relied on in order of their load, the plateau that they reach, and what lies between two of them. It never goes
// beyond the rows, never invents an interval, and leaves out what the audit calls impossible, saying so.
package curve

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"llmsweep/report"
	"llmsweep/report/audit"
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
	LeftOut []LeftOut
	Plateau Plateau
}

// Row is a stage that may be relied on.
type Row struct {
	Stage  *rundir.Stage
	Where  string  // the line or the directory that it can be traced to
	Served float64 // completed requests per second
	Top    float64 // the largest Served up to here: what has been shown to be served

	topOutput rundir.Number // the same of the output
}

// LeftOut is a row that must not be relied on.
type LeftOut struct {
	Setup string `json:"setup"`
	Row   string `json:"row"`
	Where string `json:"where"`
	Rule  string `json:"rule"` // of the audit; empty where the row itself says so
	Why   string `json:"why"`
}

// Load makes setups of runs. What the audit finds wrong in a row keeps that row out.
func Load(all []Input) []Setup {
	var subjects []audit.Subject
	for _, in := range all {
		subjects = append(subjects, audit.Subject{File: fileOf(in), Run: in.Run})
	}
	found := audit.Runs(subjects)
	setups := make([]Setup, len(all))
	for i, in := range all {
		s := &setups[i]
		s.Input, s.Name = in, title(in.Run)
		s.Rows, s.LeftOut = s.sort(found)
		s.Plateau = s.plateau()
	}
	distinguish(setups)
	return setups
}

// fileOf is what the audit knows a run's file by.
func fileOf(in Input) string {
	if in.Run.Source != nil {
		return in.Run.Source.File
	}
	return filepath.Join(in.Path, rundir.RunFile)
}

// sort keeps the rows that may be relied on, in the order of their load.
func (s *Setup) sort(found []audit.Finding) (rows []Row, out []LeftOut) {
	open := slices.ContainsFunc(s.Run.Stages, func(st rundir.Stage) bool { return st.Rate.Known() })
	for i := range s.Run.Stages {
		st := &s.Run.Stages[i]
		if !counts(st, open, s.Run.Source != nil) {
			continue
		}
		where := s.where(st)
		if rule, why := s.unfit(st, found); why != "" {
			out = append(out, LeftOut{Row: st.Name, Where: where, Rule: rule, Why: why})
			continue
		}
		rows = append(rows, Row{Stage: st, Where: where, Served: st.Rates.Completed.Value()})
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(load(a.Stage), load(b.Stage)) })
	for i := range rows {
		rows[i].Top, rows[i].topOutput = rows[i].Served, rows[i].Stage.TokensPerS.Output
		if i == 0 {
			continue
		}
		rows[i].Top = max(rows[i-1].Top, rows[i].Served)
		if before := rows[i-1].topOutput; before.Known() && !(rows[i].topOutput.Value() >= before.Value()) {
			rows[i].topOutput = before
		}
	}
	return rows, out
}

// counts reports whether a stage is a point of the curve. Where rates were offered, closed loops other than one request at a
// time are none: the ceiling of a published table is a burst, whose figures are those of its queue.
func counts(s *rundir.Stage, open, imported bool) bool {
	switch {
	case s.Rate.Known() || s.Kind == "synchronous" || s.Role == rundir.Floor:
		return true
	case open || imported && s.Role == rundir.Ceiling:
		return false
	}
	return s.MaxConcurrency > 0
}

// load orders rows: one at a time, then by the rate that was asked for, or by how many were kept in flight.
func load(s *rundir.Stage) float64 {
	switch {
	case s.Kind == "synchronous" || s.Role == rundir.Floor:
		return 0
	case s.Rate.Known():
		return s.Rate.Value()
	}
	return float64(s.MaxConcurrency)
}

// unfit says why a row must not be relied on, and which rule of the audit found out.
func (s *Setup) unfit(st *rundir.Stage, found []audit.Finding) (rule, why string) {
	for _, f := range found {
		if f.Grade == audit.Wrong && f.Rule != "" && s.speaksOf(f, st) {
			return f.Rule, f.Text
		}
	}
	switch c := st.Rates.Completed; {
	case !st.Invalid.IsZero():
		return "", report.Note(st.Invalid, report.English)
	case st.State != rundir.Complete:
		return "", "the stage was cut short"
	case !c.Known() || c.Value() <= 0:
		return "", "nothing was completed"
	}
	return "", ""
}

// speaksOf reports whether a finding is about that stage.
func (s *Setup) speaksOf(f audit.Finding, st *rundir.Stage) bool {
	if f.File != fileOf(s.Input) {
		return false
	}
	if st.Source != nil {
		return f.Line == st.Source.Line || inFigures(st, f.Line)
	}
	return f.Row == st.Name
}

func inFigures(st *rundir.Stage, line int) bool {
	for _, p := range st.Source.Printed {
		if p.Line == line {
			return true
		}
	}
	return false
}

// where is what a row can be traced to.
func (s *Setup) where(st *rundir.Stage) string {
	if st.Source != nil {
		return st.Source.File + ":" + strconv.Itoa(st.Source.Line)
	}
	return s.Path + " " + st.Name
}

// Origin is what the whole setup can be traced to.
func (s *Setup) Origin() string {
	if src := s.Run.Source; src != nil {
		return src.File + ":" + strconv.Itoa(src.Line)
	}
	return s.Path
}

// Model is the model's name without its quantization.
func Model(run *rundir.Run) string { return cmp.Or(run.Labels.Model, run.Target.Model) }

// Engine is the serving engine, as labelled or as it said itself.
func Engine(run *rundir.Run) string { return cmp.Or(run.Labels.Engine, run.Target.Engine) }

// Hardware is the GPUs, as far as they are known.
func Hardware(run *rundir.Run) string {
	l := run.Labels
	if l.GPU == "" || l.GPUs == 0 {
		return l.GPU
	}
	return fmt.Sprintf("%d x %s", l.GPUs, l.GPU)
}

// title names a configuration by its labels.
func title(run *rundir.Run) string {
	model, quant := Model(run), run.Labels.Quant
	if quant != "" && !strings.Contains(strings.ToLower(model), strings.ToLower(quant)) {
		model += "-" + quant
	}
	var parts []string
	for _, p := range []string{model, Hardware(run), Engine(run)} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, ", ")
}

// distinguish makes names unique: what is labelled alike, or not at all, is told apart by where it was found.
func distinguish(all []Setup) {
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
			s.Name += " (" + s.Origin() + ")"
		}
		if used[s.Name]++; used[s.Name] > 1 {
			s.Name += " #" + strconv.Itoa(used[s.Name])
		}
		for j := range s.LeftOut {
			s.LeftOut[j].Setup = s.Name
		}
	}
}
