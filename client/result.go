package client

import (
	"math"
	"time"

	"llmsweep/client/api"
)

// Absent is the value of an instant that did not occur. It differs from 0, which is the epoch.
const Absent time.Duration = math.MinInt64

// Class is the way in which a request failed; empty for one that did not fail.
type Class string

// The classes of failure.
const (
	ClassConnect     Class = "connect"      // no connection: refused, unreachable, name not found, TLS refused
	ClassTimeout     Class = "timeout"      // the request's own time limit passed
	ClassHTTP4xx     Class = "http_4xx"     // a 4xx answer other than 429
	ClassRateLimited Class = "rate_limited" // 429 that says when to come back, or that a rate limit was reached
	ClassHTTP429     Class = "http_429"     // any other 429: too many requests
	ClassHTTP5xx     Class = "http_5xx"     // a 5xx answer
	ClassReset       Class = "reset"        // the connection broke after it was established
	ClassTruncated   Class = "truncated"    // the stream ended without its terminator or finish reason
	ClassStreamError Class = "stream_error" // an error object inside a 200 stream
	ClassEmpty       Class = "empty"        // ended well without a token; not set by Client, but by who asked for tokens
	ClassShort       Class = "short"        // ended well, far shorter than asked; set by who knows that lengths are kept
	ClassMalformed   Class = "malformed"    // an answer that violates HTTP or the API
)

// Status is how a request ended.
type Status string

// The ways to end.
const (
	StatusOK         Status = "ok"
	StatusError      Status = "error"
	StatusIncomplete Status = "incomplete" // cancelled by this program while it ran: censored, not failed
)

// The sources of an output token count, best first.
const (
	SourceServer = "server" // the server's own count: usage, meta_info, timings
	SourceChunks = "chunks" // chunks with tokens: an estimate of one token each
)

// Result is the outcome of one request. Instants are offsets from Epoch on the monotonic clock, [Absent] where they did
// not occur. Counts are [api.Unknown] where they were not reported. The zero value must be Reset before use.
type Result struct {
	Epoch time.Time // what the instants count from: the stage's start

	Sent        time.Duration // first byte written
	Headers     time.Duration // response headers read
	FirstToken  time.Duration // first chunk with text in it
	FirstAnswer time.Duration // the same, reasoning left out
	LastToken   time.Duration // last chunk with text
	End         time.Duration // terminator seen, or EOF where the API ends so, or the failure

	// Gaps holds the times between consecutive chunks with tokens: one fewer than there were chunks.
	Gaps []time.Duration
	// Counts holds the number of tokens in each chunk with tokens (len(Gaps)+1 of them). It is empty where the server
	// does not report it, or where all are 1.
	Counts []int32
	// Shared holds the numbers, from 0, of the chunks with tokens that were received together with the next one. Bytes
	// received together have the timestamp of the last of them. So the instants of these chunks are upper bounds, and
	// [Result.Bounded] reports which gaps that affects.
	Shared      Marks
	SharedReads int // number of elements of Shared
	ReadDelay   ReadDelay

	Status  Status
	Unpaid  bool   // not sent: Options.Allowance did not allow it. Status is then incomplete
	Class   Class  // set when Status is error
	Message string // the failure in one line, without secrets
	HTTP    int    // status code; 0 before headers
	// RetryAfter is how long a refusing server asks to wait; 0 where it does not.
	RetryAfter time.Duration

	Finish          string // the server's finish reason
	PromptTokens    int
	OutputTokens    int
	ReasoningTokens int
	CachedTokens    int
	TokenSource     string

	Replica int // which of several servers got it, from 1; 0 where there is one
	Rank    int // which of several processes sent it, from 1; 0 where there is one

	Resent int           // how often a connection was found closed before any of the request was written on it
	Dial   time.Duration // time spent dialling, part of the lag; 0 on a reused connection
	Text   []byte        // the answer's text without reasoning, where Request.KeepText asks for it

	// OnToken, if set, is called for each chunk with tokens, with their estimated number. It is called between two
	// reads, so it must be quick and must not block.
	OnToken func(tokens int)
}

// Reset clears r for a new request whose instants count from epoch. It keeps the buffers and OnToken.
func (r *Result) Reset(epoch time.Time) {
	*r = Result{
		Epoch: epoch,
		Sent:  Absent, Headers: Absent, FirstToken: Absent, FirstAnswer: Absent, LastToken: Absent, End: Absent,
		PromptTokens: api.Unknown, OutputTokens: api.Unknown, ReasoningTokens: api.Unknown, CachedTokens: api.Unknown,
		Gaps: r.Gaps[:0], Counts: r.Counts[:0], Shared: r.Shared[:0], Text: r.Text[:0], OnToken: r.OnToken,
	}
}

// Chunks returns the number of chunks with tokens.
func (r *Result) Chunks() int {
	if r.FirstToken == Absent {
		return 0
	}
	return len(r.Gaps) + 1
}

// Counted reports whether the number of output tokens can be relied on, by its source.
func Counted(source string) bool { return source == SourceServer }

// Token adds a chunk with tokens that arrived at the given instant; tokens is the number that the server reports for
// it, 0 where it reports none.
func (r *Result) Token(at time.Duration, tokens int, reasoning bool) {
	if r.FirstToken == Absent {
		r.FirstToken = at
	} else {
		r.Gaps = append(r.Gaps, at-r.LastToken)
	}
	if !reasoning && r.FirstAnswer == Absent {
		r.FirstAnswer = at
	}
	r.LastToken = at
	r.addCount(tokens)
	if r.OnToken != nil {
		r.OnToken(max(tokens, 1))
	}
}

// markShared records that the latest chunk with tokens was received together with the next one.
func (r *Result) markShared() {
	r.Shared.set(r.Chunks() - 1)
	r.SharedReads++
}

// Burst adds chunks of one token each that arrived in one receive.
func (r *Result) Burst(at time.Duration, chunks int) {
	for i := range chunks {
		r.Token(at, 1, false)
		if i < chunks-1 {
			r.markShared()
		}
	}
}

// Bounded reports whether Gaps[i] is not exact, because one of the two chunks around it was received together with a
// later one and may have arrived before its instant. The sum of consecutive bounded gaps is exact.
func (r *Result) Bounded(i int) bool { return r.Shared.Has(i) || r.Shared.Has(i+1) }

// addCount leaves Counts empty while every chunk is known or assumed to have one token.
func (r *Result) addCount(tokens int) {
	if len(r.Counts) == 0 && tokens <= 1 {
		return
	}
	for len(r.Counts) < len(r.Gaps) {
		r.Counts = append(r.Counts, 1)
	}
	r.Counts = append(r.Counts, int32(max(tokens, 1)))
}

// Fail ends r as a failure of the given class at the given instant.
func (r *Result) Fail(at time.Duration, class Class, message string) {
	r.Status, r.Class, r.Message, r.End = StatusError, class, message, at
}

// ReadDelay is how long the bytes of an answer's body waited in the kernel until this program read them.
type ReadDelay struct {
	Reads     int           // receives with a timestamp of the kernel
	Sum, Max  time.Duration // of their delays
	Unstamped int           // receives without a usable timestamp: their instant is that of the read
}

func (d *ReadDelay) add(delay time.Duration, kernel bool) {
	if !kernel {
		d.Unstamped++
		return
	}
	d.Reads++
	d.Sum += delay
	d.Max = max(d.Max, delay)
}

// Marks is a set of small non-negative numbers. The nil set is empty.
type Marks []uint64

// Has reports whether i is in the set.
func (m Marks) Has(i int) bool { return i/64 < len(m) && m[i/64]>>(i%64)&1 == 1 }

func (m *Marks) set(i int) {
	for i/64 >= len(*m) {
		*m = append(*m, 0)
	}
	(*m)[i/64] |= 1 << (i % 64)
}
