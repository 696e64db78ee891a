package sim

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Quant is how weights are stored and multiplied. The KV cache always has 16 bits.
type Quant string

// The known quantizations.
const (
	FP16 Quant = "fp16" // 2 bytes a weight
	INT8 Quant = "int8" // W8A8: 1 byte a weight, multiplied at PeakINT8
	INT4 Quant = "int4" // W4A16 (AWQ, GPTQ): 4 bits and a 16+4 bit scale and zero per 128, multiplied at PeakFP16
)

// bytes is the size of a weight outside the embeddings.
func (q Quant) bytes() float64 {
	switch q {
	case INT8:
		return 1
	case INT4:
		return (4 + 20.0/128) / 8
	default:
		return 2
	}
}

// The defaults are vLLM's except for the overhead (sampling, scheduling and launching). That was chosen to reproduce
// the synchronous rows of published vLLM tables (TestPublishedRows).
const (
	defaultMaxNumSeqs       = 256
	defaultMaxBatchedTokens = 2048
	defaultBlockTokens      = 16
	defaultMaxModelLen      = 32768
	DefaultStepOverhead     = 1500 * time.Microsecond

	memoryUtilization = 0.9 // of the GPU memory, for weights and KV cache; vLLM's default
)

// MachineConfig is a server: hardware, model and the scheduler's limits. Zero fields have defaults.
type MachineConfig struct {
	GPU   GPU
	Model Model
	Quant Quant // default FP16
	TP    int   // GPUs that share each layer (tensor parallel); default 1

	MaxNumSeqs       int           // sequences running at once
	MaxBatchedTokens int           // token budget of one step, decodes and prompt chunks together; at least MaxNumSeqs
	BlockTokens      int           // tokens of one KV-cache block
	KVTokens         int           // KV-cache size; 0 for what the weights leave of 0.9 of the memory
	MaxModelLen      int           // prompt and output together
	StepOverhead     time.Duration // fixed part of each step
	Jitter           float64       // sigma of a lognormal factor, of mean 1, on each step time; 0: none
	Plain            Plain         // if set, fixed times instead of a GPU and a model
	Habits           Habits        // what the server does wrong
	Seed             uint64        // of the jitter, and of everything random in the answers
	Speculation      Speculation   // of tokens; zero for none
	PrefixCache      bool          // blocks seen before at the head of a prompt cost no prefill
}

// Preset parses MODEL/GPU[xCOUNT][/QUANT], such as "Qwen2-7B/L20x2/int4", "demo", or "plain8".
func Preset(name string) (MachineConfig, error) {
	switch strings.ToLower(name) {
	case "demo":
		return demo()
	case "plain8":
		return plain8(), nil
	}
	parts := strings.Split(name, "/")
	if len(parts) < 2 || len(parts) > 3 {
		return MachineConfig{}, fmt.Errorf("preset %q: want MODEL/GPU[xCOUNT][/fp16|int8|int4], such as "+
			"Qwen2-7B/L20x2/int4, or demo, or plain8", name)
	}
	var c MachineConfig
	var err error
	if c.Model, err = LookupModel(parts[0]); err != nil {
		return MachineConfig{}, fmt.Errorf("preset %q: %w", name, err)
	}
	gpu, count := splitCount(parts[1])
	if c.GPU, err = LookupGPU(gpu); err != nil {
		return MachineConfig{}, fmt.Errorf("preset %q: %w", name, err)
	}
	c.TP = count
	if len(parts) == 3 {
		c.Quant = Quant(strings.ToLower(parts[2]))
	}
	c = c.WithDefaults()
	if err := c.Validate(); err != nil {
		return MachineConfig{}, fmt.Errorf("preset %q: %w", name, err)
	}
	return c, nil
}

func splitCount(s string) (name string, count int) {
	if i := strings.LastIndexAny(s, "xX*"); i > 0 {
		if n, err := strconv.Atoi(s[i+1:]); err == nil && n > 0 {
			return s[:i], n
		}
	}
	return s, 1
}

// demo is a 7B model in 4 bits on one A100 with a small token budget. It serves about 140 requests/s of 64 -> 16
// tokens, many times the synchronous rate. Its limit is the token budget, not the number of sequences: full steps take
// the same time however requests arrived, so its throughput is the same for a burst and for Poisson arrivals. Where
// MaxNumSeqs is the limit, requests of equal length stay in the phase in which they arrived, and the two differ.
func demo() (MachineConfig, error) {
	c, err := Preset("Qwen2-7B/A100/int4")
	if err != nil {
		return MachineConfig{}, err
	}
	c.MaxNumSeqs = 64
	c.MaxBatchedTokens = 160
	c.StepOverhead = 2500 * time.Microsecond
	c.Seed = 1
	return c, nil
}

// WithDefaults returns c with the default in each zero field that has one.
func (c MachineConfig) WithDefaults() MachineConfig {
	c = c.plainDefaults()
	c.Quant = cmp.Or(c.Quant, FP16)
	c.TP = cmp.Or(c.TP, 1)
	c.MaxNumSeqs = cmp.Or(c.MaxNumSeqs, defaultMaxNumSeqs)
	c.MaxBatchedTokens = cmp.Or(c.MaxBatchedTokens, max(defaultMaxBatchedTokens, c.MaxNumSeqs))
	c.BlockTokens = cmp.Or(c.BlockTokens, defaultBlockTokens)
	c.MaxModelLen = cmp.Or(c.MaxModelLen, defaultMaxModelLen)
	c.StepOverhead = cmp.Or(c.StepOverhead, DefaultStepOverhead)
	if c.KVTokens == 0 {
		spare := float64(c.TP)*c.GPU.MemoryBytes*memoryUtilization - c.weightBytes()
		c.KVTokens = int(spare / c.Model.kvBytes())
	}
	return c
}

// weightBytes is the size of the checkpoint: embeddings in 16 bits, the rest as quantized.
func (c MachineConfig) weightBytes() float64 {
	return (c.Model.Params-2*c.Model.embedding())*c.Quant.bytes() + 2*c.Model.embedding()*FP16.bytes()
}

// Validate checks a configuration that has its defaults.
func (c MachineConfig) Validate() error {
	m, g := c.Model, c.GPU
	if err := c.Speculation.validate(); err != nil {
		return err
	}
	if c.IsPlain() {
		m, g = Models()[0], GPUs()[0] // not used
		if err := c.Plain.validate(); err != nil {
			return err
		}
	}
	switch {
	case min(m.Layers, m.Hidden, m.Heads, m.KVHeads, m.HeadDim, m.Vocab) <= 0 || m.Params <= 0 || m.ActiveParams <= 0:
		return errors.New("the configuration has no model, or an incomplete one")
	case min(g.BandwidthBytes, g.PeakFP16, g.PeakINT8) <= 0:
		return errors.New("the configuration has no GPU, or an incomplete one")
	case c.Quant != FP16 && c.Quant != INT8 && c.Quant != INT4:
		return fmt.Errorf("no quantization is called %q; there are fp16, int8, int4", c.Quant)
	case c.TP < 1 || m.Heads%c.TP != 0 || m.KVHeads%c.TP != 0:
		return fmt.Errorf("%d GPUs cannot share the %d attention and %d KV heads of %s", c.TP, m.Heads, m.KVHeads, m.Name)
	case c.TP > 1 && g.InterconnectBytes <= 0:
		return fmt.Errorf("%s has no interconnect to share layers over", g.Name)
	case min(c.MaxNumSeqs, c.BlockTokens, c.MaxModelLen) < 1 || c.StepOverhead < 0 || c.Jitter < 0:
		return errors.New("a limit of the scheduler is negative")
	case c.MaxBatchedTokens < c.MaxNumSeqs:
		return fmt.Errorf("a budget of %d tokens a step cannot serve %d sequences", c.MaxBatchedTokens, c.MaxNumSeqs)
	case c.KVTokens < c.BlockTokens:
		return fmt.Errorf("%s in %s needs %.0f GB and leaves no room for a KV cache on %d x %s",
			m.Name, c.Quant, c.weightBytes()/giga, c.TP, g.Name)
	}
	return nil
}

var errTooLong = errors.New("request too long")

// Fits returns an error where a request of such lengths, in tokens, cannot be served even alone. The last token never
// enters the cache. c must have its defaults.
func (c MachineConfig) Fits(prompt, output int) error {
	if prompt+output > c.MaxModelLen {
		return fmt.Errorf("%w: %d prompt and %d output tokens, the model takes %d", errTooLong, prompt, output, c.MaxModelLen)
	}
	if c.BlocksFor(prompt+output-1) > c.Blocks() {
		return fmt.Errorf("%w: %d prompt and %d output tokens, the KV cache holds %d", errTooLong, prompt, output, c.KVTokens)
	}
	return nil
}

// Blocks returns the size of the KV cache in blocks.
func (c MachineConfig) Blocks() int { return c.KVTokens / c.BlockTokens }

// BlocksFor returns how many blocks of the KV cache a number of tokens takes.
func (c MachineConfig) BlocksFor(tokens int) int { return (tokens + c.BlockTokens - 1) / c.BlockTokens }

// Scheme begins the URL of the embedded server; a preset may follow.
const Scheme = "sim:"
