package workload

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"llmsweep/client/note"
)

// request is one line of a trace.
type request struct {
	at             time.Duration // from an instant that is the same for the whole trace
	prompt, output int
	hashes         []int64
	inSession      bool
	talk
	ttft time.Duration // 0 where the recording does not tell
	head bool          // ttft ends at the head of the answer
}

// farthest is how far apart two requests of a trace may be: longer times are faults of the file, and 292 years overflow.
const farthest = 20 * 365 * 24 * time.Hour

// clock converts numbers to times since the first of them. It subtracts before it scales, which keeps the significant digits.
type clock struct {
	unit  time.Duration
	first float64
	set   bool
}

func (c *clock) at(v float64) (time.Duration, note.Note) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, skipTime.New()
	}
	if !c.set {
		c.first, c.set = v, true
	}
	d := (v - c.first) * float64(c.unit)
	if math.Abs(d) > float64(farthest) {
		return 0, skipFar.New()
	}
	return time.Duration(math.Round(d)), note.Note{}
}

// read reads a whole file.
func (t *Trace) read(ctx context.Context, in *rowInput) error {
	f, err := in.Format()
	if err != nil {
		return err
	}
	rows := traceRows{
		Trace: t, milli: clock{unit: time.Millisecond}, nano: clock{unit: time.Nanosecond}, epoch: clock{unit: time.Second}, named: map[string]int{},
	}
	switch {
	case f == array:
		err = eachElement(ctx, in, rows.visit)
	case f == lines:
		err = eachLine(ctx, in, rows.visit)
	case in.isAccess():
		err = rows.readAccess(ctx, in)
	default:
		err = t.readCSV(ctx, in)
	}
	rows.tell()
	if rows.logged > 0 && !rows.exact {
		t.notes = append(t.notes, noteWholeSeconds.New(t.name))
	}
	t.notes = append(t.notes, t.log.times(t.name)...)
	return err
}

// take appends a request and reports whether more are wanted.
func (t *Trace) take(line int, r request, why note.Note) bool {
	if !why.IsZero() {
		t.skipped.add(why, line)
		return true
	}
	t.log.add(r, t.options.Share)
	return t.options.Limit == 0 || len(t.log.at) < t.options.Limit
}

// parseRequest parses a line of Mooncake's traces: {"timestamp": 3000, "input_length": 915, "output_length": 355,
// "hash_ids": [0, 462]}, the timestamp in milliseconds. Recorded traffic has "session", "client" and "duration" too, the latter in milliseconds.
func parseRequest(v gjson.Result, c *clock, share bool) (r request, why note.Note) {
	if !v.IsObject() {
		return r, skipNoObject.New()
	}
	stamp, foreign := gjson.Result{}, false // foreign: a proxy's log, whose timestamp is of another unit
	v.ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "timestamp":
			stamp = value
		case "request_time", "startTime":
			foreign = true
		case "input_length", "input_tokens":
			r.prompt = tokens(value)
		case "output_length", "output_tokens":
			r.output = tokens(value)
		case "session":
			r.session, r.inSession = int(value.Int()), value.Type == gjson.Number
		case "client":
			r.client = int(value.Int())
		case "duration":
			if ms := value.Num; ms > 0 && ms < float64(farthest.Milliseconds()) {
				r.took = time.Duration(ms * float64(time.Millisecond))
			}
		case "hash_ids":
			if share {
				value.ForEach(func(_, id gjson.Result) bool { r.hashes = append(r.hashes, id.Int()); return true })
			}
		}
		return true
	})
	if why = r.incomplete(stamp.Type == gjson.Number && !foreign); why.IsZero() {
		r.at, why = c.at(stamp.Num)
	}
	return r, why
}

// recorded parses rows of CSV. Azure's traces have the columns TIMESTAMP,ContextTokens,GeneratedTokens. BurstGPT's have
// Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type; its release 2 adds Session ID and Elapsed time.
type recorded struct {
	stamp, prompt, output int // columns
	seconds               clock
	first                 time.Time
}

func (c *recorded) begin(name string, named rowColumns) error {
	c.stamp = named.First("timestamp", "timestamp_ms")
	c.prompt = named.First("contexttokens", "request tokens", "input_length", "prompt_tokens")
	c.output = named.First("generatedtokens", "response tokens", "output_length", "output_tokens")
	c.seconds.unit = time.Second
	if named.First("timestamp") < 0 || named.First("input_length") >= 0 { // Mooncake's columns, made CSV
		c.seconds.unit = time.Millisecond
	}
	if c.stamp < 0 || c.prompt < 0 || c.output < 0 {
		return fmt.Errorf("%s:1: the header has no columns for the time, the prompt's tokens and the answer's. %s", name, traceRemedy)
	}
	return nil
}

func (c *recorded) parse(fields []string) (r request, why note.Note) {
	if r.prompt = wholeTokens(fields[c.prompt]); r.prompt == 0 {
		return r, skipPromptTokens.New()
	}
	if r.output = wholeTokens(fields[c.output]); r.output == 0 {
		return r, skipOutputTokens.New()
	}
	stamp := strings.TrimSpace(fields[c.stamp])
	if v, err := strconv.ParseFloat(stamp, 64); err == nil {
		r.at, why = c.seconds.at(v)
		return r, why
	}
	at, ok := parseTime(stamp)
	if !ok {
		return r, skipTime.New()
	}
	if c.first.IsZero() {
		c.first = at
	}
	r.at = at.Sub(c.first)
	if r.at.Abs() > farthest {
		return r, skipFar.New()
	}
	return r, note.Note{}
}

// wholeTokens parses 374, or 374.0 as some spreadsheets write it; it returns 0 for anything else.
func wholeTokens(s string) int {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || !(v >= 1 && v <= mostTokens) || v != math.Trunc(v) {
		return 0
	}
	return int(v)
}

// parseTime parses 2023-11-16 18:15:46.6805900, as in Azure's traces of 2023, and 2024-05-10 00:00:00.009930+00:00, as in those
// of 2024, and nginx's $time_local. Go parses a fraction of any length after the seconds.
func parseTime(s string) (time.Time, bool) {
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05", time.RFC3339, "02/Jan/2006:15:04:05 -0700"} {
		if at, err := time.Parse(layout, s); err == nil && !at.IsZero() {
			return at, true
		}
	}
	return time.Time{}, false
}

// readCSV reads a trace with a header.
func (t *Trace) readCSV(ctx context.Context, in *rowInput) error {
	var c recorded
	begin := func(named rowColumns) error { return c.begin(in.Name, named) }
	return eachRow(ctx, in, begin, func(line int, fields []string, why note.Note) bool {
		var r request
		if why.IsZero() {
			r, why = c.parse(fields)
		}
		return t.take(line, r, why)
	})
}
