// Package setup makes of a run what comparing and choosing need: the usable rows by load, the plateau that they reach,
// and metrics interpolated between two of them. It never extrapolates, invents no interval, and leaves out, with a
// reason, the rows that the audit calls impossible.
package setup

import (
	"cmp"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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
	// Runs are all sweeps of the configuration, where several are one setup: the rows are those of the one in the
	// middle. Its limits are theirs together.
	Runs []Setup

	impossible []*rundir.Stage
	dropped    []*rundir.Stage // that the audit rules out
	show       func(path string) string
}

// Row is a stage that may be relied on.
type Row struct {
	Stage  *rundir.Stage
	Where  string  // the line or the directory that it can be traced to
	Served float64 // completed requests per second; of repeats the least
	Top    float64 // the largest Served up to here: what has been shown to be served

	// Doubted reports whether figures of the stage were left out, because they contradict others.
	Doubted bool
	// Repeats are the measurements of which Stage has the worst of each figure; empty where there was one.
	Repeats []*rundir.Stage

	topOutput rundir.Number // the same of the output
	printed   *rundir.Stage // with all figures, also those that are doubted
}

// RowMark is a row that must not be relied on.
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

// Doubtful reports whether a number that rests on rows rests on figures that the audit doubts, or misses some that it
// does.
func (s *Setup) Doubtful(rows ...*Row) bool {
	return slices.ContainsFunc(rows, func(r *Row) bool {
		if r == nil {
			return false
		}
		doubts := func(o RowMark) bool {
			return o.Grade != audit.Remark &&
				(s.Concerns(o, r.printed) || slices.ContainsFunc(r.Repeats, func(st *rundir.Stage) bool { return s.Concerns(o, st) }))
		}
		return r.Doubted || r.printed != nil && slices.ContainsFunc(s.Marked, doubts)
	})
}

// Includes reports whether the row was made of a stage of the run.
func (r *Row) Includes(st *rundir.Stage) bool {
	return r.printed == st || slices.Contains(r.Repeats, st)
}

// Trusted returns a stage of the setup without the figures that contradict others.
func (s *Setup) Trusted(st *rundir.Stage) *rundir.Stage { return audit.DropDoubted(st) }

// Impossible reports whether the audit calls a stage of the setup impossible, whether or not it would be a point of the
// curve.
func (s *Setup) Impossible(st *rundir.Stage) bool { return slices.Contains(s.impossible, st) }

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

// Options are the ways to make setups.
type Options struct {
	Show          func(path string) string // how paths are shown; nil for [Names]
	Lang          lang.Lang                // of the names
	MergeReprints bool                     // a measurement that a document prints twice is one setup
}

// Load makes setups of runs. A figure that contradicts others is left out, and a row of which it is not known what it
// completed.
func Load(all []Input) []Setup { return LoadWith(all, Options{}) }

// Names returns how the paths of results are shown: one from the root by its name, since the rest is of the machine on
// which it was read and not of the result. Where two have one name, it stands behind that of the directory. Others are
// returned as they are.
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
		for _, twin := range again {
			if isReprint(in, twin) {
				t := Setup{Input: twin, show: o.Show}
				s.Marked = append(s.Marked, t.marks(&twin.Run.Stages[0], nil)...)
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

// wholeRunFigures returns the inputs with the figures of whole runs in place of steady ones, where some closed loop has no
// others: results of engines' benchmarks, and of earlier versions. The two differ by up to a fifth on one server.
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

// splitReprints returns the inputs without the measurements that others of them print, too, and those.
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

// isReprint reports whether again prints the measurement of first once more.
func isReprint(first, again Input) bool {
	line := audit.Reprint(again.Run)
	return line > 0 && first.Run.Source != nil && first.Run.Source.File == again.Run.Source.File &&
		first.Run.Source.Line == line
}

// fileOf returns the name of a run's file in the audit.
func fileOf(in Input) string {
	if in.Run.Source != nil {
		return in.Run.Source.File
	}
	return filepath.Join(in.Path, rundir.RunFile)
}

// selectRows keeps the rows that may be relied on, in the order of their load.
func (s *Setup) selectRows(found []audit.Finding) (rows []Row, out, marked []RowMark) {
	open := slices.ContainsFunc(s.Run.Stages, func(st rundir.Stage) bool { return st.Rate.Known() })
	for i := range s.Run.Stages {
		st := &s.Run.Stages[i]
		if !isCurvePoint(st, open, s.Run.Source != nil) {
			continue
		}
		where := s.Where(st)
		if rule, grade, why := s.rejection(st, found); !why.IsZero() {
			if grade != "" {
				s.dropped = append(s.dropped, st)
			}
			out = append(
				out,
				RowMark{Row: rowName(st), Where: where, Rule: rule, Why: words().Say(why, lang.English), Grade: grade, note: why},
			)
			continue
		}
		marked = append(marked, s.marks(st, found)...)
		trusted := audit.DropDoubted(st)
		rows = append(
			rows,
			Row{Stage: trusted, Where: where, Served: trusted.Rates.Completed.Value(), Doubted: trusted != st, printed: st},
		)
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(load(a.Stage), load(b.Stage)) })
	if s.Run.Source != nil {
		rows = poolRepeats(rows)
	}
	for i := range rows {
		rows[i].Top, rows[i].topOutput = rows[i].Served, rows[i].Stage.TokensPerS.Output
		if i == 0 {
			if open && aheadOfArrivals(rows) {
				rows[0].Top, rows[0].topOutput = 0, rundir.Number{}
			}
			continue
		}
		rows[i].Top = max(rows[i-1].Top, rows[i].Served)
		switch before := rows[i-1].topOutput; {
		case !before.Known() || rows[i].topOutput.Value() >= before.Value():
		case rows[i].topOutput.IsZero(): // its answers are taken to be as long
			rows[i].topOutput = rundir.Exactly(before.Value() * rows[i].Top / rows[i-1].Top)
		default:
			rows[i].topOutput = before
		}
	}
	return rows, out, marked
}

// aheadOfArrivals reports whether one request at a time completes more than the lowest arrival rate asks for. Then it
// is where the rows begin, and shows nothing of which arrivals are served: those come at random times, and not one
// after the other.
func aheadOfArrivals(rows []Row) bool {
	return len(rows) > 1 && load(rows[0].Stage) == 0 && rows[1].Stage.Rate.Known() && rows[0].Served > rows[1].Served
}

// poolRepeats makes one row of the repeats of a load, which is judged by the worst of them. Repeats that were measured here
// stay rows of their own, because they have intervals.
func poolRepeats(rows []Row) []Row {
	var all []Row
	for _, r := range rows {
		last := len(all) - 1
		if last < 0 || r.Stage.Repeat == 0 || all[last].Stage.Repeat == 0 || all[last].Stage.Rate != r.Stage.Rate ||
			all[last].Stage.MaxConcurrency != r.Stage.MaxConcurrency {
			all = append(all, r)
			continue
		}
		p := &all[last]
		p.Repeats = append(p.Measurements(), r.Stage)
		p.Where, p.Doubted = joinPlaces(p.Where, r.Where), p.Doubted || r.Doubted
	}
	for i := range all {
		if r := &all[i]; len(r.Repeats) > 0 {
			r.Stage = worstFigures(r.Repeats)
			r.Served = r.Stage.Rates.Completed.Value()
		}
	}
	return all
}

// Measurements are the repeats of the row, or its only stage.
func (r *Row) Measurements() []*rundir.Stage {
	if len(r.Repeats) > 0 {
		return r.Repeats
	}
	return []*rundir.Stage{r.Stage}
}

// fewEnded is the share of its requests below which those of a stage that ended tell nothing of the others.
const fewEnded = 0.1

// representative reports whether the figures of the row are those of its load: it was measured in a window, and enough of its
// requests ended. Nothing is interpolated to a row where not.
func (r *Row) representative() bool {
	n := r.Stage.Requests
	ended := n.OK + n.Error
	return (r.Stage.Source != nil || r.Stage.Window > 0) && float64(ended) >= fewEnded*float64(max(n.Due, n.Sent))
}

// worstFigures is a stage with the lowest rates and the longest times of several, and the counts of the one of which the
// largest share failed. A time that one of them lacks is known as a lower bound, a rate that one lacks not at all.
func worstFigures(repeats []*rundir.Stage) *rundir.Stage {
	failed := func(r *rundir.Stage) float64 {
		return float64(r.Requests.Error) / float64(max(1, r.Requests.OK+r.Requests.Error))
	}
	s := *slices.MaxFunc(repeats, func(a, b *rundir.Stage) int { return cmp.Compare(failed(a), failed(b)) })
	slowest := func(of func(*rundir.Stage) rundir.Number) rundir.Number {
		most := rundir.Number{}
		for _, r := range repeats {
			most = rundir.Max(most, of(r))
		}
		if slices.ContainsFunc(repeats, func(r *rundir.Stage) bool { return of(r).IsZero() }) {
			return rundir.Over(most.Value())
		}
		return most
	}
	times := func(of func(*rundir.Stage) *rundir.Dist) (d rundir.Dist) {
		for _, r := range repeats {
			d.Unsupported = append(d.Unsupported, of(r).Unsupported...)
		}
		for i, f := range d.Numbers() {
			*f.Number = slowest(func(r *rundir.Stage) rundir.Number { return *of(r).Numbers()[i].Number })
		}
		return d
	}
	least := func(of func(*rundir.Stage) rundir.Number) rundir.Number {
		low, _ := extremes(repeats, of)
		return low
	}
	s.Rates = rundir.Rates{Completed: least(completed)}
	s.TokensPerS = rundir.TokenRates{Output: least(output)}
	s.Latency = times(func(r *rundir.Stage) *rundir.Dist { return &r.Latency })
	s.TTFT = times(func(r *rundir.Stage) *rundir.Dist { return &r.TTFT })
	s.ITL = times(func(r *rundir.Stage) *rundir.Dist { return &r.ITL })
	s.TPOT = times(func(r *rundir.Stage) *rundir.Dist { return &r.TPOT })
	s.InterToken = slowest(func(r *rundir.Stage) rundir.Number { return r.InterToken })
	return &s
}

// CompletedRange returns the lowest and the highest rate that several stages completed.
func CompletedRange(stages []*rundir.Stage) (low, high float64) {
	a, b := extremes(stages, completed)
	return a.Value(), b.Value()
}

func completed(s *rundir.Stage) rundir.Number { return s.Rates.Completed }

func output(s *rundir.Stage) rundir.Number { return s.TokensPerS.Output }

// extremes are the lowest and the highest of a figure of several stages; absent where one lacks it.
func extremes(stages []*rundir.Stage, of func(*rundir.Stage) rundir.Number) (low, high rundir.Number) {
	for _, s := range stages {
		v := of(s)
		if !v.Known() {
			return rundir.Number{}, rundir.Number{}
		}
		if low = rundir.Exactly(min(low.Or(v.Value()), v.Value())); v.Value() > high.Or(0) {
			high = v
		}
	}
	return low, high
}

// OpenLoop reports whether a row of the setup was measured at an arrival rate.
func (s *Setup) OpenLoop() bool {
	return slices.ContainsFunc(s.Rows, func(r Row) bool { return r.Stage.Rate.Known() && !ConcurrencyBound(r.Stage) })
}

// isCurvePoint reports whether a stage is a point of the curve. Where rates were offered, closed loops other than one request
// at a time are none: the ceiling of a published table is a burst, whose metrics are those of its queue.
func isCurvePoint(s *rundir.Stage, open, imported bool) bool {
	switch {
	case s.Rate.Known() || s.Kind == "synchronous" || s.Role == rundir.Floor:
		return true
	case open || imported && s.Role == rundir.Ceiling:
		return false
	}
	return s.MaxConcurrency > 0
}

// load orders rows: one at a time, then by the rate that was offered, or by how many were kept in flight.
func load(s *rundir.Stage) float64 {
	switch {
	case s.Kind == "synchronous" || s.Role == rundir.Floor:
		return 0
	case s.Rate.Known():
		if rate, ok := audit.LikelyRate(s); ok {
			return rate
		}
		if offered := findings.Offered(s); offered.Known() {
			return offered.Value()
		}
		return s.Rate.Value()
	}
	return float64(s.MaxConcurrency)
}

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

// printedFigures returns those of the figures of a doubt that the row has. A doubted rate is used: only the order of rows
// rests on it.
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

// impossibility returns why the audit rules a stage out; nil where it does not. A stage that was read elsewhere is used but
// for the figures that are doubted, unless nobody knows what it completed.
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

// Name returns what the row is called where it was printed, else the name of its stage.
func (r *Row) Name() string { return rowName(r.Stage) }

// rowName returns what a row is called where it was printed, else the name of its stage.
func rowName(st *rundir.Stage) string {
	if st.Source != nil && st.Source.Heading != "" {
		return st.Source.Heading
	}
	return lang.Row(st.Name)
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

// Where returns the file and line, or the directory, of a row.
func (s *Setup) Where(st *rundir.Stage) string {
	if st.Source != nil {
		return s.show(st.Source.File) + ":" + strconv.Itoa(st.Source.Line)
	}
	return s.show(s.Path) + " " + lang.Row(st.Name)
}

// joinPlaces returns two places as one text: "results.md:12, 13" in one file.
func joinPlaces(place, other string) string {
	if i := strings.LastIndexByte(other, ':'); i > 0 && strings.HasPrefix(place, other[:i+1]) {
		other = other[i+1:]
	}
	return place + ", " + other
}

// Origin returns the file and line, or the directory, of the setup.
func (s *Setup) Origin() string {
	if src := s.Run.Source; src != nil {
		return s.show(src.File) + ":" + strconv.Itoa(src.Line)
	}
	return s.show(s.Path)
}

// Labels returns the labels of a run as those of documents are: model and engine are as the server reported them where
// no label tells, and the quantization is apart from the model's name.
func Labels(run *rundir.Run) rundir.Labels {
	l := run.Labels
	l.Model, l.Engine = cmp.Or(l.Model, run.Target.Model), cmp.Or(l.Engine, run.Target.Engine)
	if model, quant := published.SplitQuant(l.Model); l.Quant == "" || strings.EqualFold(quant, l.Quant) {
		l.Model, l.Quant = model, cmp.Or(l.Quant, quant)
	}
	return l
}

// Model is the model's name without its quantization.
func Model(run *rundir.Run) string { return Labels(run).Model }

// Engine is the serving engine, as labelled or as it said itself.
func Engine(run *rundir.Run) string { return Labels(run).Engine }

// Hardware is the GPUs, as far as they are known.
func Hardware(run *rundir.Run, l lang.Lang) string {
	gpu, n := run.Labels.GPU, run.Labels.GPUs
	if gpu == "" || n == 0 {
		return gpu
	}
	return sayHardware.In(l, n, gpu)
}

// Title names a configuration by its labels.
func Title(run *rundir.Run, l lang.Lang) string {
	var parts []string
	for _, p := range append([]string{findings.ModelName(run), Hardware(run, l), Engine(run)}, FreeLabels(run)...) {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, lang.Comma.In(l))
}

// FreeLabels returns the free labels of a run as they are written: "router=Rust".
func FreeLabels(run *rundir.Run) (all []string) {
	for _, key := range run.Labels.FreeKeys() {
		all = append(all, key+"="+run.Labels.Free[key])
	}
	return all
}

// AskedTokens returns the mean length of the answers that were asked for; absent where that is only a limit of them.
func AskedTokens(run *rundir.Run) rundir.Number {
	if w := &run.Workload; !w.Capped && w.OutputTokens.Mean > 0 {
		return rundir.Exactly(w.OutputTokens.Mean)
	}
	return rundir.Number{}
}

// Heading returns what the document calls a result that stands under a heading of its own, and nothing else tells.
func Heading(run *rundir.Run) string {
	if run.Source == nil {
		return ""
	}
	return published.HeadingName(run.Source)
}

// ThinkingText returns whether thinking was asked for or ruled out, in words; empty where neither was.
func ThinkingText(run *rundir.Run, l lang.Lang) string {
	switch think := run.Workload.Think; {
	case think == nil:
		return ""
	case *think:
		return wordThinking.In(l)
	}
	return wordNoThinking.In(l)
}

// mostTokens returns the length of answers that was asked for.
func mostTokens(run *rundir.Run, l lang.Lang) string {
	if n := run.Workload.OutputTokens.Mean; n > 0 {
		return sayTokens.In(l, n)
	}
	return ""
}

// parallelism are the options of launch commands that share a model out over GPUs.
var parallelism = regexp.MustCompile(`--(?:tensor-parallel-size|tp-size|tp|data-parallel-size|dp-size|dp)[ =]+\d+`)

// parallelOptions returns how a published server was told to use its GPUs: "--dp 2"; empty where that is not known.
func parallelOptions(run *rundir.Run) string {
	return strings.Join(parallelism.FindAllString(run.Target.Launch, -1), " ")
}

// details return what tells results apart that are labelled alike.
func details(l lang.Lang) []func(*rundir.Run) string {
	return []func(*rundir.Run) string{
		parallelOptions, func(run *rundir.Run) string { return mostTokens(run, l) },
		func(run *rundir.Run) string { return ThinkingText(run, l) }, Heading,
	}
}

// Described names a configuration by its labels and by all that tells results apart which are labelled alike.
func Described(run *rundir.Run, l lang.Lang) string {
	name := Title(run, l)
	for _, of := range details(l) {
		if v := of(run); v != "" {
			name = strings.TrimPrefix(name+lang.Comma.In(l)+v, lang.Comma.In(l))
		}
	}
	return name
}

// distinguish makes names unique. What is labelled alike is told apart by how it was started, by what it was asked for
// and by its heading, as far as these differ, else by where it was found.
func distinguish(all []Setup, l lang.Lang) {
	for _, of := range details(l) {
		values := map[string]map[string]bool{}
		for _, s := range all {
			if values[s.Name] == nil {
				values[s.Name] = map[string]bool{}
			}
			values[s.Name][of(s.Run)] = true
		}
		for i := range all {
			s := &all[i]
			if v := of(s.Run); v != "" && len(values[s.Name]) > 1 {
				s.Name = strings.TrimPrefix(s.Name+lang.Comma.In(l)+v, lang.Comma.In(l))
			}
		}
	}
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
			s.Name += lang.InParens.In(l, s.Origin())
		}
		if used[s.Name]++; used[s.Name] > 1 {
			s.Name += " #" + strconv.Itoa(used[s.Name])
		}
		for j := range s.LeftOut {
			s.LeftOut[j].Setup = s.Name
		}
		for j := range s.Marked {
			s.Marked[j].Setup = s.Name
		}
	}
}
