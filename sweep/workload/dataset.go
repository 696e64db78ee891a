package workload

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/seed"
)

// Limits leave rows out by their length in tokens. A limit of 0 is none.
type Limits struct {
	MinPrompt, MinOutput, MaxPrompt, MaxTotal int
}

// SGLangLimits are those of SGLang's bench_serving, by which the published run went (python/sglang/benchmark/datasets/
// sharegpt.py at 09716a6, and bench_serving.py before it). Its --sharegpt-context-len is MaxTotal.
func SGLangLimits() Limits { return Limits{MinPrompt: 2, MinOutput: 2} }

// VLLMLimits are those of vllm bench serve (vllm/benchmarks/datasets/utils.py at 237145e, is_valid_sequence).
func VLLMLimits() Limits { return Limits{MinPrompt: 4, MinOutput: 4, MaxPrompt: 1024, MaxTotal: 2048} }

// Options say what is taken out of a dataset.
type Options struct {
	Rows  int    // drawn at random from the file, at most; 0 for 10 000
	Seed  uint64 // of the draw, and of the order in which each stage takes them
	Count Counter
	Asked int // texts that Count is asked for; 0 for 24

	// Output is the length of answers where the file has none; ForceOutput, everywhere. Where there is neither, the server
	// decides.
	Output      rundir.Lengths
	ForceOutput bool

	// Limits leave rows out. Where there are none, ShareGPT's conversations have SGLang's.
	Limits Limits

	MultiTurn bool  // all turns of ShareGPT's conversations, not the first alone
	Think     Think // between the turns of any conversation
}

const (
	defaultRows  = 10_000
	defaultAsked = 24
	longestAsked = 4000    // bytes of a text that the server counts
	mostMemory   = 1 << 28 // bytes of texts kept; with more, fewer rows are
)

// Dataset is a random sample of the rows of a file.
type Dataset struct {
	name     string
	options  Options
	rows     []row
	usable   int // rows of the whole file that could be read
	skipped  skips
	estimate estimator
	notes    []string
}

// Open reads a dataset in one pass, and keeps no more than the rows drawn. The file is a JSON array of objects (ShareGPT's
// are such), JSONL, or CSV with a header; gzip is unpacked. An object has "conversations", "messages" or "prompt". It is an
// error when no row is usable; what is wrong with some is in [Dataset.Skipped].
func Open(ctx context.Context, path string, o Options) (*Dataset, error) {
	in, err := open(path)
	if err != nil {
		return nil, err
	}
	defer in.close()
	return read(ctx, in, o)
}

// read is Open of anything that can be read.
func read(ctx context.Context, in *input, o Options) (*Dataset, error) {
	if o.Rows == 0 {
		o.Rows = defaultRows
	}
	if o.Asked == 0 {
		o.Asked = defaultAsked
	}
	d := &Dataset{name: in.name, options: o}
	p := newDraw(d)
	if err := p.pass(ctx, in); err != nil {
		return nil, err
	}
	if len(p.rows.kept) == 0 {
		return nil, d.skipped.nothing(d.name, "prompt", datasetRemedy)
	}
	if err := d.learn(ctx, p.texts.kept); err != nil {
		return nil, err
	}
	d.usable = p.rows.seen
	// The places in a reservoir are not alike: those that come first hold rows from the beginning of the file more often.
	p.rows.rng.Shuffle(len(p.rows.kept), func(i, j int) { p.rows.kept[i], p.rows.kept[j] = p.rows.kept[j], p.rows.kept[i] })
	if n := len(p.rows.kept); p.full && n < o.Rows {
		d.note("its texts are long: %s are kept, of %d asked for", count(n, "row"), o.Rows)
	}
	d.limit(p.rows.kept)
	if len(d.rows) == 0 {
		return nil, d.skipped.nothing(d.name, "prompt", "Loosen the limits on lengths, or take another file.")
	}
	return d, nil
}

const datasetRemedy = `A dataset is a JSON array or JSONL of objects with "prompt", "messages" or "conversations", or CSV with a column prompt.`

// drawing is one pass over a file.
type drawing struct {
	*Dataset
	rows  reservoir[row]
	texts reservoir[string] // to be counted by the server
	bytes int               // of rows
	most  int               // bytes of rows
	full  bool
}

func newDraw(d *Dataset) *drawing {
	spare := d.options.Rows/8 + 16
	if d.options.Limits.MaxPrompt+d.options.Limits.MaxTotal > 0 { // about half of ShareGPT's are out by vLLM's
		spare = d.options.Rows + 64
	}
	return &drawing{
		Dataset: d, most: mostMemory,
		rows:  reservoir[row]{most: d.options.Rows + spare, rng: seed.Rand(d.options.Seed, "dataset", "rows")},
		texts: reservoir[string]{most: d.options.Asked, rng: seed.Rand(d.options.Seed, "dataset", "texts")},
	}
}

// pass reads the file to its end.
func (p *drawing) pass(ctx context.Context, in *input) error {
	f, err := in.format()
	if err != nil {
		return err
	}
	visit := func(line int, v gjson.Result, why string) bool {
		var r row
		if why == "" {
			r, why = parseRow(v, p.options.MultiTurn)
		}
		p.take(line, r, why)
		return true
	}
	switch f {
	case formatArray:
		return eachElement(ctx, in, visit)
	case formatLines:
		return eachLine(ctx, in, visit)
	}
	return p.passCSV(ctx, in)
}

// passCSV reads prompt and output_tokens, by name.
func (p *drawing) passCSV(ctx context.Context, in *input) error {
	prompt, output := -1, -1
	begin := func(c columns) error {
		if prompt = c.first("prompt"); prompt < 0 {
			return fmt.Errorf("%s:1: the header has no column prompt, and the file is no JSON. %s", in.name, datasetRemedy)
		}
		output = c.first("output_tokens", "max_tokens")
		return nil
	}
	return eachRow(ctx, in, begin, func(line int, fields []string, why string) bool {
		var r row
		n := 0
		if why == "" && output >= 0 && strings.TrimSpace(fields[output]) != "" {
			var err error
			if n, err = strconv.Atoi(strings.TrimSpace(fields[output])); err != nil || n < 1 || n > mostTokens {
				why = "output_tokens that is no number of tokens above 0"
			}
		}
		if why == "" {
			r, why = promptRow(fields[prompt], n)
		}
		p.take(line, r, why)
		return true
	})
}

// take counts a row, and keeps it where it is drawn.
func (p *drawing) take(line int, r row, why string) {
	if why != "" {
		p.skipped.add(why, line)
		return
	}
	r.line = line
	r = r.measured()
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
		*place = r.own()
		p.bytes += place.bytes()
	}
	for p.bytes > p.most && len(p.rows.kept) > 1 {
		dropped := p.rows.shrink()
		p.bytes -= dropped.bytes()
		p.full = true
	}
}

// clip is the beginning of a text that is too long to be counted.
func clip(s string) string {
	if len(s) <= longestAsked {
		return s
	}
	end := longestAsked
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

// learn finds out how many tokens texts have. A server that does not count is no error: then it is guessed, and said.
func (d *Dataset) learn(ctx context.Context, texts []string) error {
	e, err := learn(ctx, d.options.Count, texts)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	d.estimate = e
	if err != nil {
		d.note("token counts are a guess of four letters a token: %v", err)
	}
	return nil
}

// limit leaves out what is too short or too long, and cuts conversations where they get so.
func (d *Dataset) limit(rows []row) {
	for _, r := range rows {
		if len(d.rows) == d.options.Rows {
			break // the rest is spare
		}
		turns, why := d.within(r)
		if turns == 0 {
			d.skipped.add(why, r.line)
			continue
		}
		r.turns = r.turns[:turns]
		d.rows = append(d.rows, r)
	}
}

// within is how many turns of a row are within the limits, and why not more.
func (d *Dataset) within(r row) (turns int, why string) {
	limits := d.options.Limits
	if limits == (Limits{}) && r.shareGPT {
		limits = SGLangLimits()
	}
	history := d.estimate.tokens(measure(r.system))
	for i, t := range r.turns {
		alone, output := d.estimate.tokens(t.prompt), d.output(t)
		if d.options.ForceOutput || output == 0 { // as vLLM has it: an asked length is never too short
			output = max(output, limits.MinOutput)
		}
		prompt := history + alone
		switch {
		case alone < limits.MinPrompt || output < limits.MinOutput:
			return i, fmt.Sprintf("a prompt of fewer than %d or an answer of fewer than %d tokens", limits.MinPrompt, limits.MinOutput)
		case limits.MaxPrompt > 0 && prompt > limits.MaxPrompt:
			return i, fmt.Sprintf("a prompt of more than %d tokens", limits.MaxPrompt)
		case limits.MaxTotal > 0 && prompt+output > limits.MaxTotal:
			return i, fmt.Sprintf("more than %d tokens, prompt and answer", limits.MaxTotal)
		}
		history = prompt + output
	}
	return len(r.turns), ""
}

// output is the answer's length as the data have it, or the mean of what is asked for; 0 leaves it to the server.
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

func (d *Dataset) note(format string, a ...any) {
	d.notes = append(d.notes, d.name+": "+fmt.Sprintf(format, a...))
}

// Rows is how many rows there are to draw from.
func (d *Dataset) Rows() int { return len(d.rows) }

// Skipped are the rows left out, by reason. Limits are tried on the rows drawn alone, all else on the whole file.
func (d *Dataset) Skipped() []Skip { return d.skipped }

// Source says how tokens were counted.
func (d *Dataset) Source() string { return d.estimate.source }

// Notes say in a line each what people should know of the file.
func (d *Dataset) Notes() []string {
	first := fmt.Sprintf("%s: %s", d.name, count(len(d.rows), "row"))
	if d.usable > len(d.rows) {
		first += fmt.Sprintf(", drawn from %d", d.usable)
	}
	notes := append([]string{first + "; token counts: " + d.estimate.source}, d.notes...)
	return append(notes, d.skipped.notes(d.name)...)
}

// Describe is the workload as run.json has it, its lengths as they are in the rows drawn.
func (d *Dataset) Describe() rundir.Workload {
	var prompt, output spread
	for _, r := range d.rows {
		for i, t := range r.turns {
			prompt.add(d.promptTokens(r, i))
			output.add(d.output(t))
		}
	}
	w := rundir.Workload{
		PromptTokens: prompt.lengths(), OutputTokens: output.lengths(), Dataset: filepath.Base(d.name), Seed: d.options.Seed,
	}
	if d.options.ForceOutput {
		w.OutputTokens = d.options.Output
	}
	return w
}

// promptTokens is what a turn's own message costs, the system message and the template around it where it is the first.
func (d *Dataset) promptTokens(r row, turn int) int {
	n := d.estimate.tokens(r.turns[turn].prompt)
	if turn == 0 {
		n += d.estimate.around + d.estimate.tokens(measure(r.system))
	}
	return n
}

// Stage is a source of tasks for one stage. It takes the rows in an order of its own, and begins anew, in another order,
// when all have been taken.
func (d *Dataset) Stage(name string) load.Source {
	return &dataset{Dataset: d, rng: seed.Rand(d.options.Seed, "workload", name)}
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
	task := load.Session{System: r.system, Turns: make([]load.Turn, len(r.turns))}
	for i, t := range r.turns {
		task.Turns[i] = load.Turn{User: t.user, PromptTokens: d.promptTokens(r, i), OutputTokens: d.output(t)}
		fromFile := !d.options.ForceOutput && (t.output > 0 || t.length != size{})
		if !fromFile && d.options.Output.Std > 0 {
			task.Turns[i].OutputTokens = draw(d.options.Output, d.rng)
		}
		if i > 0 {
			task.Turns[i].Think = d.options.Think.draw(d.rng)
		}
	}
	return task, true
}

// spread gathers mean, deviation and extremes of lengths.
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
