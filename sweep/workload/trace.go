package workload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"llmsweep/client/note"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

type traceOptions struct {
	Replay

	// Prompt and Output replace the lengths of the trace where their mean is not 0.
	Prompt, Output rundir.Lengths

	Seed  uint64
	Costs Calibration
}

// mooncakeBlock is the number of tokens in a block of Mooncake's traces (Qin et al., FAST 25). A hash id stands for a
// block and everything before it, so that equal ids mean equal prefixes.
const mooncakeBlock = 512

// Trace is a recording of requests: when they arrived and how long prompts and answers were. It is both a schedule and
// a workload; the texts are made up, and begin alike where the hash ids do.
type Trace struct {
	name     string
	options  traceOptions
	speed    float64
	block    float64 // tokens of a hash id, on average
	requests []request
	skipped  skips
	notes    []note.Note
	Numbering
}

// Ten million requests without hash ids take 400 MB.
type request struct {
	at             time.Duration // since the first request
	prompt, output int32
	hashes         []int64
}

// openTrace reads a trace: a JSON object on each line with timestamp in milliseconds, input_length, output_length and
// optional hash_ids, as Mooncake's and vLLM's. It may be packed with gzip. Where no request can be used, the error is
// an [UnusableError].
func openTrace(ctx context.Context, o traceOptions) (*Trace, error) {
	in, err := openRows(o.File)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return readTrace(ctx, in, o)
}

// readTrace is [openTrace] for an input.
func readTrace(ctx context.Context, in *rowInput, o traceOptions) (*Trace, error) {
	if o.Speed == 0 {
		o.Speed = 1
	}
	const fastest, highest = 1e9, 1e7 // beyond any use, and far from overflow
	if !(o.Speed > 0 && o.Speed <= fastest && o.Rate >= 0 && o.Rate <= highest) {
		return nil, fmt.Errorf("a trace at %v times its speed, or %v requests per second: both must be above 0",
			o.Speed, o.Rate)
	}
	o.Costs = o.Costs.Usable()
	t := &Trace{name: in.Name, options: o, speed: o.Speed, Numbering: newNumbering(0)}
	if err := t.read(ctx, in); err != nil {
		return nil, err
	}
	if len(t.requests) == 0 {
		return nil, t.skipped.unusable(t.name, noteNoTrace, noteNoRequests)
	}
	t.block = meanBlock(t.requests)
	t.sort()
	if o.Rate > 0 {
		if t.span() == 0 {
			return nil, fmt.Errorf("%s cannot be replayed at %v requests per second: %w", t.name, o.Rate, errNoSpan)
		}
		t.speed = o.Rate / t.recordedRate()
	}
	return t, nil
}

var errNoSpan = errors.New("all its requests arrive at the same instant")

const traceRemedy = `a trace has one request on each line, such as ` +
	`{"timestamp": 3000, "input_length": 915, "output_length": 355}, with the timestamp in milliseconds and optional ` +
	"hash_ids"

func (t *Trace) read(ctx context.Context, in *rowInput) error {
	f, err := in.Format()
	if err != nil {
		return err
	}
	if f != lines {
		return fmt.Errorf("%s has another form: %s", t.name, traceRemedy)
	}
	var c clock
	return eachLine(ctx, in, func(line int, v gjson.Result, why note.Note) bool {
		var r request
		if why.IsZero() {
			r, why = parseRequest(v, &c)
		}
		if !why.IsZero() {
			t.skipped.add(why, line)
			return true
		}
		t.requests = append(t.requests, r)
		return t.options.Limit == 0 || len(t.requests) < t.options.Limit
	})
}

// parseRequest parses a line: {"timestamp": 3000, "input_length": 915, "output_length": 355, "hash_ids": [0, 462]}.
func parseRequest(v gjson.Result, c *clock) (r request, why note.Note) {
	if !v.IsObject() {
		return r, skipNoObject.New()
	}
	var stamp gjson.Result
	v.ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "timestamp":
			stamp = value
		case "input_length":
			r.prompt = int32(tokens(value))
		case "output_length":
			r.output = int32(tokens(value))
		case "hash_ids":
			value.ForEach(func(_, id gjson.Result) bool { r.hashes = append(r.hashes, id.Int()); return true })
		}
		return true
	})
	switch {
	case stamp.Type != gjson.Number:
		return r, skipTime.New()
	case r.prompt == 0:
		return r, skipPromptTokens.New()
	case r.output == 0:
		return r, skipOutputTokens.New()
	}
	r.at, why = c.since(stamp.Num)
	return r, why
}

// maxSpan is how far apart two requests of a trace may be: longer times are faults of the file, and 292 years
// overflow.
const maxSpan = 20 * 365 * 24 * time.Hour

// clock converts milliseconds to times since the first of them. It subtracts before it scales, which keeps the
// significant digits.
type clock struct {
	first float64
	set   bool
}

func (c *clock) since(ms float64) (time.Duration, note.Note) {
	if math.IsNaN(ms) || math.IsInf(ms, 0) {
		return 0, skipTime.New()
	}
	if !c.set {
		c.first, c.set = ms, true
	}
	d := (ms - c.first) * float64(time.Millisecond)
	if math.Abs(d) > float64(maxSpan) {
		return 0, skipFar.New()
	}
	return time.Duration(math.Round(d)), note.Note{}
}

// meanBlock returns how many tokens a hash id stands for on average: Mooncake's number where the lengths of most
// prompts agree with it, else the mean, the last block of each prompt counted as half of one.
func meanBlock(requests []request) float64 {
	agree, hashed, blocks, tokens := 0, 0, 0, 0
	for _, r := range requests {
		n, prompt := len(r.hashes), int(r.prompt)
		if n == 0 {
			continue
		}
		hashed, blocks, tokens = hashed+1, blocks+n, tokens+prompt
		if n == (prompt+mooncakeBlock-1)/mooncakeBlock {
			agree++
		}
	}
	if 10*agree >= 9*hashed {
		return mooncakeBlock
	}
	return max(1, float64(tokens)/(float64(blocks)-float64(hashed)/2))
}

func (t *Trace) sort() {
	disordered := 0
	for i := 1; i < len(t.requests); i++ {
		if t.requests[i].at < t.requests[i-1].at {
			disordered++
		}
	}
	if disordered > 0 {
		slices.SortStableFunc(t.requests, func(a, b request) int { return cmp.Compare(a.at, b.at) })
		t.notes = append(t.notes, noteDisorder.New(t.name, disordered))
	}
	for i, first := 0, t.requests[0].at; i < len(t.requests); i++ {
		t.requests[i].at -= first
	}
}

func (t *Trace) span() time.Duration { return t.requests[len(t.requests)-1].at }

func (t *Trace) recordedRate() float64 {
	if t.span() == 0 {
		return float64(len(t.requests)) // as if within one second
	}
	return float64(len(t.requests)-1) / t.span().Seconds()
}

func (t *Trace) rate() float64 { return t.recordedRate() * t.speed }

func (t *Trace) duration() time.Duration { return time.Duration(float64(t.span()) / t.speed) }

// Notes returns what a reader of the run should know of the trace.
func (t *Trace) Notes() []note.Note {
	var speed any // nil for the speed at which it was recorded
	if t.speed != 1 {
		speed = t.speed
	}
	first := noteTrace.New(t.name, len(t.requests), t.duration(), t.rate(), speed)
	return append(append([]note.Note{first}, t.notes...), t.skipped.notes(t.name)...)
}

// Describe returns the workload as run.json has it, with the lengths of the trace.
func (t *Trace) Describe() rundir.Workload {
	var prompt, output spread
	for _, r := range t.requests {
		prompt.add(int(r.prompt))
		output.add(int(r.output))
	}
	w := rundir.Workload{
		PromptTokens: prompt.lengths(), OutputTokens: output.lengths(), Dataset: filepath.Base(t.name), Seed: t.options.Seed,
	}
	if t.options.Prompt.Mean > 0 {
		w.PromptTokens = t.options.Prompt
	}
	if t.options.Output.Mean > 0 {
		w.OutputTokens = t.options.Output
	}
	return w
}

// Load returns the trace's arrivals as a load, at most maxConcurrency of its requests in flight; 0 is no limit.
func (t *Trace) Load(maxConcurrency int) arrival.Trace {
	offsets := make([]time.Duration, len(t.requests))
	for i, r := range t.requests {
		offsets[i] = r.at
	}
	return arrival.Trace{
		File: t.name, Offsets: offsets, Speed: t.speed, Finite: arrival.Finite{MaxConcurrency: maxConcurrency},
	}
}

// Stage returns a source of the trace's requests, in their order. It ends with the trace.
func (t *Trace) Stage(name string) load.Source {
	return &trace{Trace: t, rng: stats.Rand(t.options.Seed, "workload", name)}
}

type trace struct {
	*Trace
	rng *rand.Rand
	i   int
}

func (t *trace) Next() (load.Session, bool) {
	if t.i == len(t.requests) {
		return load.Session{}, false
	}
	r := t.requests[t.i]
	t.i++
	prompt, output := int(r.prompt), int(r.output)
	if t.options.Prompt.Mean > 0 {
		prompt = Draw(t.options.Prompt, t.rng)
	}
	if t.options.Output.Mean > 0 {
		output = Draw(t.options.Output, t.rng)
	}
	turn := load.Turn{User: t.text(prompt, r.hashes, t.rng), PromptTokens: prompt, OutputTokens: output}
	return load.Session{Turns: []load.Turn{turn}, Repeats: t.repeats(prompt, r.hashes)}, true
}

// repeats returns how many tokens of a prompt with these hashes the run has sent before.
func (t *Trace) repeats(prompt int, hashes []int64) int {
	blocks, repeated := 0, true
	for _, h := range hashes {
		repeated = t.remember(h) && repeated
		if repeated {
			blocks++
		}
	}
	return min(prompt, t.blockTokens(blocks))
}

func (t *Trace) blockTokens(blocks int) int { return int(math.Round(float64(blocks) * t.block)) }

// text returns a prompt that begins as its hashes say. The rest is its own.
func (t *Trace) text(tokens int, hashes []int64, rng *rand.Rand) string {
	costs := t.options.Costs
	if len(hashes) == 0 {
		return costs.Write(t.Opening(t.Place()), tokens, rng)
	}
	size, fill := costs.Fit(tokens)
	text := make([]string, 0, size)
	for block, hash := range hashes {
		ends, _ := costs.Fit(t.blockTokens(block + 1))
		if n := min(ends, size) - len(text); n > 0 {
			text = append(text, randomWords(n, stats.Rand(t.options.Seed, "block", strconv.FormatInt(hash, 10)))...)
		}
	}
	text = append(text, randomWords(size-len(text), rng)...)
	return compose(t.Opening(uint64(hashes[0])), text, strings.Repeat(costs.Filler, fill))
}
