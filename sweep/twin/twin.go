// Package twin has the simulated copy of a server that was measured: a [Twin], a file that people can read and edit, with which the simulator
// behaves like the server. It predicts what other workloads would do. Package fit makes twins from the records of runs.
//
// The package measures nothing and knows no clock.
package twin

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/goccy/go-yaml"

	"llmsweep/client/input"
	"llmsweep/client/sim"
	"llmsweep/sweep/rundir"
)

// Version is the version of the file format.
const Version = 1

// Twin is a simulated copy of a server: twin.yaml.
type Twin struct {
	Version int      `yaml:"twin" json:"twin"`
	Name    string   `yaml:"name,omitempty" json:"name,omitempty"`
	From    []string `yaml:"from,omitempty,flow" json:"from,omitempty"` // the run directories it was fitted to
	// Measured is when those runs began. By it a run is known again.
	Measured []time.Time `yaml:"measured,omitempty,flow" json:"measured,omitempty"`

	Refined bool `yaml:"refined,omitempty" json:"refined,omitempty"` // by simulation, because the check of the regression failed

	Labels Labels `yaml:"labels,omitempty,flow" json:"labels,omitempty"` // of the runs

	Step       Step    `yaml:"step" json:"step"`
	Slots      int     `yaml:"slots" json:"slots"`                                   // sequences that run at once
	StepTokens int     `yaml:"step_tokens" json:"step_tokens"`                       // token budget of a step, decodes and prompt chunks together
	KVTokens   int     `yaml:"kv_tokens,omitempty" json:"kv_tokens,omitempty"`       // size of the KV cache; left out where it never ran out
	Block      int     `yaml:"block_tokens,omitempty" json:"block_tokens,omitempty"` // tokens of a block of the cache
	LatencyMS  float64 `yaml:"latency_ms" json:"latency_ms"`                         // from sending a request until the engine knows of it
	Jitter     float64 `yaml:"jitter" json:"jitter"`                                 // sigma of a log-normal factor of mean 1 on each step
	MaxTokens  int     `yaml:"max_tokens,omitempty" json:"max_tokens,omitempty"`     // of a prompt and its answer together; left out where it is not known

	Seen      Seen                  `yaml:"seen" json:"seen"`
	Intervals map[string][2]float64 `yaml:"intervals,omitempty,flow" json:"intervals,omitempty"` // 95 % intervals, by the path of the key
	Unknown   []string              `yaml:"unknown,omitempty,flow" json:"unknown,omitempty"`     // keys that the measurement does not identify
	// StageError is how far the times of the stages are off what the costs of all other stages predict: the root of the mean square of the
	// relative errors of this number of stages. It is 0 where none was looked at.
	StageError float64 `yaml:"stage_error,omitempty" json:"stage_error,omitempty"`
	Stages     int     `yaml:"stages,omitempty" json:"stages,omitempty"`
	// Unlike are the stages that were slower or faster than the costs of all others predict, the farthest off first.
	Unlike []Unlike `yaml:"unlike,omitempty,flow" json:"unlike,omitempty"`

	Draws [][]float64 `yaml:"draws,omitempty,flow" json:"draws,omitempty"` // other costs that explain the data as well, in the order of Step's keys
	Check *Check      `yaml:"check,omitempty" json:"check,omitempty"`
}

// Unlike is a stage in which the server was not as fast as in the others.
type Unlike struct {
	Stage string  `yaml:"stage" json:"stage"`
	Off   float64 `yaml:"off" json:"off"` // its time over the predicted one, less 1: above 0 it was slower
}

// Labels say what was measured.
type Labels struct {
	Model  string  `yaml:"model,omitempty" json:"model,omitempty"`
	GPU    string  `yaml:"gpu,omitempty" json:"gpu,omitempty"`
	GPUs   int     `yaml:"gpus,omitempty" json:"gpus,omitempty"`
	Engine string  `yaml:"engine,omitempty" json:"engine,omitempty"`
	Quant  string  `yaml:"quant,omitempty" json:"quant,omitempty"`
	Price  float64 `yaml:"price,omitempty" json:"price,omitempty"` // per GPU-hour
}

// Step is the time of a step: the longer of two sums. See [sim.Costs].
type Step struct {
	Read    Read    `yaml:"read" json:"read"`
	Compute Compute `yaml:"compute" json:"compute"`
}

// Read is the sum for a step that waits for its memory.
type Read struct {
	FixedMS    float64 `yaml:"fixed_ms" json:"fixed_ms"`
	ContextUS  float64 `yaml:"context_us" json:"context_us"` // per 1000 tokens in the cache
	TokenUS    float64 `yaml:"token_us" json:"token_us"`
	ExpertsMS  float64 `yaml:"experts_ms,omitempty" json:"experts_ms,omitempty"`
	ExpertMiss float64 `yaml:"expert_miss,omitempty" json:"expert_miss,omitempty"`
}

// Compute is the sum for a step that waits for its arithmetic.
type Compute struct {
	FixedMS  float64 `yaml:"fixed_ms" json:"fixed_ms"`
	TokenUS  float64 `yaml:"token_us" json:"token_us"`
	SampleUS float64 `yaml:"sample_us" json:"sample_us"`
	PairNS   float64 `yaml:"pair_ns" json:"pair_ns"` // per 1000 pairs of a query and a key
}

// Seen is the range that was measured. Beyond it a prediction is an extrapolation.
type Seen struct {
	Prompt     [2]int `yaml:"prompt_tokens,flow" json:"prompt_tokens"`
	Output     [2]int `yaml:"output_tokens,flow" json:"output_tokens"`
	Batch      int    `yaml:"batch" json:"batch"`             // most sequences in a step
	StepTokens int    `yaml:"step_tokens" json:"step_tokens"` // most tokens in a step
	KVTokens   int    `yaml:"kv_tokens" json:"kv_tokens"`     // most tokens in the cache
	Steps      int    `yaml:"steps" json:"steps"`             // steps from which the costs were fitted
}

// units of the file, in seconds.
const (
	milli    = 1e-3
	kilo     = 1e-6 / 1000 // a microsecond per 1000
	micro    = 1e-6
	nanoKilo = 1e-9 / 1000
)

// stepOf returns costs as the file has them.
func stepOf(c sim.Costs) Step {
	return Step{
		Read{round(c.Read.Fixed / milli), round(c.Read.Context / kilo), round(c.Read.Token / micro), round(c.Read.Experts / milli), c.Read.ExpertMiss},
		Compute{round(c.Compute.Fixed / milli), round(c.Compute.Token / micro), round(c.Compute.Sample / micro), round(c.Compute.Pair / nanoKilo)},
	}
}

// round keeps six digits: more say nothing.
func round(v float64) float64 {
	if v == 0 {
		return 0
	}
	scale := math.Pow(10, 5-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*scale) / scale
}

// costs returns the step's costs in seconds.
func (s Step) costs() sim.Costs {
	return sim.Costs{
		Read: sim.ReadCosts{Fixed: s.Read.FixedMS * milli, Context: s.Read.ContextUS * kilo, Token: s.Read.TokenUS * micro,
			Experts: s.Read.ExpertsMS * milli, ExpertMiss: s.Read.ExpertMiss},
		Compute: sim.ComputeCosts{Fixed: s.Compute.FixedMS * milli, Token: s.Compute.TokenUS * micro, Sample: s.Compute.SampleUS * micro,
			Pair: s.Compute.PairNS * nanoKilo},
	}
}

// Values returns the step's numbers in the order of its keys, and their paths.
func (s Step) Values() ([]float64, []string) {
	return []float64{s.Read.FixedMS, s.Read.ContextUS, s.Read.TokenUS, s.Read.ExpertsMS, s.Compute.FixedMS, s.Compute.TokenUS, s.Compute.SampleUS, s.Compute.PairNS},
		[]string{"step.read.fixed_ms", "step.read.context_us", "step.read.token_us", "step.read.experts_ms",
			"step.compute.fixed_ms", "step.compute.token_us", "step.compute.sample_us", "step.compute.pair_ns"}
}

// WithValues returns the step with other numbers, in the order of Values.
func (s Step) WithValues(v []float64) Step {
	s.Read.FixedMS, s.Read.ContextUS, s.Read.TokenUS, s.Read.ExpertsMS = v[0], v[1], v[2], v[3]
	s.Compute.FixedMS, s.Compute.TokenUS, s.Compute.SampleUS, s.Compute.PairNS = v[4], v[5], v[6], v[7]
	return s
}

// Config returns the simulated server.
func (t *Twin) Config() sim.MachineConfig { return t.with(t.Step) }

func (t *Twin) with(s Step) sim.MachineConfig {
	c := s.costs()
	return sim.MachineConfig{
		Costs: &c, MaxNumSeqs: t.Slots, MaxBatchedTokens: max(t.StepTokens, t.Slots), KVTokens: t.KVTokens, BlockTokens: t.Block,
		MaxModelLen: t.MaxTokens, Latency: rundir.Duration(t.LatencyMS * milli), Jitter: t.Jitter, Seed: 1,
		Model: sim.Model{Name: t.Name},
	}
}

// errVersion is the error of a file of another version, or of none.
var errVersion = errors.New("it does not begin with the line twin: 1; llmsweep fit writes such files")

// Limits of a twin's numbers, beyond anything that was measured: a typing error is not to be simulated.
const (
	mostSlots  = 1_000_000
	mostTokens = 1_000_000_000_000
	mostBlock  = 1_000_000 // tokens; the simulator counts what the sequences need by their place in a block
	mostMS     = 1e7       // of each cost, in the unit of its key
	mostJitter = 3
)

// validate refuses what the simulator cannot run.
func (t *Twin) validate() error {
	if t.Version != Version {
		return errVersion
	}
	if t.Slots < 1 || t.StepTokens < 1 {
		return errors.New("slots and step_tokens must be at least 1")
	}
	if t.Slots > mostSlots || t.StepTokens > mostTokens || t.KVTokens > mostTokens || t.MaxTokens > mostTokens {
		return fmt.Errorf("slots must be at most %d, and numbers of tokens at most %d", mostSlots, mostTokens)
	}
	if t.Block > mostBlock {
		return fmt.Errorf("block_tokens is %d: it must be at most %d", t.Block, mostBlock)
	}
	steps, paths := t.Step.Values()
	for i, v := range append(steps, t.LatencyMS) {
		if !(v >= 0 && v <= mostMS) { // NaN too
			return fmt.Errorf("%s is %v: it must be a number between 0 and %.0e", append(paths, "latency_ms")[i], v, float64(mostMS))
		}
	}
	if !(t.Jitter >= 0 && t.Jitter <= mostJitter) {
		return fmt.Errorf("jitter is %v: it must be between 0 and %d", t.Jitter, mostJitter)
	}
	if t.LatencyMS < 0 || t.Jitter < 0 || t.KVTokens < 0 || t.Block < 0 || t.MaxTokens < 0 || t.StageError < 0 || t.Stages < 0 {
		return errors.New("a number in it is negative")
	}
	for i, d := range t.Draws {
		if n, _ := t.Step.Values(); len(d) != len(n) {
			return fmt.Errorf("draw %d has %d numbers and not %d", i+1, len(d), len(n))
		}
	}
	_, err := sim.NewSimulation(t.Config())
	return err
}

// Open reads a twin.
func Open(path string) (*Twin, error) {
	b, err := input.ReadFile(path, mostBytes)
	if err != nil {
		return nil, err
	}
	t, err := parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s is not a twin: %w; llmsweep fit writes one from a run directory", path, err)
	}
	return t, nil
}

// mostBytes is the size of the largest file that is read.
const mostBytes = 1 << 20

func parse(b []byte) (*Twin, error) {
	if len(b) > mostBytes {
		return nil, errors.New("it is larger than 1 MiB")
	}
	t := &Twin{}
	if err := yaml.NewDecoder(bytes.NewReader(b), yaml.Strict()).Decode(t); err != nil {
		return nil, errors.New(plain(err))
	}
	if err := writtenZeros(b); err != nil {
		return nil, err
	}
	return t, t.validate()
}

// writtenZeros refuses 0 for a size that may be left out: a key that is left out stands for a default, and 0 would silently do so too.
func writtenZeros(b []byte) error {
	var written struct {
		KVTokens  *int `yaml:"kv_tokens"`
		Block     *int `yaml:"block_tokens"`
		MaxTokens *int `yaml:"max_tokens"`
	}
	if err := yaml.Unmarshal(b, &written); err != nil {
		return errors.New(plain(err))
	}
	for key, v := range map[string]*int{"kv_tokens": written.KVTokens, "block_tokens": written.Block, "max_tokens": written.MaxTokens} {
		if v != nil && *v == 0 {
			return fmt.Errorf("%s is 0: it must be at least 1; leave the key out where the size is not known", key)
		}
	}
	return nil
}

// plain returns the first line of an error of the YAML decoder: the rest is a picture of the file.
func plain(err error) string {
	line, _, _ := bytes.Cut([]byte(err.Error()), []byte("\n"))
	return string(line)
}

// Encode returns the file.
func (t *Twin) Encode() ([]byte, error) {
	b, err := yaml.Marshal(t)
	return append([]byte(header), b...), err
}

const header = `# A simulated copy of a server, made by llmsweep fit. Use it as sim:FILE. Numbers may be edited; see llmsweep help fit.
# A step takes the longer of two sums, read and compute; context_us and pair_ns are per 1000.
`

// FittedTo reports whether the twin was fitted to the run that began at an instant.
func (t *Twin) FittedTo(began time.Time) bool {
	return slices.ContainsFunc(t.Measured, func(m time.Time) bool { return m.Equal(began.Truncate(time.Second)) })
}

// Latency returns the time from sending a request until the engine knows of it.
func (t *Twin) Latency() time.Duration { return rundir.Duration(t.LatencyMS * milli) }
