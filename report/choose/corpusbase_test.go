package choose

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client/sim"
)

// The sweeps of known truth that the documents of the corpus are made of are simulated once and kept: `go test ./report/choose -run CorpusBase
// -corpus` writes them again. Each is measured as GuideLLM does: a synchronous stage, a burst, and nine Poisson rates in between, of two minutes each.
var makeCorpus = flag.Bool("corpus", false, "simulate the sweeps of the corpus again")

const corpusFile = "testdata/corpus.json"

// baseSweep is a sweep of known truth.
type baseSweep struct {
	Model, GPU, Engine, Quant string
	GPUs                      int
	Rows                      []baseRow
}

// baseRow is a row of it, with times in seconds. Rate is 0 for one request at a time, and -1 for the burst.
type baseRow struct{ Rate, Done, Latency, TTFT, Gap, Output float64 }

func TestCorpusBase(t *testing.T) {
	if !*makeCorpus {
		t.Skip("only with -corpus")
	}
	var all []baseSweep
	for i, c := range []struct {
		preset, engines string
	}{
		{"Qwen2-7B/L20", "vsl"}, {"Qwen2-7B/L20/int4", "v"}, {"Qwen2-7B/L20x2", "vs"}, {"Qwen2-7B/A100", "vl"}, {"Qwen2-7B/A100/int4", "v"}, {"Qwen2-7B/A100/int8", "v"}, {"Qwen2-7B/A10x2/int4", "vs"},
		{"Qwen2.5-14B/L20", "v"}, {"Qwen2.5-14B/L20x2", "vs"}, {"Qwen2.5-14B/L20x4", "v"}, {"Qwen2.5-14B/A100", "vl"}, {"Qwen2.5-14B/L20/int4", "v"}, {"Qwen2.5-14B/A100/int4", "v"}, {"Qwen2.5-14B/A100x2", "v"},
		{"Qwen2-72B/L20x4", "v"}, {"Qwen2-72B/L20x8", "vsl"}, {"Qwen2-72B/A100x4", "vs"}, {"Qwen2-72B/A100x2/int4", "v"}, {"Qwen2-72B/A100x4/int4", "v"}, {"Qwen2-72B/A100x8", "v"}, {"Qwen2-72B/L20x4/int8", "v"},
	} {
		for j, e := range c.engines {
			server, err := sim.Preset(c.preset)
			if err != nil {
				t.Fatal(err)
			}
			s := baseSweep{Model: server.Model.Name + "-Instruct", GPU: server.GPU.Name, GPUs: server.TP, Engine: map[rune]string{'v': "vLLM", 's': "SGLang", 'l': "lmdeploy"}[e]}
			if server.Quant != sim.FP16 {
				s.Quant = map[sim.Quant]string{sim.INT4: "AWQ", sim.INT8: "GPTQ-Int8"}[server.Quant]
			}
			server.MaxNumSeqs = 256
			server.Jitter = 0.02 + 0.02*float64(i%3)
			server.Seed = uint64(i*10 + j)
			server.StepOverhead = map[rune]time.Duration{'v': 6, 's': 2, 'l': 4}[e] * time.Millisecond
			s.Rows = baseRows(t, server, rand.New(rand.NewPCG(uint64(i), uint64(j))), (i+j)%2 == 0)
			t.Log(c.preset, s.Engine, s.Rows)
			all = append(all, s)
		}
	}
	var lines []string
	for _, s := range all {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(b))
	}
	if err := os.WriteFile(corpusFile, []byte("[\n"+strings.Join(lines, ",\n")+"\n]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// baseRows measures a server.
func baseRows(t *testing.T, server sim.MachineConfig, rng *rand.Rand, forced bool) []baseRow {
	floor := baseStage(t, server, rng, forced, 0)
	top := baseStage(t, server, rng, forced, -1)
	more := 1 + 0.15*rng.Float64()
	top.Done, top.Output = top.Done*more, top.Output*more // a burst counts what a steady load does not reach, so that the highest rates are overloads
	rows := []baseRow{floor}
	for k := 1; k <= 9; k++ {
		rows = append(rows, baseStage(t, server, rng, forced, math.Round(100*(floor.Done+float64(k)*(top.Done-floor.Done)/9))/100))
	}
	return append(rows, top)
}

// baseStage measures one rate for two minutes. Only requests that end within them count.
func baseStage(t *testing.T, server sim.MachineConfig, rng *rand.Rand, forced bool, rate float64) (row baseRow) {
	synctest.Test(t, func(t *testing.T) {
		const length = 120 * time.Second
		live, err := sim.Start(server)
		if err != nil {
			t.Fatal(err)
		}
		defer live.Close()
		ctx, cancel := context.WithTimeout(context.Background(), length)
		defer cancel()
		start := time.Now()
		var mu sync.Mutex
		var n, tokens, latency, ttft, gaps float64
		one := func(output int) {
			due := time.Now()
			var first, last time.Time
			got := 0
			_, err := live.Generate(ctx, sim.Request{PromptTokens: 512, OutputTokens: output}, func(k int, at time.Time) {
				if first.IsZero() {
					first = at
				}
				last, got = at, k
			})
			mu.Lock()
			defer mu.Unlock()
			if err == nil && got > 1 {
				n, tokens, latency, ttft = n+1, tokens+float64(got), latency+last.Sub(due).Seconds(), ttft+first.Sub(due).Seconds()
				gaps += last.Sub(first).Seconds() / float64(got-1)
			}
		}
		output := func() int {
			if forced {
				return 128
			}
			return min(128, max(20, int(118+8*rng.NormFloat64())))
		}
		var wg sync.WaitGroup
		switch {
		case rate == 0:
			for ctx.Err() == nil {
				one(output())
			}
		case rate < 0:
			for range 300 {
				k := output()
				wg.Go(func() {
					for ctx.Err() == nil {
						one(k)
					}
				})
			}
		default:
			for at := rng.ExpFloat64() / rate; at < length.Seconds(); at += rng.ExpFloat64() / rate {
				time.Sleep(time.Until(start.Add(time.Duration(at * 1e9))))
				k := output()
				wg.Go(func() { one(k) })
			}
		}
		wg.Wait()
		s := length.Seconds()
		row = baseRow{Rate: rate, Done: n / s, Latency: latency / n, TTFT: ttft / n, Gap: gaps / n, Output: tokens / s}
	})
	return row
}

// corpusBase reads the sweeps.
func corpusBase(t *testing.T) (all []baseSweep) {
	t.Helper()
	b, err := os.ReadFile(corpusFile)
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (s baseSweep) String() string {
	return fmt.Sprintf("%s %s %d x %s %s", s.Model, s.Quant, s.GPUs, s.GPU, s.Engine)
}
