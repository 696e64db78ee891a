package setup

import (
	"slices"
	"strings"
	"sync"

	"llmsweep/client/note"
	"llmsweep/report/audit"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/published"
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

// words are those of all reasons to leave a row out.
var words = sync.OnceValue(func() lang.Words { return lang.Join(findings.Words(), audit.Words()) })

// marks returns what the audit doubts in a stage that is used, and remarks on it.
func (s *Setup) marks(st *rundir.Stage, found []audit.Finding) []RowMark {
	var all []RowMark
	add := func(rule string, grade audit.Grade, n note.Note, figures []string) {
		all = append(
			all,
			RowMark{Row: rowName(st), Where: s.Where(st), Rule: rule, Why: words().Say(n, lang.English), Grade: grade,
				Figures: len(figures) > 0, note: n, figures: figures},
		)
	}
	for _, d := range st.Doubts {
		add(d.Rule, audit.Grade(d.Grade), d.Note, printedFigures(st, d.Figures))
	}
	if st.Source != nil {
		return all
	}
	for _, f := range found {
		if f.Grade != audit.Impossible && f.Rule != "" && s.isAbout(f, st) {
			add(f.Rule, f.Grade, f.Note(), nil)
		}
	}
	return all
}

// printedFigures returns those of the figures of a doubt that the row has. A doubted rate is used: only the order of
// rows rests on it.
func printedFigures(st *rundir.Stage, figures []string) []string {
	return slices.DeleteFunc(slices.Clone(figures), func(key string) bool {
		if key == "rate" || st.Source == nil || len(st.Source.Printed) == 0 {
			return key == "rate"
		}
		for has := range st.Source.Printed {
			if has == key || strings.HasPrefix(has, key+".") {
				return false
			}
		}
		return true
	})
}

// impossibility returns why the audit rules a stage out; nil where it does not. A stage that was read elsewhere is used
// but for the figures that are doubted, unless it is not known what the stage completed.
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

// rejection returns why a row must not be used, and the rule of the audit that found it; the zero note where it may be
// used.
func (s *Setup) rejection(st *rundir.Stage, found []audit.Finding) (rule string, grade audit.Grade, why note.Note) {
	if d := s.impossibility(st, found); d != nil {
		return d.Rule, audit.Grade(d.Grade), d.Note
	}
	switch c := st.Rates.Completed; {
	case st.Role == rundir.WarmUp:
		return "", "", noteWarmUp.New()
	case !st.Invalid.IsZero():
		return "", "", st.Invalid
	case st.Hits != nil && st.Hits.Contaminated.Known():
		return "", "", measure.Contaminated.New(st.Hits.Contaminated.Value(), st.Hits.Reported.Value(), st.Hits.Ideal.Value())
	case st.State != rundir.Complete:
		return "", "", noteCutShort.New()
	case !c.Known() || c.Value() <= 0:
		return "", "", noteNoneDone.New()
	}
	return "", "", note.Note{}
}

// isAbout reports whether a finding is about that stage.
func (s *Setup) isAbout(f audit.Finding, st *rundir.Stage) bool {
	file := fileOf(s.Input)
	if st.Source != nil && st.Source.Format == published.LLMD { // a file for each row
		file = st.Source.File
	}
	if f.File != file {
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
