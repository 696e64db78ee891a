package sim

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// BenchmarkStep is the scheduler's cost of one step under load.
func BenchmarkStep(b *testing.B) {
	for _, batch := range []int{32, 256} {
		b.Run(fmt.Sprint(batch), func(b *testing.B) {
			c, err := Preset("Qwen2-7B/H100")
			if err != nil {
				b.Fatal(err)
			}
			c.MaxNumSeqs = batch
			e := newEngine(c)
			ended := 0
			for range 2 * batch {
				l := &load{engine: e, ended: &ended}
				l.sequence = sequence{client: l, prompt: 512, output: 128}
				e.add(&l.sequence)
			}
			b.ReportAllocs()
			for b.Loop() {
				e.plan()
				e.complete()
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
		})
	}
}

func BenchmarkCapacity(b *testing.B) {
	for _, bc := range []struct {
		preset string
		work   Workload
	}{
		{"demo", Workload{64, 16}},
		{"Qwen2-7B/L20", Workload{512, 128}},
		{"Qwen2-7B/H200", Workload{32000, 700}},
		{"Qwen2-57B-A14B/A100x2", Workload{512, 16000}},
		{"Qwen2.5-14B/L20", Workload{2000, 2000}},
	} {
		b.Run(fmt.Sprintf("%s/%d-%d", bc.preset, bc.work.PromptTokens, bc.work.OutputTokens), func(b *testing.B) {
			c, err := Preset(bc.preset)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				c.Capacity(bc.work)
			}
		})
	}
}

// nowhere is a connection without a system call.
type nowhere struct{ http.ResponseWriter }

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (nowhere) Flush()                      {}

// BenchmarkChunk is the cost of one token's chunk, besides the write.
func BenchmarkChunk(b *testing.B) {
	s := &server{options: ServerOptions{ModelID: "Qwen2-7B", ReasoningField: "reasoning"}, words: quotedWords()}
	j := job{chat: true, usage: true, continuousUsage: true, seq: Seq{PromptTokens: 512, OutputTokens: 1 << 40}}
	a := &answer{server: s, job: j, api: chatAPI(vllmManners()), w: nowhere{}, out: http.NewResponseController(nowhere{}), more: make(chan struct{}, 1)}
	a.voice = a.api.voice(a)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		a.emit(n+1, time.Time{})
		a.send(a.voice.tokens(n, n+1))
		n++
	}
}

func BenchmarkTokenize(b *testing.B) {
	text := ""
	for n := range 4096 {
		text += words[wordAt(1, n)]
	}
	b.SetBytes(int64(len(text)))
	var ids []uint32
	for b.Loop() {
		ids = appendTokens(ids[:0], text, 152064)
	}
}
