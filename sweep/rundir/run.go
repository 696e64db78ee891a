// Package rundir is the format of a run directory: the types of run.json, pair.json, records.jsonl and server.jsonl, as
// they are encoded. Package store writes and reads the files. This package computes nothing from what they hold.
package rundir

import (
	"maps"
	"slices"
	"time"

	"llmsweep/client/note"
)

// Schema names the version of run.json's format.
const Schema = "llmsweep.run/v1"

// State is how far a run, a stage or a comparison of two servers is.
type State string

// The states. Stages do not fail.
const (
	Running     State = "running"
	Complete    State = "complete"
	Interrupted State = "interrupted"
	Failed      State = "failed"
)

// Verdict is whether the server keeps up with the load of a stage. It is empty where nothing was measured.
type Verdict string

// The verdicts on a stage.
const (
	Stable    Verdict = "stable"    // the backlog grows by less than the tolerance
	Saturated Verdict = "saturated" // the backlog grows
	// the backlog does not grow, because the server refuses or fails a part of the requests
	Shedding  Verdict = "shedding"
	Undecided Verdict = "undecided" // neither could be shown in the time available
	Closed    Verdict = "closed"    // a closed loop: the server sets its rate, so that no backlog can grow
)

// Role is what a stage is for in its run.
type Role string

// The roles.
const (
	Synchronous Role = "floor"   // synchronous: one request at a time
	Grid        Role = "grid"    // an arrival rate between floor and ceiling
	Throughput  Role = "ceiling" // throughput: as many requests in flight as raise the output rate
	Probe       Role = "probe"   // a rate above the grid, or between two of its rates, that narrows the saturation rate
	Hold        Role = "hold"    // a rate near the answer, held for longer than other stages to test it
	Single      Role = "run"     // a stage of a run that is not a sweep
	WarmUp      Role = "warm-up" // a stage that a published document calls its warm-up; nothing is concluded from it
)

// HoldPrefix begins the names of holds.
const HoldPrefix = "hold@"

// QuickPrefix begins the names of quick holds, from a full server on: see [Stage.Quick].
const QuickPrefix = "quick@"

// Run is run.json. All times are seconds, all rates per second.
type Run struct {
	Schema   string    `json:"schema"`
	Tool     Tool      `json:"tool"`
	Started  time.Time `json:"started"`
	Ended    time.Time `json:"ended,omitzero"`
	State    State     `json:"state"`
	Command  Command   `json:"command,omitzero"`
	Failure  note.Note `json:"failure,omitzero"` // why State is failed or interrupted
	Target   Target    `json:"target"`
	Labels   Labels    `json:"labels"`
	Workload Workload  `json:"workload"`
	Plan     Plan      `json:"plan"`
	Stages   []Stage   `json:"stages"`
	// Search has the steps of the search for the ceiling. They are no rows; a run that is continued needs them.
	Search     []SearchStep `json:"search,omitempty"`
	Saturation *Saturation  `json:"saturation,omitempty"`
	SLO        *SLO         `json:"slo,omitempty"`    // absent where there are no objectives
	Answer     *Answer      `json:"answer,omitempty"` // of a sweep; absent in directories of earlier versions
	Grades     *Grades      `json:"grades,omitempty"` // absent in runs without graded questions
	Client     Client       `json:"client"`
	Cluster    *Cluster     `json:"cluster,omitempty"` // the ranks that sent; absent where one process did
	Spent      *Spent       `json:"spent,omitempty"`   // absent where neither prices nor limits were given
	Warnings   []note.Note  `json:"warnings,omitempty"`
	Source     *Source      `json:"source,omitempty"` // where it was read; absent in runs measured by this program
	Synced     *Synced      `json:"synced,omitempty"` // absent in a run that has ended
}

// Spent is what the run spent on a hosted API, the preflight included, and its limits. Costs are in the unit of the
// prices.
type Spent struct {
	Requests     int   `json:"requests"` // that may have cost something: those that were sent and not refused
	PromptTokens int64 `json:"prompt_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	// UnsureTokens is an upper bound for the tokens of requests that the server did not count: they were cancelled, or
	// failed in mid-stream.
	UnsureTokens int64  `json:"unsure_tokens,omitempty"`
	Cost         Number `json:"cost,omitzero"`      // includes the unsure tokens; absent without prices
	PriceIn      Number `json:"price_in,omitzero"`  // of a million prompt tokens
	PriceOut     Number `json:"price_out,omitzero"` // of a million output tokens
	MaxCost      Number `json:"max_cost,omitzero"`
	Ended        bool   `json:"ended,omitempty"` // the run ended because the next request would have exceeded the limit
}

// Tool is the program that made the run.
type Tool struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	OS      string `json:"os,omitempty"`
	CPUs    int    `json:"cpus,omitempty"`
}

// Target is the server under test. What it did not tell is empty.
type Target struct {
	URL     string `json:"url"`
	API     string `json:"api"`
	Model   string `json:"model,omitempty"`
	Engine  string `json:"engine,omitempty"`
	Version string `json:"version,omitempty"`
	// Backend is another tool's name for engine and API: "sglang-oai-chat".
	Backend string `json:"backend,omitempty"`
	// Launch is the command that started the server, where a document prints it.
	Launch string `json:"launch,omitempty"`
	// Notes are findings of the preflight that a reader should know.
	Notes []note.Note `json:"notes,omitempty"`
	// Replicas are the servers that the requests are shared out over, where there are several. URL is then the first
	// one's.
	Replicas []Replica `json:"replicas,omitempty"`
	// Capacity is the computed capacity of the embedded simulator, in requests per second; absent for other servers.
	Capacity Number `json:"simulated_capacity,omitzero"`
}

// Replica is one of several servers under test that hold the same model, with no router between them and this program.
type Replica struct {
	URL     string `json:"url"`
	Engine  string `json:"engine,omitempty"`
	Version string `json:"version,omitempty"`
}

// Labels describe hardware and software. Users set them; nothing that is measured depends on them.
type Labels struct {
	Model  string  `json:"model,omitempty"`
	GPU    string  `json:"gpu,omitempty"`
	GPUs   int     `json:"gpus,omitempty"`
	Engine string  `json:"engine,omitempty"`
	Quant  string  `json:"quant,omitempty"`
	Price  float64 `json:"price,omitempty"` // per GPU-hour
	// Free are labels of other names, such as router=Rust: one may be what differs between results.
	Free map[string]string `json:"free,omitempty"`
}

// IsZero reports whether no label is set.
func (l Labels) IsZero() bool {
	return l.Model == "" && l.GPU == "" && l.GPUs == 0 && l.Engine == "" && l.Quant == "" && l.Price == 0 &&
		len(l.Free) == 0
}

// FreeKeys returns the names of the free labels, sorted.
func (l Labels) FreeKeys() []string { return slices.Sorted(maps.Keys(l.Free)) }

// Workload is what the requests asked for.
type Workload struct {
	PromptTokens Lengths `json:"prompt_tokens"`
	OutputTokens Lengths `json:"output_tokens"`
	Dataset      string  `json:"dataset,omitempty"`
	Graded       int     `json:"graded,omitempty"` // rows of it whose answers are graded
	Prompt       string  `json:"prompt,omitempty"` // the fixed prompt, where one was given
	Seed         uint64  `json:"seed"`
	Forced       bool    `json:"forced_length"` // answers have exactly the number of tokens asked for
	// Capped is whether OutputTokens is the longest answer: answers end by themselves, and are cut there.
	Capped bool `json:"capped_length,omitempty"`
	// CountedPrompt is what the server counted for a prompt of PromptTokens; 0 where it does not count.
	CountedPrompt int `json:"counted_prompt_tokens,omitempty"`
	// Temperature is the sampling temperature asked for; absent for the server's default.
	Temperature Number `json:"temperature,omitzero"`
	// Think is whether thinking was asked for or ruled out; absent for neither.
	Think *bool `json:"think,omitempty"`
	// Conversation is how conversations go on after their first turns, of which PromptTokens are; absent where each
	// request stands alone.
	Conversation *Conversation `json:"conversation,omitempty"`
	// Prefix is the beginning of prompts that they share; absent where no two begin alike.
	Prefix *Prefix `json:"prefix,omitempty"`
}

// First returns the first stage with a role; nil where there is none.
func (r *Run) First(role Role) *Stage {
	if i := slices.IndexFunc(r.Stages, func(s Stage) bool { return s.Role == role }); i >= 0 {
		return &r.Stages[i]
	}
	return nil
}

// Succeeded reports whether a request of any stage succeeded.
func (r *Run) Succeeded() bool {
	return slices.ContainsFunc(r.Stages, func(s Stage) bool { return s.Requests.OK > 0 })
}

// Turns returns the mean number of requests of a session: 1 where each request stands alone.
func (w *Workload) Turns() float64 {
	if w.Conversation == nil {
		return 1
	}
	return max(1, w.Conversation.Turns.Mean)
}

// Pause returns the mean time for which a session waits without a request, for each of its requests; 0 where each
// request stands alone.
func (w *Workload) Pause() time.Duration {
	if w.Conversation == nil {
		return 0
	}
	return Duration(w.Conversation.Pause)
}

// Conversation is how conversations go on after their first turns. Each turn carries all before it, answers included.
type Conversation struct {
	Turns Lengths `json:"turns"` // user messages in a conversation
	// of each message after the first, in tokens; history and template are not counted
	TurnTokens Lengths `json:"turn_tokens"`
	Pause      float64 `json:"pause_s"` // mean time between an answer and the next turn, in seconds
	// RandomPauses is set where pauses are drawn: from Pauses, or else from an exponential distribution. Otherwise all
	// are alike.
	RandomPauses bool     `json:"random_pauses,omitempty"`
	Pauses       *Lengths `json:"pauses_ms,omitempty"` // absent where they are alike or exponentially distributed
}

// Prefix is a beginning that prompts share. It is a part of them: their lengths include it.
type Prefix struct {
	Tokens int  `json:"tokens"`
	Groups int  `json:"groups"`         // prefixes; each prompt's is drawn with equal probability
	Zipf   bool `json:"zipf,omitempty"` // the k-th of them is drawn as often as 1/k says
}

// Hits is how much of the prompts of a window the server's prefix cache could hold, and how much it did: shares of
// their tokens.
type Hits struct {
	// Ideal is the share that the run had sent before: an unlimited cache holds it from the moment on at which it was
	// sent.
	Ideal    Number `json:"ideal,omitzero"`
	Reported Number `json:"reported,omitzero"` // absent where the server does not tell
	Source   string `json:"source,omitempty"`  // of Reported: HitsOfUsage or HitsOfMetrics
	// Contaminated is the share of the requests with far more hits than Ideal: their prompts were not new to the
	// server. Absent where there are none.
	Contaminated Number `json:"contaminated,omitzero"`
}

// Sources of reported hits.
const (
	HitsOfUsage   = "usage"   // of the answers
	HitsOfMetrics = "metrics" // of the server, where other clients count too
)

// Kinds of runs.
const (
	KindSweep = "sweep" // finds where a server saturates
	KindRun   = "run"   // measures the stages that were asked for
	KindPair  = "pair"  // measures one of two servers that are compared
	KindUsers = "users" // finds how many users a server carries
)

// Plan is the configuration of the run.
type Plan struct {
	Kind           string  `json:"kind"` // "sweep", "run" or "pair"
	Points         int     `json:"points,omitempty"`
	Repeats        int     `json:"repeats,omitempty"` // how often each stage is measured; absent for once
	StageTime      float64 `json:"stage_time_s,omitempty"`
	StageRequests  int     `json:"stage_requests,omitempty"`
	MaxConcurrency int     `json:"max_concurrency,omitempty"`
	Budget         float64 `json:"budget_s,omitempty"` // of the whole sweep; absent without one
	Warmup         string  `json:"warmup,omitempty"`
	Drain          float64 `json:"drain_s,omitempty"`
	MaxErrorRate   float64 `json:"max_error_rate,omitempty"`
	Tolerance      float64 `json:"drift_tolerance,omitempty"`
	// Precision is the share of the mean to within which the means of rows were to be known; absent where none was given.
	Precision float64 `json:"precision,omitempty"`

	SLO []string `json:"slo,omitempty"` // objectives: "ttft:p99<500ms"
}

// Client is the state of this program during the run: whether it was fast enough to measure.
type Client struct {
	LagP99     Number      `json:"lag_p99_s,omitzero"`
	CPU        Number      `json:"cpu_fraction,omitzero"` // of all cores
	Timestamps string      `json:"timestamps"`            // "kernel" or "user"
	Valid      bool        `json:"valid"`
	Warnings   []note.Note `json:"warnings,omitempty"`
	// Selftest is the result of the self-test; absent without one.
	Selftest *Selftest `json:"selftest,omitempty"`
}

// Selftest is the load up to which the client can be trusted on its machine. The p99s are those of trusted loads.
type Selftest struct {
	Streams       int    `json:"streams"` // open at once; 0 where the lowest level already failed
	TokensPerS    Number `json:"tokens_per_s,omitzero"`
	ArrivalsPerS  Number `json:"arrivals_per_s,omitzero"`
	StampErrorP99 Number `json:"stamp_error_p99_s,omitzero"`
	LagP99        Number `json:"lag_p99_s,omitzero"` // from when a request was due to when its first byte was written
	CPUPerEvent   Number `json:"cpu_per_event_s,omitzero"`
	Load          Number `json:"load_average,omitzero"` // of the machine, before it began
	// Limit is why the next level failed, and LimitStreams its number of streams; empty and 0 where none failed.
	Limit        string `json:"limit,omitempty"`
	LimitStreams int    `json:"limit_streams,omitempty"`
}

// Lengths is a distribution of lengths in tokens, of numbers of turns or of pauses in milliseconds: fixed, or drawn and
// cut at Min and Max.
type Lengths struct {
	Mean float64 `json:"mean"`
	Std  float64 `json:"std,omitempty"`
	Min  int     `json:"min,omitempty"`
	Max  int     `json:"max,omitempty"`
	// ShapeUniform, ShapeExponential or ShapeLognormal; empty for normal, or fixed where Std is 0
	Shape string `json:"shape,omitempty"`
}

// Shapes of distributions, as flags name them.
const (
	ShapeUniform     = "uniform"   // from Min to Max
	ShapeExponential = "exp"       // above Min
	ShapeLognormal   = "lognormal" // Mean and Std are those of the lengths, not of their logarithms
)
