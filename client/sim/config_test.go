package sim

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"llmsweep/client/testkit"
)

func TestPresets(t *testing.T) {
	for name, want := range map[string]string{
		"Qwen2-7B/L20":                 "Qwen2-7B, L20 x 1, fp16",
		"Qwen2-7B/L20x2/int4":          "Qwen2-7B, L20 x 2, int4",
		"qwen2.5-14b/a100 80gbx4/INT8": "Qwen2.5-14B, A100 80GB x 4, int8",
		"Qwen2-57B-A14B/A100-80GBx2":   "Qwen2-57B-A14B, A100 80GB x 2, fp16",
		"qwen2-72b/h200x2":             "Qwen2-72B, H200 x 2, fp16",
		"Demo":                         "Qwen2-7B, A100 80GB x 1, int4",
	} {
		c, err := Preset(name)
		if got := fmt.Sprintf("%s, %s x %d, %s", c.Model.Name, c.GPU.Name, c.TP, c.Quant); got != want || err != nil {
			t.Errorf("%s is %s, %v", name, got, err)
		}
	}
}

func TestPresetErrorsSayWhatThereIs(t *testing.T) {
	for name, want := range map[string]string{
		"nonsense":            "want MODEL/GPU",
		"gpt-9/L20":           "Qwen2-57B-A14B",
		"Qwen2-7B/T4":         "A100 80GB",
		"qwen2/L20":           "Qwen2-72B", // ambiguous
		"Qwen2-7B/L20/fp4":    "int8",
		"Qwen2-7B/L20x3":      "cannot share",
		"Qwen2-7B/L20x0":      "no GPU",
		"Qwen2-72B/A10":       "leaves no room",
		"Qwen2-7B/L20/int4/x": "want MODEL/GPU",
	} {
		if _, err := Preset(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", name, err, want)
		}
	}
}

func TestConfigsThatCannotBe(t *testing.T) {
	good := testkit.Must(Preset("demo"))
	for name, change := range map[string]func(*MachineConfig){
		"no model":      func(c *MachineConfig) { c.Model = Model{} },
		"no GPU":        func(c *MachineConfig) { c.GPU = GPU{} },
		"small budget":  func(c *MachineConfig) { c.MaxBatchedTokens = c.MaxNumSeqs - 1 },
		"negative":      func(c *MachineConfig) { c.Jitter = -1 },
		"no link":       func(c *MachineConfig) { c.TP, c.GPU.InterconnectBytes = 2, 0 },
		"half a block":  func(c *MachineConfig) { c.KVTokens = c.BlockTokens - 1 },
		"negative seqs": func(c *MachineConfig) { c.MaxNumSeqs = -1 },
	} {
		c := good
		change(&c)
		if err := c.WithDefaults().Validate(); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// TestStepTimeByHand computes StepTime's formula for a decode of 8 sequences at 100 tokens and one chunk of 50.
func TestStepTimeByHand(t *testing.T) {
	c := testkit.Must(Preset("Qwen2-7B/L20x2"))
	b := Batch{Tokens: 58, Samples: 9, Context: 8*100 + 50, Pairs: 8*100 + 50*51/2}
	const params, embedding = 7.616e9, 152064 * 3584.0
	bytes := 2*(params-embedding) + 57344*(850+58.0)
	ops := 2*(params-2*embedding)*58 + 2*embedding*9 + 4*28*3584*float64(b.Pairs)
	want := max(bytes/(0.8*864e9), ops/(0.6*119.5e12))/2 + 1.5e-3 + 56*(10e-6+58*3584*2/32e9)
	if got := c.StepTime(b).Seconds(); math.Abs(got-want) > 1e-9 {
		t.Errorf("%.9f s, want %.9f", got, want)
	}
}

func TestMoreExpertsAreTouchedByMoreTokens(t *testing.T) {
	c := testkit.Must(Preset("Qwen2-57B-A14B/H200x2"))
	c.GPU.PeakFP16 = 1e30 // memory alone
	step := func(tokens int) time.Duration { return c.StepTime(Batch{Tokens: tokens}) - c.StepTime(Batch{}) }
	one := c.Model.ExpertParams * 2 / 8 / (2 * 0.8 * c.GPU.BandwidthBytes) // 8 of 64
	if got := step(1).Seconds(); math.Abs(got/one-1) > 0.01 {
		t.Errorf("one token reads experts for %.6f s, want %.6f", got, one)
	}
	if ratio := float64(step(64)) / float64(step(1)); ratio < 7.9 || ratio > 8.1 {
		t.Errorf("64 tokens read %.2f times the experts of one, want nearly all 8 eighths", ratio)
	}
}

func TestFits(t *testing.T) {
	c := MachineConfig{Model: Models()[0], GPU: GPUs()[0], MaxModelLen: 100, KVTokens: 64}.WithDefaults()
	for _, tc := range []struct {
		prompt, output int
		ok             bool
	}{{50, 15, true}, {50, 16, false}, {90, 11, false}} {
		if err := c.Fits(tc.prompt, tc.output); (err == nil) != tc.ok || err != nil && !errors.Is(err, errTooLong) {
			t.Errorf("%d -> %d: %v", tc.prompt, tc.output, err)
		}
	}
}
