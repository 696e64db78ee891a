package client

import (
	"math"
	"time"
)

// Absent marks an instant that never came. It is not 0: 0 is the epoch itself.
const Absent time.Duration = math.MinInt64

// Unknown marks a token count that nobody reported. It is not 0: 0 is a count.
const Unknown = -1

// Class is the way in which a request failed; the empty class is a request that did not fail.
type Class string

// The classes of failure. What each covers is in the README's reference section.
const (
	ClassConnect     Class = "connect"      // no connection: refused, unreachable, name not found, TLS refused
	ClassTimeout     Class = "timeout"      // the request's own time limit passed
	ClassHTTP4xx     Class = "http_4xx"     // a 4xx answer other than 429
	ClassHTTP429     Class = "http_429"     // the server or a gateway said: too many requests
	ClassHTTP5xx     Class = "http_5xx"     // a 5xx answer
	ClassReset       Class = "reset"        // the connection broke after it was made
	ClassTruncated   Class = "truncated"    // the stream ended without its terminator or finish reason
	ClassStreamError Class = "stream_error" // an error object inside a 200 stream
	ClassMalformed   Class = "malformed"    // an answer that is not what the API promises
)

// Status is how a request ended.
type Status string

// The three ways to end.
const (
	StatusOK         Status = "ok"
	StatusError      Status = "error"
	StatusIncomplete Status = "incomplete" // cancelled by us while it still ran: censored, not failed
)

// Where an output token count came from, best first.
const (
	SourceServer = "server" // the server's own count: usage, meta_info, eval_count, timings
	SourceIDs    = "ids"    // token ids or log-probs that the server returned
	SourceChunks = "chunks" // token-bearing chunks: a guess of one token each
)

// Result is one request's outcome. Instants are offsets from Epoch on the monotonic clock, [Absent] where they
// never came; counts are [Unknown] where nobody told. Reset makes one ready; the zero value is not.
type Result struct {
	Epoch time.Time // what the instants count from: the stage's start

	Sent        time.Duration // first byte written
	Headers     time.Duration // response headers read
	FirstToken  time.Duration // first chunk with text in it
	FirstAnswer time.Duration // the same, reasoning left out
	LastToken   time.Duration // last chunk with text
	End         time.Duration // terminator seen, or EOF where the API ends so, or the failure

	// Gaps holds the time between each token-bearing chunk and the one before: one fewer than there were chunks.
	Gaps []time.Duration
	// Counts holds the tokens in each token-bearing chunk (len(Gaps)+1 of them), as far as the server told;
	// empty where it did not, or where all are 1.
	Counts []int32
	// Shared holds the numbers, from 0, of the token-bearing chunks that came in one receive with the next one. What waits
	// to be received together carries the stamp of its last byte: the instants of these chunks are only bounded from
	// above, and [Result.Bounded] says which gaps that spoils. Empty where there are none.
	Shared Marks
	// SharedReads is how many numbers Shared holds.
	SharedReads int
	// ReadDelay is how late this program was to read what the kernel had received.
	ReadDelay ReadDelay

	Status  Status
	Class   Class  // set when Status is error
	Message string // the failure in one line, without secrets; for people
	HTTP    int    // status code; 0 before headers

	Finish          string // the server's finish reason
	PromptTokens    int
	OutputTokens    int
	ReasoningTokens int
	CachedTokens    int
	TokenSource     string

	Resent int           // connections that were found closed before any of the request was written on them: it went to another
	Dial   time.Duration // time spent making a connection, part of the lag; 0 on a reused one
	Text   []byte        // the answer's text, reasoning left out, when it was asked for

	// OnToken, when set, is called for each token-bearing chunk with the tokens it is thought to hold. It runs on the
	// request's own goroutine between two reads, so it must be quick and must not block.
	OnToken func(tokens int)
}

// Reset clears r for a new request whose instants count from epoch, keeping its buffers.
func (r *Result) Reset(epoch time.Time) {
	*r = Result{
		Epoch: epoch,
		Sent:  Absent, Headers: Absent, FirstToken: Absent, FirstAnswer: Absent, LastToken: Absent, End: Absent,
		PromptTokens: Unknown, OutputTokens: Unknown, ReasoningTokens: Unknown, CachedTokens: Unknown,
		Gaps: r.Gaps[:0], Counts: r.Counts[:0], Shared: r.Shared[:0], Text: r.Text[:0], OnToken: r.OnToken,
	}
}

// Chunks is the number of token-bearing chunks.
func (r *Result) Chunks() int {
	if r.FirstToken == Absent {
		return 0
	}
	return len(r.Gaps) + 1
}

// Token notes a token-bearing chunk that arrived at the given instant; tokens is how many the server said it
// holds, 0 where it did not say.
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
	r.note(tokens)
	if r.OnToken != nil {
		r.OnToken(max(tokens, 1))
	}
}

// share notes that the latest token-bearing chunk came in one receive with the one about to be noted.
func (r *Result) share() {
	r.Shared.set(r.Chunks() - 1)
	r.SharedReads++
}

// Bounded reports whether Gaps[i] is not to be trusted: one of the two chunks around it came in one receive with a later one,
// and may have arrived before its instant. The sum over such neighbours is exact.
func (r *Result) Bounded(i int) bool { return r.Shared.Has(i) || r.Shared.Has(i+1) }

// note keeps Counts empty for as long as every chunk is known, or assumed, to hold one token.
func (r *Result) note(tokens int) {
	if len(r.Counts) == 0 && tokens <= 1 {
		return
	}
	for len(r.Counts) < len(r.Gaps) {
		r.Counts = append(r.Counts, 1)
	}
	r.Counts = append(r.Counts, int32(max(tokens, 1)))
}

// Fail makes r a failure of the given class at the given instant.
func (r *Result) Fail(at time.Duration, class Class, message string) {
	r.Status, r.Class, r.Message, r.End = StatusError, class, message, at
}

// ReadDelay sums up, over the receives of an answer's body, the time from the arrival of the bytes at the kernel to this
// program's having them: the client's own delay. The zero value is none.
type ReadDelay struct {
	Reads     int           // receives that the kernel dated
	Sum, Max  time.Duration // of their delays
	Unstamped int           // receives that it did not, or not credibly: this program dated them as it read them
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

// Marks is a set of small numbers. The nil set is empty.
type Marks []uint64

// Has says whether i is in the set.
func (m Marks) Has(i int) bool { return i/64 < len(m) && m[i/64]>>(i%64)&1 == 1 }

func (m *Marks) set(i int) {
	for i/64 >= len(*m) {
		*m = append(*m, 0)
	}
	(*m)[i/64] |= 1 << (i % 64)
}
