// Package rundir is the run directory: run.json, records.jsonl and what is rendered from them. It is written as a run
// goes and read by everything after. It never computes a figure.
package rundir

import (
	"time"

	"llmsweep/client/note"
)

// Schema names the version of run.json's format.
const Schema = "llmsweep.run/v1"

// States of a run, and of a stage.
const (
	Running     = "running"
	Complete    = "complete"
	Interrupted = "interrupted"
	Failed      = "failed"
)

// Verdicts on a stage.
const (
	Stable    = "stable"    // the backlog grows by less than the tolerance
	Saturated = "saturated" // the backlog grows
	Undecided = "undecided" // neither could be shown in the time there was
	Closed    = "closed"    // a closed loop: its rate is the server's, so nothing can pile up
)

// Roles of a stage.
const (
	Floor   = "floor"   // synchronous: one request at a time
	Grid    = "grid"    // an arrival rate between floor and ceiling
	Ceiling = "ceiling" // throughput: as many in flight as make it faster
	Probe   = "probe"   // a rate beyond the grid, or between two of it, that narrows the answer
	Single  = "run"     // a stage somebody asked for by itself
)

// Run is run.json. All times are seconds, all rates per second.
type Run struct {
	Schema     string      `json:"schema"`
	Tool       Tool        `json:"tool"`
	Started    time.Time   `json:"started"`
	Ended      time.Time   `json:"ended,omitzero"`
	State      string      `json:"state"`
	Failure    note.Note   `json:"failure,omitzero"` // why State is failed or interrupted
	Target     Target      `json:"target"`
	Labels     Labels      `json:"labels"`
	Workload   Workload    `json:"workload"`
	Plan       Plan        `json:"plan"`
	Stages     []Stage     `json:"stages"`
	Saturation *Saturation `json:"saturation,omitempty"`
	SLO        *SLO        `json:"slo,omitempty"` // absent where nothing was promised
	Client     Client      `json:"client"`
	Warnings   []note.Note `json:"warnings,omitempty"`
	Source     *Source     `json:"source,omitempty"` // where it was read; absent in what was measured here
}

// Tool is what made the run.
type Tool struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	OS      string `json:"os,omitempty"`
	CPUs    int    `json:"cpus,omitempty"`
}

// Target is the server that was measured, as far as it told.
type Target struct {
	URL     string `json:"url"`
	API     string `json:"api"`
	Model   string `json:"model,omitempty"`
	Engine  string `json:"engine,omitempty"`
	Version string `json:"version,omitempty"`
	// Backend is how another tool called the engine and its API together: "sglang-oai-chat".
	Backend string `json:"backend,omitempty"`
	// Notes are what the preflight found out and a reader should know.
	Notes []note.Note `json:"notes,omitempty"`
	// Capacity is the computed capacity in requests per second, where the server is the embedded simulator.
	Capacity Number `json:"simulated_capacity,omitzero"`
}

// Labels say what the hardware and software were; people set them, figures never depend on them.
type Labels struct {
	Model  string  `json:"model,omitempty"`
	GPU    string  `json:"gpu,omitempty"`
	GPUs   int     `json:"gpus,omitempty"`
	Engine string  `json:"engine,omitempty"`
	Quant  string  `json:"quant,omitempty"`
	Price  float64 `json:"price,omitempty"` // per GPU-hour
}

// Workload is what was asked of the server.
type Workload struct {
	PromptTokens Lengths `json:"prompt_tokens"`
	OutputTokens Lengths `json:"output_tokens"`
	Dataset      string  `json:"dataset,omitempty"`
	Prompt       string  `json:"prompt,omitempty"` // the fixed prompt, where one was given
	Seed         uint64  `json:"seed"`
	Forced       bool    `json:"forced_length"` // the server was made to give exactly the asked number of tokens
	// CountedPrompt is what the server itself counted for a prompt of PromptTokens, where it told.
	CountedPrompt int `json:"counted_prompt_tokens,omitempty"`
	// Temperature is the sampling temperature asked for; absent: the server's own.
	Temperature Number `json:"temperature,omitzero"`
	// Think says whether thinking was asked for or ruled out; absent: neither.
	Think *bool `json:"think,omitempty"`
}

// Plan is how the run was to go.
type Plan struct {
	Kind           string  `json:"kind"` // "sweep", "run" or "pair"
	Points         int     `json:"points,omitempty"`
	Repeats        int     `json:"repeats,omitempty"` // times that each point, or stage, is measured; absent for once
	StageTime      float64 `json:"stage_time_s,omitempty"`
	StageRequests  int     `json:"stage_requests,omitempty"`
	MaxConcurrency int     `json:"max_concurrency,omitempty"`
	Warmup         string  `json:"warmup,omitempty"`
	Drain          float64 `json:"drain_s,omitempty"`
	MaxErrorRate   float64 `json:"max_error_rate,omitempty"`
	Tolerance      float64 `json:"drift_tolerance,omitempty"`

	SLO []string `json:"slo,omitempty"` // what must hold: "ttft:p99<500ms"
}

// Stage is one stage and what was measured in it.
type Stage struct {
	Name           string  `json:"name"` // unique in its run
	Kind           string  `json:"kind"` // "synchronous", "throughput", "concurrent", "constant", "poisson"
	Role           string  `json:"role"`
	State          string  `json:"state"`            // "running" while it runs, "complete", "interrupted" when cut short
	Rate           Number  `json:"rate,omitzero"`    // asked; absent in a closed loop
	Repeat         int     `json:"repeat,omitempty"` // which of several measurements of the same, from 1; absent where there is one
	MaxConcurrency int     `json:"max_concurrency,omitempty"`
	Started        float64 `json:"started_s"`           // since the run's start
	Elapsed        float64 `json:"elapsed_s,omitempty"` // drain included
	WindowFrom     float64 `json:"window_from_s"`       // since the stage's start; before it is the opening transient
	Window         float64 `json:"window_s"`            // the window's length
	Whole          bool    `json:"whole,omitempty"`     // the window is the whole stage, ramp and drain included: each request counts

	Requests     Requests          `json:"requests"`
	Errors       map[string]int    `json:"errors,omitempty"`         // by class
	Examples     map[string]string `json:"error_examples,omitempty"` // one message per class
	Rates        Rates             `json:"rates"`
	TokensPerS   TokenRates        `json:"tokens_per_s"`
	Latency      Dist              `json:"latency_s"`
	TTFT         Dist              `json:"ttft_s"`
	TTFTDue      Dist              `json:"ttft_due_s"`
	TPOT         Dist              `json:"tpot_s"`
	ITL          Dist              `json:"itl_s"`                // per token
	ChunkGap     Dist              `json:"chunk_gap_s,omitzero"` // per chunk as it came; absent where each chunk held one token
	Lag          Dist              `json:"lag_s"`
	Queued       Dist              `json:"queued_s"`
	ReadDelay    Dist              `json:"read_delay_s,omitzero"` // the longest of each request; absent where the kernel did not date what came
	Concurrency  Concurrency       `json:"concurrency"`
	OutputTokens TokenStats        `json:"output_tokens"`
	PromptTokens TokenStats        `json:"prompt_tokens"`

	// InterToken is sum(last - first) / sum(n - 1) over the requests: every token weighs the same.
	InterToken     Number   `json:"inter_token_s,omitzero"`
	SharedChunks   Number   `json:"shared_chunks,omitzero"` // share of the token-bearing chunks that were received together with the next
	TokensPerChunk Number   `json:"tokens_per_chunk,omitzero"`
	CachedTokens   Number   `json:"cached_tokens,omitzero"` // mean per request
	AskedTokens    Number   `json:"asked_tokens,omitzero"`  // mean asked output length
	TokenSource    string   `json:"token_source,omitempty"`
	Progress       Progress `json:"progress,omitzero"`

	Goodput *Goodput `json:"goodput,omitempty"` // absent where nothing was promised

	Verdict   string      `json:"verdict"`
	Drift     Drift       `json:"drift,omitzero"`
	ClientCPU Number      `json:"client_cpu_fraction,omitzero"` // of all cores
	ClientGC  Number      `json:"client_gc_fraction,omitzero"`  // of all cores, spent on collecting garbage
	Server    *Server     `json:"server,omitempty"`             // what it said of itself
	Invalid   note.Note   `json:"invalid,omitzero"`             // why the row says more of the client than of the server
	Warnings  []note.Note `json:"warnings,omitempty"`
	Source    *Source     `json:"source,omitempty"` // where it was read; absent in what was measured here
}

// Server is what the server said about its own load within the window.
type Server struct {
	Running       Number `json:"running,omitzero"` // requests worked on, on average
	RunningMax    Number `json:"running_max,omitzero"`
	Waiting       Number `json:"waiting,omitzero"` // requests in its queue, on average
	WaitingMax    Number `json:"waiting_max,omitzero"`
	KVUsage       Number `json:"kv_usage,omitzero"` // share of the KV cache in use, 0 to 1
	KVUsageMax    Number `json:"kv_usage_max,omitzero"`
	Preemptions   Number `json:"preemptions,omitzero"`
	PrefixHitRate Number `json:"prefix_hit_rate,omitzero"` // share of prompt tokens found in the prefix cache
}

// What a saturated server ran out of.
const (
	LimitKV      = "kv_cache"
	LimitSlots   = "batch_slots"
	LimitCompute = "compute"
)

// Requests counts the requests due in the window, and how they ended.
type Requests struct {
	Due        int `json:"due"`
	Sent       int `json:"sent"`
	OK         int `json:"ok"`
	Error      int `json:"error"`
	Incomplete int `json:"incomplete"`
	// Resent is how many were given another connection, because the server had closed the one that they had before any of the
	// request was written on it.
	Resent int `json:"resent,omitempty"`
}

// Rates are requests per second, counted in the window alone.
type Rates struct {
	Offered   Number `json:"offered,omitzero"` // due; absent in a closed loop
	Sent      Number `json:"sent,omitzero"`
	Completed Number `json:"completed,omitzero"` // ended well in the window, whenever they were due
	// TheoreticalMax is what a stress table calls so: all requests over the longest response time. It limits nothing.
	TheoreticalMax Number `json:"theoretical_max,omitzero"`
}

// TokenRates are tokens per second, counted in the window alone by when they arrived.
type TokenRates struct {
	Output Number `json:"output,omitzero"`
	Input  Number `json:"input,omitzero"` // prompt tokens of the requests whose first token came in the window
	Total  Number `json:"total,omitzero"`
}

// Concurrency is the number in flight, integrated over the window.
type Concurrency struct {
	Mean Number `json:"mean,omitzero"`
	Peak int    `json:"peak"`
}

// TokenStats sums up token counts per request.
type TokenStats struct {
	N    int    `json:"n"`
	Mean Number `json:"mean,omitzero"`
	Min  Number `json:"min,omitzero"`
	Max  Number `json:"max,omitzero"`

	Total       Number `json:"total,omitzero"`       // where it was told as such; else it is N times Mean
	Retokenized Number `json:"retokenized,omitzero"` // what the text of all answers tokenizes to
	Text        Number `json:"text,omitzero"`        // of Total, where it was told
	Vision      Number `json:"vision,omitzero"`
}

// Progress is completed work per second in requests, a request in flight counting for the part of its tokens that
// arrived in the window: smoother than whole completions, and without their edges.
type Progress struct {
	Rate Number `json:"rate,omitzero"`
	Low  Number `json:"low,omitzero"` // 95 % interval, by batch means
	High Number `json:"high,omitzero"`
	// Batches is how many parts of the window the interval rests on.
	Batches int `json:"batches,omitempty"`
}

// Drift is the growth of the number in the system per second, as a fraction of the offered rate.
type Drift struct {
	Value Number `json:"value,omitzero"`
	Low   Number `json:"low,omitzero"`
	High  Number `json:"high,omitzero"`
}

// Goodput is how much of what a stage served was as good as promised, and whether the stage as a whole was.
type Goodput struct {
	Rate    Number `json:"rate,omitzero"`     // requests per second that ended in the window and met every term
	Share   Number `json:"share,omitzero"`    // of those due in the window
	Unknown int    `json:"unknown,omitempty"` // of those due in the window, cannot be judged: then Share is a lower bound

	Verdict string    `json:"verdict"` // of the row by its percentiles: "kept", "broken" or "unknown"
	Terms   []Promise `json:"terms"`
}

// Promise is one term and what came of it in a stage.
type Promise struct {
	Term    string `json:"term"` // "ttft:p99<500ms"
	Verdict string `json:"verdict"`
	Value   Number `json:"value,omitzero"` // seconds; of errors a share
	// Needs is how many more requests it takes to judge the term.
	Needs int `json:"needs_requests,omitempty"`
}

// SLO is the highest rate at which everything promised holds.
type SLO struct {
	Terms []string `json:"terms"`
	Rate  Number   `json:"rate,omitzero"` // arrivals per second; a lower bound where nothing measured broke a term
	Low   Number   `json:"low,omitzero"`  // 95 % interval; without a Rate, where it may be
	High  Number   `json:"high,omitzero"`
	// Goodput is what the rows on either side of Rate had, per second, at Rate.
	Goodput Number `json:"goodput,omitzero"`
	// KeptStage is the highest stage that kept all terms below Rate, BrokenStage the lowest above that did not.
	KeptStage   string `json:"kept_stage,omitempty"`
	BrokenStage string `json:"broken_stage,omitempty"`
	// Limiting is the term that ends it, or Saturation's name.
	Limiting string `json:"limiting_term,omitempty"`
	// Needs is how many more requests a stage takes to judge the terms, where that is what was missing, and NeedsStage which.
	Needs      int       `json:"needs_requests,omitempty"`
	NeedsStage string    `json:"needs_stage,omitempty"`
	Reason     note.Note `json:"reason,omitzero"`
}

// LimitSaturation is what ends an SLO that holds for as long as the server keeps up.
const LimitSaturation = "saturation"

// Saturation is the answer: how many requests per second the server takes.
type Saturation struct {
	Rate   Number    `json:"rate,omitzero"`
	Low    Number    `json:"low,omitzero"` // 95 % interval of the plateau
	High   Number    `json:"high,omitzero"`
	Output Number    `json:"output_tokens_per_s,omitzero"`
	Reason note.Note `json:"reason,omitzero"`
	// Limit is what the server ran out of at LimitStage, where its gauges tell.
	Limit      string `json:"limit,omitempty"`
	LimitStage string `json:"limit_stage,omitempty"`

	// The bracket of verdicts around it.
	HighestStable   Number `json:"highest_stable,omitzero"`
	LowestSaturated Number `json:"lowest_saturated,omitzero"`
	// Comfortable is 80 % of Rate; ComfortableStage names the stage nearest to it from below.
	Comfortable      Number `json:"comfortable,omitzero"`
	ComfortableStage string `json:"comfortable_stage,omitempty"`
}

// Client says whether the client was fit to measure.
type Client struct {
	LagP99     Number      `json:"lag_p99_s,omitzero"`
	CPU        Number      `json:"cpu_fraction,omitzero"` // of all cores
	Timestamps string      `json:"timestamps"`            // "kernel" or "user"
	Valid      bool        `json:"valid"`
	Warnings   []note.Note `json:"warnings,omitempty"`
	// Selftest is what the client was shown to measure well on this machine before the run; absent where nobody tried.
	Selftest *Selftest `json:"selftest,omitempty"`
}

// Selftest is how far a client can be trusted on its machine, as far as it was tried: p99s are over what is trusted.
type Selftest struct {
	Streams       int    `json:"streams"` // open at once; 0 where the fewest that were tried were too many
	TokensPerS    Number `json:"tokens_per_s,omitzero"`
	ArrivalsPerS  Number `json:"arrivals_per_s,omitzero"`
	StampErrorP99 Number `json:"stamp_error_p99_s,omitzero"`
	LagP99        Number `json:"lag_p99_s,omitzero"` // from when a request was due to its first byte's being written
	CPUPerEvent   Number `json:"cpu_per_event_s,omitzero"`
	Load          Number `json:"load_average,omitzero"` // of the machine, as it began
	// Limit is what the next level failed by, and LimitStreams how many streams it had; empty and 0 where none failed.
	Limit        string `json:"limit,omitempty"`
	LimitStreams int    `json:"limit_streams,omitempty"`
}

// Lengths is a distribution of lengths in tokens: fixed, or normal cut at Min and Max.
type Lengths struct {
	Mean float64 `json:"mean"`
	Std  float64 `json:"std,omitempty"`
	Min  int     `json:"min,omitempty"`
	Max  int     `json:"max,omitempty"`
}
