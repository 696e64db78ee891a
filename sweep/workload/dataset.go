package workload

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"llmsweep/client/note"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// minTokens is the fewest tokens that a prompt and an answer of ShareGPT must have, as in SGLang's bench_serving
// (python/sglang/benchmark/datasets/sharegpt.py at 09716a6), with which published results were measured.
const minTokens = 2

type datasetOptions struct {
	Rows  int    // drawn at random from the file, at most; 0 for 10,000
	Seed  uint64 // of the draw, and of the order of rows in each stage
	Count Counter

	// Output is the length of answers where the file has none, or of all answers with ForceOutput. Where there is
	// neither, the server decides.
	Output      rundir.Lengths
	ForceOutput bool

	MultiTurn bool  // all turns of ShareGPT's conversations, not the first alone
	Think     Think // between the turns of any conversation
	// Graded has the answers to rows that tell what is right graded. These rows are asked for their most likely answer.
	Graded bool
}

const (
	defaultRows  = 10_000  // more than a sweep sends
	countedTexts = 24      // texts that Count counts: the estimate is then within 5 % (TestEstimate)
	maxMemory    = 1 << 28 // bytes of texts; where they are longer, fewer rows are kept
)

// What the server counts to learn how many tokens texts have: at most MostDatasetCounts texts, of at most LongestAsked
// bytes each.
const (
	MostDatasetCounts = 1 + countedTexts
	LongestAsked      = 4000
)

// Dataset is a random sample of the rows of a file.
type Dataset struct {
	name     string
	options  datasetOptions
	rows     []row
	usable   int // rows of the whole file that can be read
	skipped  skips
	estimate estimator
	notes    []note.Note
	sent     sentTexts
}

// openDataset reads a dataset in one pass and keeps only the rows drawn. The file is a JSON array of objects (as
// ShareGPT's), JSONL, or CSV with a header, and may be packed with gzip. An object has "conversations", "messages" or
// "prompt". Where no row can be used, the error is an [UnusableError]; of single rows that cannot be used there are
// notes.
func openDataset(ctx context.Context, path string, o datasetOptions) (*Dataset, error) {
	in, err := openRows(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return readDataset(ctx, in, o)
}

// readDataset is [openDataset] for an input.
func readDataset(ctx context.Context, in *rowInput, o datasetOptions) (*Dataset, error) {
	if o.Rows == 0 {
		o.Rows = defaultRows
	}
	d := &Dataset{name: in.Name, options: o}
	p := newSampler(d)
	if err := p.pass(ctx, in); err != nil {
		return nil, err
	}
	if len(p.rows.kept) == 0 {
		return nil, d.skipped.unusable(d.name, noteNoDataset, noteNoPrompts)
	}
	if err := d.learn(ctx, p.texts.kept); err != nil {
		return nil, err
	}
	d.usable = p.rows.seen
	// The first places of a reservoir hold rows from the beginning of the file more often than the others: mix them.
	rows := p.rows.kept
	p.rows.rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	if p.shrunk && len(rows) < o.Rows {
		d.notes = append(d.notes, noteLongTexts.New(d.name, len(rows), o.Rows))
	}
	d.keep(rows)
	if len(d.rows) == 0 {
		return nil, d.skipped.unusable(d.name, noteNoDataset, noteNoPrompts)
	}
	return d, nil
}

const datasetRemedy = `A dataset is a JSON array or JSONL of objects with "prompt", "messages" or "conversations", ` +
	"or CSV with a column prompt."

type sampler struct {
	*Dataset
	rows     reservoir[row]
	texts    reservoir[string] // to be counted by the server
	bytes    int               // of the rows kept
	maxBytes int               // bytes that may be kept
	shrunk   bool              // rows were dropped for want of memory
}

// newSampler makes room for spare rows, in place of those that are too short.
func newSampler(d *Dataset) *sampler {
	spare := d.options.Rows/8 + 16
	return &sampler{
		Dataset: d, maxBytes: maxMemory,
		rows:  reservoir[row]{limit: d.options.Rows + spare, rng: stats.Rand(d.options.Seed, "dataset", "rows")},
		texts: reservoir[string]{limit: countedTexts, rng: stats.Rand(d.options.Seed, "dataset", "texts")},
	}
}

func (p *sampler) pass(ctx context.Context, in *rowInput) error {
	f, err := in.Format()
	if err != nil {
		return err
	}
	visit := func(line int, v gjson.Result, why note.Note) bool {
		var r row
		if why.IsZero() {
			r, why = parseRow(v, p.options.MultiTurn, p.options.Graded)
		}
		p.take(line, r, why)
		return true
	}
	switch f {
	case array:
		return eachElement(ctx, in, visit)
	case lines:
		return eachLine(ctx, in, visit)
	}
	return p.passCSV(ctx, in)
}

func (p *sampler) passCSV(ctx context.Context, in *rowInput) error {
	prompt, output, answer, grade := -1, -1, -1, -1
	begin := func(c rowColumns) error {
		if prompt = c.First("prompt"); prompt < 0 {
			return fmt.Errorf("%s:1: the header has no column prompt, and the file is not JSON. %s", in.Name, datasetRemedy)
		}
		output, answer, grade = c.First("output_tokens", "max_tokens"), c.First("answer"), c.First("grade")
		return nil
	}
	return eachRow(ctx, in, begin, func(line int, fields []string, why note.Note) bool {
		var r row
		n := 0
		if why.IsZero() && output >= 0 && strings.TrimSpace(fields[output]) != "" {
			var err error
			if n, err = strconv.Atoi(strings.TrimSpace(fields[output])); err != nil || n < 1 || n > maxTokens {
				why = skipOutput.New("output_tokens")
			}
		}
		if why.IsZero() {
			r, why = promptRow(fields[prompt], n)
		}
		if why.IsZero() && p.options.Graded && answer >= 0 && strings.TrimSpace(fields[answer]) != "" {
			kind := ""
			if grade >= 0 {
				kind = fields[grade]
			}
			r, why = r.graded(fields[answer], kind)
		}
		p.take(line, r, why)
		return true
	})
}

func (p *sampler) take(line int, r row, why note.Note) {
	if !why.IsZero() {
		p.skipped.add(why, line)
		return
	}
	r.line = line
	r = r.withSizes()
	for _, text := range []string{r.turns[0].user, r.turns[0].answer} {
		if text == "" {
			continue
		}
		if place := p.texts.place(); place != nil {
			*place = strings.Clone(clip(text))
		}
	}
	if place := p.rows.place(); place != nil {
		if place.turns != nil {
			p.bytes -= place.bytes()
		}
		*place = r.clone()
		p.bytes += place.bytes()
	}
	for p.bytes > p.maxBytes && len(p.rows.kept) > 1 {
		dropped := p.rows.shrink()
		p.bytes -= dropped.bytes()
		p.shrunk = true
	}
}

func clip(s string) string {
	if len(s) <= LongestAsked {
		return s
	}
	end := LongestAsked
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

func (d *Dataset) learn(ctx context.Context, texts []string) error {
	e, err := learn(ctx, d.options.Count, texts)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	d.estimate = e
	if e.counted > 0 {
		for _, text := range texts { // the server was sent them
			d.sent.remember(text)
		}
		d.notes = append(d.notes, noteEstimated.New(d.name, e.counted, e.source))
	} else {
		d.notes = append(d.notes, noteGuessed.New(d.name, err))
	}
	return nil
}

// keep cuts recorded conversations at the first turn that is too short.
func (d *Dataset) keep(rows []row) {
	for _, r := range rows {
		if len(d.rows) == d.options.Rows {
			break // the others are spare
		}
		if r.shareGPT {
			if short := slices.IndexFunc(r.turns, d.tooShort); short >= 0 {
				r.turns = r.turns[:short]
			}
		}
		if len(r.turns) == 0 {
			d.skipped.add(skipShort.New(minTokens, minTokens), r.line)
			continue
		}
		d.rows = append(d.rows, r)
	}
}

// tooShort follows vLLM: a length that is asked for is never too short.
func (d *Dataset) tooShort(t turn) bool {
	output := d.output(t)
	return d.estimate.tokens(t.prompt) < minTokens || output > 0 && output < minTokens && !d.options.ForceOutput
}

// output returns the length of an answer as the data have it, or the mean that is asked for; 0 leaves it to the server.
func (d *Dataset) output(t turn) int {
	switch {
	case d.options.ForceOutput:
		return int(math.Round(d.options.Output.Mean))
	case t.output > 0:
		return t.output
	case t.length != size{}:
		return d.estimate.tokens(t.length)
	}
	return int(math.Round(d.options.Output.Mean))
}

// Rows returns the number of rows in use.
func (d *Dataset) Rows() int { return len(d.rows) }

// Notes returns what a reader of the run should know of the file.
func (d *Dataset) Notes() []note.Note {
	var from any // nil where every usable row is taken
	if d.usable > len(d.rows) {
		from = d.usable
	}
	notes := append([]note.Note{noteRows.New(d.name, len(d.rows), from)}, d.notes...)
	return append(notes, d.skipped.notes(d.name)...)
}

// Describe returns the workload as run.json has it, with the lengths of the rows in use.
func (d *Dataset) Describe() rundir.Workload {
	var prompt, output, turns, later spread
	graded := 0
	for _, r := range d.rows {
		if r.task != nil {
			graded++
		}
		turns.add(len(r.turns))
		for i, t := range r.turns {
			prompt.add(d.promptTokens(r, i))
			output.add(d.output(t))
			if i > 0 {
				later.add(d.promptTokens(r, i))
			}
		}
	}
	w := rundir.Workload{
		PromptTokens: prompt.lengths(), OutputTokens: output.lengths(), Dataset: filepath.Base(d.name), Graded: graded,
		Seed: d.options.Seed,
	}
	if d.options.ForceOutput {
		w.OutputTokens = d.options.Output
	}
	if d.options.MultiTurn {
		w.Conversation = d.options.Think.conversation(turns.lengths(), later.lengths())
	}
	return w
}

// promptTokens returns the tokens of a turn's message; the first turn includes the system message and the template.
func (d *Dataset) promptTokens(r row, turn int) int {
	n := d.estimate.tokens(r.turns[turn].prompt)
	if turn == 0 {
		n += d.estimate.templateTokens + d.estimate.tokens(measure(r.system))
	}
	return n
}

// Stage returns a source of sessions for one stage. It takes the rows in an order of its own; when all have been taken
// it begins again in another order.
func (d *Dataset) Stage(name string) load.Source {
	return &dataset{Dataset: d, rng: stats.Rand(d.options.Seed, "workload", name)}
}

type dataset struct {
	*Dataset
	rng   *rand.Rand
	order []int // of the rows still to be taken
}

func (d *dataset) Next() (load.Session, bool) {
	if len(d.order) == 0 {
		d.order = d.rng.Perm(len(d.rows))
	}
	r := d.rows[d.order[0]]
	d.order = d.order[1:]
	session := load.Session{Repeats: d.repeats(r), System: r.system, Turns: make([]load.Turn, len(r.turns))}
	if r.task != nil {
		session.Tag = r.task
	}
	for i, t := range r.turns {
		session.Turns[i] = load.Turn{User: t.user, PromptTokens: d.promptTokens(r, i), OutputTokens: d.output(t)}
		fromFile := !d.options.ForceOutput && (t.output > 0 || t.length != size{})
		if !fromFile && d.options.Output.Std > 0 {
			session.Turns[i].OutputTokens = Draw(d.options.Output, d.rng)
		}
		session.Turns[i].Greedy = r.task != nil
		if i > 0 {
			session.Turns[i].Think = d.options.Think.Draw(d.rng)
		}
	}
	return session, true
}

// repeats returns how many tokens at the beginning of a row the server was sent before: in another row, or to be
// counted.
func (d *Dataset) repeats(r row) int {
	text := r.system + r.turns[0].user
	switch n := d.sent.remember(text); {
	case n == len(text):
		return load.AllTokens
	case n > 0:
		return d.estimate.tokens(measure(text[:n]))
	}
	return 0
}

func (d *Dataset) forget() { d.sent.forget() }

// spread collects the mean, deviation and extremes of lengths, in memory that does not grow with their number.
type spread struct {
	n, min, max int
	sum, square float64
}

func (s *spread) add(v int) {
	if s.n == 0 || v < s.min {
		s.min = v
	}
	s.max = max(s.max, v)
	s.n++
	s.sum += float64(v)
	s.square += float64(v) * float64(v)
}

func (s *spread) lengths() rundir.Lengths {
	if s.n == 0 {
		return rundir.Lengths{}
	}
	mean := s.sum / float64(s.n)
	variance := s.square/float64(s.n) - mean*mean
	if s.min == s.max {
		return rundir.Lengths{Mean: mean}
	}
	return rundir.Lengths{Mean: mean, Std: math.Sqrt(max(0, variance)), Min: s.min, Max: s.max}
}
