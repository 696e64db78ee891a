package setup

import (
	"slices"
	"strings"
	"sync"

	"llmsweep/client/note"
	"llmsweep/report/audit"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
)

// RowMark says why a row is left out, or what the audit says of one that is used.
type RowMark struct {
	Setup string `json:"setup"`
	Row   string `json:"row"`
	Where string `json:"where"`
	Rule  string `json:"rule"` // of the audit; empty where the row itself says so
	Why   string `json:"why"`  // in English
	// Grade is that of the audit; empty where the row itself says so.
	Grade audit.Grade `json:"grade,omitempty"`
	// Reprint reports whether the row is of a table that prints that of the setup again.
	Reprint bool `json:"reprint,omitempty"`
	// Figures reports whether figures of the row are left out for it; the rest is used.
	Figures bool `json:"figures,omitempty"`

	note    note.Note
	figures []string // the keys of those that the row has
}

// LimitedByClient reports whether some rows are left out since the client was too slow.
func LimitedByClient(rows []RowMark) bool {
	return slices.ContainsFunc(rows, func(o RowMark) bool { return measure.ByClient(o.note) })
}

// Doubted reports whether the audit doubts the row, and does not only remark on it.
func (o *RowMark) Doubted() bool { return o.Grade == audit.Doubtful }

// Concerns reports whether o is about that stage of the setup.
func (s *Setup) Concerns(o RowMark, st *rundir.Stage) bool {
	return o.Where == s.Where(st) && o.Row == rowName(st)
}

// Reason returns why the row was left out.
func (o *RowMark) Reason(l lang.Lang) string { return words().Say(o.note, l) }

// UnusedFigures names the figures of the row that are left out.
func (o *RowMark) UnusedFigures(l lang.Lang) string {
	var names []string
	for _, key := range o.figures {
		if name := lang.Metric(key, l); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, lang.ListComma.In(l))
}

// Why a row is left out that the audit finds no fault with.
var (
	noteCutShort = note.Kind{Code: "row.cut-short"}
	noteNoneDone = note.Kind{Code: "row.nothing-completed"}
	noteWarmUp   = note.Kind{Code: "row.warm-up"}
)

var words = sync.OnceValue(func() lang.Words { return lang.Join(findings.Words(), audit.Words()) })

// mark returns the mark of a stage for a doubt; figures are those that are left out for it.
func (s *Setup) mark(st *rundir.Stage, d *rundir.Doubt, figures []string) RowMark {
	return RowMark{
		Row: rowName(st), Where: s.Where(st), Rule: d.Rule, Why: words().Say(d.Note, lang.English),
		Grade: audit.Grade(d.Grade), Figures: len(figures) > 0, note: d.Note, figures: figures,
	}
}

// marks returns what the audit doubts in a stage that is used, and remarks on it.
func (s *Setup) marks(st *rundir.Stage, found []audit.Finding) []RowMark {
	var all []RowMark
	for i := range st.Doubts {
		d := &st.Doubts[i]
		all = append(all, s.mark(st, d, printedFigures(st, d.Figures)))
	}
	if st.Source != nil {
		return all
	}
	for _, f := range found {
		if f.Grade != audit.Impossible && f.Rule != "" && s.isAbout(f, st) {
			all = append(all, s.mark(st, &rundir.Doubt{Rule: f.Rule, Grade: string(f.Grade), Note: f.Note()}, nil))
		}
	}
	return all
}

// printedFigures returns those of the figures of a doubt that the row has. A doubted rate is used: only the order of
// rows rests on it.
func printedFigures(st *rundir.Stage, figures []string) []string {
	return slices.DeleteFunc(slices.Clone(figures), func(key string) bool {
		if key == "rate" {
			return true
		}
		if st.Source == nil || len(st.Source.Printed) == 0 {
			return false
		}
		for printed := range st.Source.Printed {
			if printed == key || strings.HasPrefix(printed, key+".") {
				return false
			}
		}
		return true
	})
}

// impossibility returns why the audit rules a stage out; nil where it does not. A stage of a document is used without
// the figures that are doubted, unless what it completed is one of them.
func (s *Setup) impossibility(st *rundir.Stage, found []audit.Finding) *rundir.Doubt {
	if st.Source != nil {
		return audit.RejectingDoubt(st)
	}
	for i := range found {
		if f := &found[i]; f.Grade == audit.Impossible && f.Rule != "" && s.isAbout(*f, st) {
			return &rundir.Doubt{Rule: f.Rule, Grade: string(f.Grade), Note: f.Note()}
		}
	}
	return nil
}

// rejection returns why a row must not be used, with the rule of the audit where that found it; nil where it may.
func (s *Setup) rejection(st *rundir.Stage, found []audit.Finding) *rundir.Doubt {
	if d := s.impossibility(st, found); d != nil {
		return d
	}
	completed := st.Rates.Completed
	switch {
	case st.Role == rundir.WarmUp:
		return &rundir.Doubt{Note: noteWarmUp.New()}
	case !st.Invalid.IsZero():
		return &rundir.Doubt{Note: st.Invalid}
	case st.Hits != nil && st.Hits.Contaminated.Known():
		h := st.Hits
		return &rundir.Doubt{Note: measure.Contaminated.New(h.Contaminated.Value(), h.Reported.Value(), h.Ideal.Value())}
	case st.State != rundir.Complete:
		return &rundir.Doubt{Note: noteCutShort.New()}
	case !completed.Known() || completed.Value() <= 0:
		return &rundir.Doubt{Note: noteNoneDone.New()}
	}
	return nil
}

func (s *Setup) isAbout(f audit.Finding, st *rundir.Stage) bool {
	if f.File != fileOf(s.Input) {
		return false
	}
	if st.Source == nil {
		return f.Row == st.Name
	}
	for _, p := range st.Source.Printed {
		if p.Line == f.Line {
			return true
		}
	}
	return f.Line == st.Source.Line
}
