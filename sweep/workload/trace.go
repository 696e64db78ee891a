package workload

import (
	"context"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"path/filepath"
	"sort"
	"time"

	"llmsweep/client/note"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// TraceOptions set how a trace is replayed.
type TraceOptions struct {
	Speed float64 // 2 replays it twice as fast; 0 is 1
	Rate  float64 // mean requests per second, which sets the speed; 0 for Speed
	Limit int     // number of requests; 0 for all

	// Prompt and Output replace the lengths of the trace where their mean is not 0.
	Prompt, Output rundir.Lengths

	// Share gives prompts the shared prefixes that the trace's hash_ids describe; Hashed notes where it has none. Otherwise, and without hash_ids,
	// no two prompts share a prefix.
	Share, Hashed bool
	Block         int // tokens per hash id; 0 for what the lengths of the prompts say

	Seed  uint64
	Costs Calibration
}

// mooncakeBlock is the number of tokens in a block of Mooncake's traces (Qin et al., FAST 25). A hash id stands for a block and
// everything before it, so that equal ids mean equal prefixes.
const mooncakeBlock = 512

// Trace is a recording of requests: when they arrived and how long prompts and answers were. It is both a schedule and a workload;
// the texts are made up.
type Trace struct {
	name    string
	options TraceOptions
	speed   float64
	log     requests
	skipped skips
	notes   []note.Note
	sharing
}

// requests are the requests of a trace, in columns: ten million of them take 160 MB.
type requests struct {
	at             []time.Duration // since the first request
	prompt, output []int32
	hashes         []int64   // of all requests in turn; only where prefixes are shared
	ends           []int     // where the hashes of each request end; empty where none are shared
	talks          []talk    // which sessions requests belong to; empty where the recording does not tell
	blockSize      int       // tokens of a block of hashes, where the file tells; else 0
	ttft           []float64 // seconds, of the requests where the recording tells, in no order
	heads          int       // of these, how many end at the head of the answer
	order          []int32   // original places of the requests once they are sorted; nil where they were in order
}

// talk is the place of a request in its session.
type talk struct {
	session int
	client  int           // from 1; 0 where the recording does not tell
	caller  int           // the session that it is a sub-agent of; 0 for none
	took    time.Duration // from the request to the end of its answer; 0 where the recording does not tell
}

func (q *requests) Len() int           { return len(q.at) }
func (q *requests) Less(i, j int) bool { return q.at[i] < q.at[j] }
func (q *requests) Swap(i, j int) {
	q.at[i], q.at[j] = q.at[j], q.at[i]
	q.prompt[i], q.prompt[j] = q.prompt[j], q.prompt[i]
	q.output[i], q.output[j] = q.output[j], q.output[i]
	q.order[i], q.order[j] = q.order[j], q.order[i]
}

// add appends a request.
func (q *requests) add(r request, share bool) {
	q.at = append(q.at, r.at)
	q.prompt = append(q.prompt, int32(r.prompt))
	q.output = append(q.output, int32(r.output))
	if share {
		q.hashes = append(q.hashes, r.hashes...)
		q.ends = append(q.ends, len(q.hashes))
	}
	if r.inSession {
		q.talks = append(q.talks, r.talk)
	}
	if r.ttft > 0 {
		q.ttft = append(q.ttft, r.ttft.Seconds())
		if r.head {
			q.heads++
		}
	}
}

// talkOf returns the place of a request in its session; one of its own where the recording does not tell.
func (q *requests) talkOf(i int) talk {
	if q.order != nil {
		i = int(q.order[i])
	}
	if len(q.talks) != len(q.at) {
		return talk{session: i}
	}
	return q.talks[i]
}

// hashesOf returns the hash ids of a request.
func (q *requests) hashesOf(i int) []int64 {
	if len(q.ends) == 0 {
		return nil
	}
	if q.order != nil {
		i = int(q.order[i])
	}
	if i == 0 {
		return q.hashes[:q.ends[0]]
	}
	return q.hashes[q.ends[i-1]:q.ends[i]]
}

// arrange sorts requests by time, moves the first to 0, and returns how many were out of order.
func (q *requests) arrange() (disordered int) {
	for i := 1; i < len(q.at); i++ {
		if q.at[i] < q.at[i-1] {
			disordered++
		}
	}
	if disordered > 0 {
		q.order = make([]int32, len(q.at))
		for i := range q.order {
			q.order[i] = int32(i)
		}
		sort.Stable(q)
	}
	for i, first := 0, q.at[0]; i < len(q.at); i++ {
		q.at[i] -= first
	}
	return disordered
}

// block returns how many tokens a hash id stands for on average: what the file tells, else Mooncake's number where the lengths of most prompts agree with
// it, else the mean over prompts that open sessions, the last block of each counted as half of one. Later prompts are left out: the JSON around their
// many messages is in the blocks. Requests must be in their original order.
func (q *requests) block() float64 {
	if q.blockSize > 0 {
		return float64(q.blockSize)
	}
	agree, hashed, blocks, tokens, opened := 0, 0, 0, 0, map[int]bool{}
	for i, prompt := range q.prompt {
		n, session := len(q.hashesOf(i)), q.talkOf(i).session
		if n == 0 {
			continue
		}
		if hashed++; n == (int(prompt)+mooncakeBlock-1)/mooncakeBlock {
			agree++
		}
		if !opened[session] {
			opened[session] = true
			blocks, tokens = blocks+n, tokens+int(prompt)
		}
	}
	if 10*agree >= 9*hashed {
		return mooncakeBlock
	}
	return max(1, float64(tokens)/(float64(blocks)-float64(len(opened))/2))
}

// span returns the time from the first request to the last.
func (q *requests) span() time.Duration { return q.at[len(q.at)-1] }

// OpenTrace reads a trace: JSONL as Mooncake's (timestamp in milliseconds, input_length, output_length, optional hash_ids), sessions of agents as of
// kv-cache-tester, spans of OpenTelemetry, logs of LiteLLM or nginx, or CSV as BurstGPT's (Timestamp in seconds, Request tokens, Response tokens) or Azure's (TIMESTAMP as
// date and time, ContextTokens, GeneratedTokens). It may be packed with gzip, and path may be the directory of a recording. Where no request can be
// used, the error is an [UnusableError].
func OpenTrace(ctx context.Context, path string, o TraceOptions) (*Trace, error) {
	in, err := openRows(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return readTrace(ctx, in, o)
}

// readTrace is [OpenTrace] for an input.
func readTrace(ctx context.Context, in *rowInput, o TraceOptions) (*Trace, error) {
	if o.Speed == 0 {
		o.Speed = 1
	}
	const fastest, highest = 1e9, 1e7 // beyond any use, and far from overflow
	if !(o.Speed > 0 && o.Speed <= fastest && o.Rate >= 0 && o.Rate <= highest && o.Block >= 0) {
		return nil, fmt.Errorf("a trace at %v times its speed, or %v requests per second: both must be above 0", o.Speed, o.Rate)
	}
	t := &Trace{name: in.Name, options: o, speed: o.Speed, sharing: newSharing(o.Seed, o.Costs)}
	if err := t.read(ctx, in); err != nil {
		return nil, err
	}
	if len(t.log.at) == 0 {
		return nil, t.skipped.unusable(t.name, noteNoTrace, noteNoRequests)
	}
	if t.sharing.block = float64(o.Block); o.Block == 0 {
		t.sharing.block = t.log.block()
	}
	if n := t.log.arrange(); n > 0 {
		t.notes = append(t.notes, noteDisorder.New(t.name, n))
	}
	if o.Rate > 0 {
		natural := t.natural()
		if t.log.span() == 0 {
			return nil, fmt.Errorf("%s cannot be replayed at %v requests per second: %w", t.name, o.Rate, errNoSpan)
		}
		t.speed = o.Rate / natural
	}
	if o.Hashed && len(t.log.hashes) == 0 {
		t.notes = append(t.notes, noteNoHashes.New(t.name))
	}
	return t, nil
}

// errNoSpan is the error for a trace that has no rate.
var errNoSpan = errors.New("all its requests arrive at the same instant")

const traceRemedy = "A trace is JSONL with timestamp (ms), input_length and output_length, with sessions of agents (Weka), OpenTelemetry spans or LiteLLM's payloads, a log of nginx with $request_time, or CSV with the columns of BurstGPT's or Azure's."

// natural returns the requests per second at a speed of 1.
func (t *Trace) natural() float64 {
	if len(t.log.at) < 2 || t.log.span() == 0 {
		return float64(len(t.log.at)) // all at once: as if within one second
	}
	return float64(len(t.log.at)-1) / t.log.span().Seconds()
}

// Rate returns the mean requests per second at which it is replayed.
func (t *Trace) Rate() float64 { return t.natural() * t.speed }

// Speed returns how many times faster than recorded it is replayed.
func (t *Trace) Speed() float64 { return t.speed }

// Duration returns the time until the last request is due.
func (t *Trace) Duration() time.Duration { return time.Duration(float64(t.log.span()) / t.speed) }

// Rows returns the number of requests.
func (t *Trace) Rows() int { return len(t.log.at) }

// Skipped returns the rows left out, by reason.
func (t *Trace) Skipped() []SkipRows { return t.skipped }

// Notes returns what a reader of the run should know of the trace.
func (t *Trace) Notes() []note.Note {
	var speed any // nil for the speed at which it was recorded
	if t.speed != 1 {
		speed = t.speed
	}
	first := noteTrace.New(t.name, t.Rows(), t.Duration(), t.Rate(), speed)
	return append(append([]note.Note{first}, t.notes...), t.skipped.notes(t.name)...)
}

// Describe returns the workload as run.json has it, with the lengths of the trace.
func (t *Trace) Describe() rundir.Workload {
	var prompt, output spread
	for i := range t.log.at {
		prompt.add(int(t.log.prompt[i]))
		output.add(int(t.log.output[i]))
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
	return arrival.Trace{File: t.name, Offsets: t.log.at, Speed: t.speed, MaxConcurrency: maxConcurrency}
}

// Stage returns a source of the trace's requests, in their order. It ends with the trace.
func (t *Trace) Stage(name string) load.Source {
	return &trace{Trace: t, rng: stats.Rand(t.options.Seed, "workload", name), ids: mathrand.Uint64()}
}

// oddNumber spreads small numbers over all 64 bits; different ones stay different.
const oddNumber = 0x9e3779b97f4a7c15

type trace struct {
	*Trace
	rng *mathrand.Rand
	ids uint64 // makes the numbers of sessions random
	i   int
}

func (t *trace) Next() (load.Session, bool) {
	if t.i == len(t.log.at) {
		return load.Session{}, false
	}
	prompt, output := int(t.log.prompt[t.i]), int(t.log.output[t.i])
	if t.options.Prompt.Mean > 0 {
		prompt = Draw(t.options.Prompt, t.rng)
	}
	if t.options.Output.Mean > 0 {
		output = Draw(t.options.Output, t.rng)
	}
	hashes := t.log.hashesOf(t.i)
	turn := load.Turn{User: t.text(prompt, hashes, t.rng), PromptTokens: prompt, OutputTokens: output}
	id := t.ids + uint64(t.log.talkOf(t.i).session)*oddNumber
	t.i++
	return load.Session{ID: id, Turns: []load.Turn{turn}, Repeats: t.repeats(prompt, hashes)}, true
}
