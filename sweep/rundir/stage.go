package rundir

import (
	"reflect"
	"strconv"
	"strings"
	"time"

	"llmsweep/client/note"
)

// Stage is one load and what was measured under it: a row of the table.
type Stage struct {
	Name           string  `json:"name"` // unique in its run
	Kind           string  `json:"kind"` // "synchronous", "throughput", "concurrent", "constant", "poisson"
	Role           Role    `json:"role"`
	State          State   `json:"state"`            // Running, Complete or Interrupted
	Rate           Number  `json:"rate,omitzero"`    // asked for; absent in a closed loop
	Repeat         int     `json:"repeat,omitempty"` // which repeat of the same load, from 1; absent without repeats
	MaxConcurrency int     `json:"max_concurrency,omitempty"`
	Started        float64 `json:"started_s"`           // since the start of the run
	Elapsed        float64 `json:"elapsed_s,omitempty"` // drain included
	Ended          float64 `json:"ended_s,omitempty"`   // since the start of the run, when it was summed up
	WindowFrom     float64 `json:"window_from_s"`       // since the start of the stage; the opening transient is before it
	Window         float64 `json:"window_s"`            // the window's length
	// FrozenSince is the server's last sign of life, since the start of the stage, where it then stopped answering for
	// good. Such a stage meets no objective.
	FrozenSince Number `json:"frozen_since_s,omitzero"`
	Whole       bool   `json:"whole,omitempty"` // the window is the whole stage, ramp and drain included
	// WholeRun is what the whole stage shows, ramp and drain included, where the window is a part of a closed loop of a
	// number of requests. Serving benchmarks of engines print such metrics. Absent elsewhere, and in directories of
	// earlier versions.
	WholeRun *WholeRun `json:"whole_run,omitempty"`

	Requests   Requests          `json:"requests"`
	Errors     map[string]int    `json:"errors,omitempty"`         // by class
	Examples   map[string]string `json:"error_examples,omitempty"` // one message per class
	Rates      Rates             `json:"rates"`
	TokensPerS TokenRates        `json:"tokens_per_s"`
	Latency    Dist              `json:"latency_s"`
	TTFT       Dist              `json:"ttft_s"`
	TTFTDue    Dist              `json:"ttft_due_s"`
	// to the first token after reasoning; absent where no answer began with reasoning
	FirstAnswer Dist      `json:"first_answer_s,omitzero"`
	TPOT        Dist      `json:"tpot_s"`
	ITL         Dist      `json:"itl_s"`                // per token
	ChunkGap    Dist      `json:"chunk_gap_s,omitzero"` // per chunk; absent where each chunk held one token
	Lag         Dist      `json:"lag_s"`
	Queued      Dist      `json:"queued_s"`
	All         *AllDists `json:"all,omitempty"` // with the requests that failed; absent where none did
	// the longest of each request; absent without timestamps from the kernel
	ReadDelay    Dist        `json:"read_delay_s,omitzero"`
	Concurrency  Concurrency `json:"concurrency"`
	OutputTokens TokenStats  `json:"output_tokens"`
	PromptTokens TokenStats  `json:"prompt_tokens"`

	// InterToken is sum(last - first) / sum(n - 1) over the requests: every token has the same weight.
	InterToken Number `json:"inter_token_s,omitzero"`
	// share of the token-bearing chunks that were read together with the next
	SharedChunks   Number `json:"shared_chunks,omitzero"`
	TokensPerChunk Number `json:"tokens_per_chunk,omitzero"`
	CachedTokens   Number `json:"cached_tokens,omitzero"` // mean per request
	Hits           *Hits  `json:"cache_hits,omitempty"`   // absent where nothing was sent before, and nothing is reported
	AskedTokens    Number `json:"asked_tokens,omitzero"`  // mean output length asked for
	// Shortened is the mean length of the answers, as a share of the length of answers to lone requests, where it is
	// shown to be less: then requests per second are not comparable with those of other rows. Absent where answers are
	// as long as alone, and where that is not known.
	Shortened   Number   `json:"shortened,omitzero"`
	TokenSource string   `json:"token_source,omitempty"`
	Progress    Progress `json:"progress,omitzero"`

	// Sessions is what the stage shows of conversations; absent where each request stands alone, and in directories of
	// earlier versions.
	Sessions *Sessions `json:"sessions,omitempty"`

	Goodput *Goodput `json:"goodput,omitempty"` // absent where there are no objectives
	Graded  *Graded  `json:"graded,omitempty"`  // absent in runs without graded questions

	// what each of several servers did, in the order of Target.Replicas
	Replicas []ReplicaShare `json:"replicas,omitempty"`

	Verdict Verdict `json:"verdict"`
	Drift   Drift   `json:"drift,omitzero"`
	// share of the requests due in the window that were refused: HTTP 429, 503 or 529; absent for none
	Refused   Number  `json:"refused,omitzero"`
	Traits    Traits  `json:"traits,omitzero"`
	ClientCPU Number  `json:"client_cpu_fraction,omitzero"` // of all cores
	ClientGC  Number  `json:"client_gc_fraction,omitzero"`  // of all cores, spent on collecting garbage
	Server    *Server `json:"server,omitempty"`             // what the server reported about itself
	// why the row shows the client's limits and not the server's
	Invalid  note.Note   `json:"invalid,omitzero"`
	Warnings []note.Note `json:"warnings,omitempty"`
	Source   *Source     `json:"source,omitempty"` // where it was read; absent in stages measured by this program
	// Doubts are what the audit found when the stage was read from a document; absent in stages measured by this
	// program.
	Doubts []Doubt `json:"doubts,omitempty"`
}

// Held reports whether the stage was planned to hold a rate for long, for the saturation rate or for an SLO.
func (s *Stage) Held() bool { return strings.HasPrefix(s.Name, HoldPrefix) }

// Quick reports whether the stage is a quick hold: evidence, and no row of a table.
func (s *Stage) Quick() bool { return strings.HasPrefix(s.Name, QuickPrefix) }

// Kinds of stages without an arrival rate, beside KindOfUsers.
const (
	StageSynchronous = "synchronous" // one request at a time
	StageThroughput  = "throughput"  // as many in flight as raise the output rate
	StageConcurrent  = "concurrent"  // a number in flight
)

// RoleOf returns the role in a sweep of the stage of a kind; empty for kinds of which it has several.
func RoleOf(kind string) Role {
	switch kind {
	case StageSynchronous:
		return Synchronous
	case StageThroughput:
		return Throughput
	}
	return ""
}

// WholeRun are metrics of a whole stage, from its start to the last end. They mean what those of [Stage] do.
type WholeRun struct {
	Window       float64     `json:"window_s"`
	Requests     Requests    `json:"requests"`
	Rates        Rates       `json:"rates"`
	TokensPerS   TokenRates  `json:"tokens_per_s"`
	Latency      Dist        `json:"latency_s"`
	TTFT         Dist        `json:"ttft_s"`
	FirstAnswer  Dist        `json:"first_answer_s,omitzero"`
	TPOT         Dist        `json:"tpot_s"`
	ITL          Dist        `json:"itl_s"`
	ChunkGap     Dist        `json:"chunk_gap_s,omitzero"`
	Concurrency  Concurrency `json:"concurrency"`
	OutputTokens TokenStats  `json:"output_tokens"`
	PromptTokens TokenStats  `json:"prompt_tokens"`
	InterToken   Number      `json:"inter_token_s,omitzero"`
}

// NewWholeRun returns the metrics of a stage that was measured as a whole.
func NewWholeRun(s *Stage) *WholeRun {
	w := new(WholeRun)
	copyMetrics(w, s)
	return w
}

// copyMetrics copies the fields of a WholeRun to or from a stage, which has the same ones.
func copyMetrics(to, from any) {
	t, f := reflect.ValueOf(to).Elem(), reflect.ValueOf(from).Elem()
	for _, field := range reflect.VisibleFields(reflect.TypeFor[WholeRun]()) {
		t.FieldByName(field.Name).Set(f.FieldByName(field.Name))
	}
}

// OfWholeRun returns the stage with the metrics of the whole run where its own are those of a part; else the stage
// itself. Goodput is of the part alone, and left out.
func (s *Stage) OfWholeRun() *Stage {
	w := s.WholeRun
	if w == nil {
		return s
	}
	all := *s
	all.Whole, all.WholeRun, all.WindowFrom, all.Goodput, all.All = true, nil, 0, nil, nil
	copyMetrics(&all, w)
	return &all
}

// AllDists are distributions in which failed requests count as longer than all others, so that a server that fails slow
// requests does not look fast. Of a percentile among the failed ones only a lower bound is known. They are what a limit
// on a percentile is about.
type AllDists struct {
	Latency     Dist `json:"latency_s"`
	TTFT        Dist `json:"ttft_s"`
	TTFTDue     Dist `json:"ttft_due_s"`
	FirstAnswer Dist `json:"first_answer_s,omitzero"`
	TPOT        Dist `json:"tpot_s"`
	ITL         Dist `json:"itl_s"` // a failed request counts with as many gaps as the length that it asked for has
}

// EndsAt returns when the stage ended, since the start of the run.
func (s *Stage) EndsAt() time.Duration {
	at := s.Ended
	if at == 0 { // of an earlier version
		at = s.Started + s.Elapsed
	}
	return Duration(at)
}

// SearchStep is one number in flight that was tried in the search for the ceiling.
type SearchStep struct {
	Name    string  `json:"name"`
	Output  Number  `json:"output_tokens_per_s,omitzero"`
	Latency Number  `json:"latency_s,omitzero"` // mean
	Error   Number  `json:"error,omitzero"`     // standard error of Latency, as a share of it
	Ended   float64 `json:"ended_s"`            // since the start of the run
	// Waited: requests waited for a place in the server while the others went on.
	Waited bool `json:"waited,omitempty"`
	// Invalid is why the step says more of the client than of the server; zero where it does not.
	Invalid note.Note `json:"invalid,omitzero"`
}

// SearchPrefix begins the name of a step, before the number in flight.
const SearchPrefix = "search@"

// Level returns the number in flight.
func (s *SearchStep) Level() int {
	level, _, _ := strings.Cut(strings.TrimPrefix(s.Name, SearchPrefix), "-") // a repeated one ends in -again
	n, _ := strconv.Atoi(level)                                               // 0 where the file was changed by hand
	return n
}

// Rate returns the requests per second of the step, by Little's law; 0 where its latency is not known.
func (s *SearchStep) Rate() float64 {
	if l := s.Latency.Or(0); l > 0 {
		return float64(s.Level()) / l
	}
	return 0
}

// EndsAt returns when the step ended, since the start of the run.
func (s *SearchStep) EndsAt() time.Duration { return Duration(s.Ended) }

// ReplicaShare is what one of several servers did in the window.
type ReplicaShare struct {
	Requests   Requests `json:"requests"`
	Completed  Number   `json:"completed,omitzero"` // requests per second
	Output     Number   `json:"output_tokens_per_s,omitzero"`
	TTFT       Dist     `json:"ttft_s"`
	Latency    Dist     `json:"latency_s"`
	InterToken Number   `json:"inter_token_s,omitzero"`
}

// Server is what the server reported about its own load in the window.
type Server struct {
	Running    Number `json:"running,omitzero"` // requests being processed, mean
	RunningMax Number `json:"running_max,omitzero"`
	// those being processed while others waited, mean over those that waited
	RunningBehind Number `json:"running_while_waiting,omitzero"`
	Waiting       Number `json:"waiting,omitzero"` // requests in its queue, mean
	WaitingMax    Number `json:"waiting_max,omitzero"`
	KVUsage       Number `json:"kv_usage,omitzero"` // share of the KV cache in use, 0 to 1
	KVUsageMax    Number `json:"kv_usage_max,omitzero"`
	Preemptions   Number `json:"preemptions,omitzero"`
	PrefixHitRate Number `json:"prefix_hit_rate,omitzero"` // share of prompt tokens found in the prefix cache
	// AcceptRate is the share of the tokens drafted by speculative decoding that the model accepted, and AcceptLength
	// how many tokens a step adds to an answer. Absent where the server does not say it, and where it does not
	// speculate.
	AcceptRate   Number `json:"accept_rate,omitzero"`
	AcceptLength Number `json:"accept_length,omitzero"`
	KVTokens     Number `json:"kv_tokens,omitzero"` // size of the KV cache, as the server states it

	// The engine's own view, where it reports one: its steps per second, and means over the requests by its own clock.
	// What the client measures beyond them is spent on the way. A slower engine has fewer steps per second at the same
	// number running.
	Steps   Number `json:"steps_per_s,omitzero"`
	TTFT    Number `json:"ttft_s,omitzero"`
	Queue   Number `json:"queue_s,omitzero"` // in the engine's queue
	ITL     Number `json:"itl_s,omitzero"`
	Latency Number `json:"latency_s,omitzero"`
}

// What a saturated server ran out of.
const (
	LimitKV      = "kv_cache"
	LimitSlots   = "batch_slots"
	LimitCompute = "compute"
)

// Requests counts the requests due in the window, by how they ended.
type Requests struct {
	Due        int `json:"due"`
	Sent       int `json:"sent"`
	OK         int `json:"ok"`
	Error      int `json:"error"`
	Incomplete int `json:"incomplete"`
	// Resent is how many were given another connection, because the server had closed the one that they had before any
	// of the request was written on it.
	Resent int `json:"resent,omitempty"`
}

// Rates are requests per second, counted in the window alone.
type Rates struct {
	// due; absent in a closed loop. Where the window is the whole stage, until the last was due
	Offered   Number `json:"offered,omitzero"`
	Sent      Number `json:"sent,omitzero"`
	Completed Number `json:"completed,omitzero"` // succeeded in the window, whenever they were due
	// TheoreticalMax is the number of that name in a stress table: all requests / longest response time. It is not a
	// limit.
	TheoreticalMax Number `json:"theoretical_max,omitzero"`
}

// TokenRates are tokens per second, of the tokens that arrived in the window.
type TokenRates struct {
	Output Number `json:"output,omitzero"`
	Input  Number `json:"input,omitzero"` // prompt tokens of the requests whose first token arrived in the window
	Total  Number `json:"total,omitzero"`
}

// Concurrency is the number in flight, integrated over the window.
type Concurrency struct {
	Mean Number `json:"mean,omitzero"`
	Peak int    `json:"peak"`
}

// Pauses are the times in which nothing came although requests waited or were refused, in seconds.
type Pauses struct {
	Count   int    `json:"count"`
	Longest Number `json:"longest_s"`
	Total   Number `json:"total_s"`
}

// TokenStats sums up token counts per request.
type TokenStats struct {
	N    int    `json:"n"`
	Mean Number `json:"mean,omitzero"`
	Std  Number `json:"std,omitzero"`
	Min  Number `json:"min,omitzero"`
	Max  Number `json:"max,omitzero"`

	// Of answers that end by themselves.
	P50     Number `json:"p50,omitzero"`
	P90     Number `json:"p90,omitzero"`
	AtLimit Number `json:"at_limit,omitzero"` // share that was cut at the longest allowed length

	Total Number `json:"total,omitzero"` // where it is known as such; else it is N times Mean
	// tokens of the text of all answers, counted again; reasoning as reported
	Retokenized Number `json:"retokenized,omitzero"`
	Text        Number `json:"text,omitzero"` // part of Total, where it is known
	Vision      Number `json:"vision,omitzero"`
}

// Progress is completed work in requests per second, where each request counts for the part of its tokens that arrived
// in the window. It varies less than the rate of completions.
type Progress struct {
	Rate Number `json:"rate,omitzero"`
	Low  Number `json:"low,omitzero"` // 95 % interval, by batch means
	High Number `json:"high,omitzero"`
	// Batches is the number of parts of the window that the interval is from.
	Batches int `json:"batches,omitempty"`
}

// Drift is the growth per second of the number of requests in flight or waiting, as a fraction of the offered rate.
type Drift struct {
	Value Number `json:"value,omitzero"`
	Low   Number `json:"low,omitzero"`
	High  Number `json:"high,omitzero"`
}

// Traits are what a stage's requests show of habits of the server.
type Traits struct {
	Stalls    int    `json:"stalls,omitempty"`      // how often all open streams stood still together
	StallTime Number `json:"stall_s,omitzero"`      // how long they did, on average
	Bursts    Number `json:"bursts,omitzero"`       // share of the answers whose tokens came in bursts
	Burst     Number `json:"burst_tokens,omitzero"` // tokens of a burst, on average
	BurstGap  Number `json:"burst_gap_s,omitzero"`  // time from one burst to the next, on average
	// share of the answers that came in one piece, sooner than the first token of others
	Whole     Number `json:"whole,omitzero"`
	WholeTime Number `json:"whole_s,omitzero"`        // how long such an answer took, on average
	WholeRate Number `json:"whole_rps,omitzero"`      // such answers per second in the window
	Computed  Number `json:"computed_itl_s,omitzero"` // time per token of the other answers, where some came in one piece
	// Behind is what was completed while the backlog of a saturated stage was at least half of its largest: what the
	// server does once it is far behind.
	Behind Progress `json:"behind,omitzero"`
	Pauses Pauses   `json:"pauses,omitzero"`
	// Waits is by how many seconds per second the waits for a first token grew of the part of the requests for which
	// they grew most.
	Waits Drift `json:"waits,omitzero"`
	Quota Quota `json:"quota,omitzero"`
}

// Quota is how much is let through in a period, where the rest is refused or delayed until the next.
type Quota struct {
	Period   Number `json:"period_s,omitzero"`      // absent where no whole period was seen
	Requests Number `json:"requests,omitzero"`      // that passed in a period, on average
	Tokens   Number `json:"output_tokens,omitzero"` // of their answers
	Periods  int    `json:"periods,omitempty"`      // that were seen
	ByTokens bool   `json:"by_tokens,omitempty"`    // the tokens of a period vary less than its requests
	Named    Number `json:"named,omitzero"`         // share of the refusals that name a limit on the rate
}
