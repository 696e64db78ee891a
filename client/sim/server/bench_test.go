package server

import (
	"net/http"
	"testing"
	"time"

	"llmsweep/client/sim"
)

// nowhere is a connection without a system call.
type nowhere struct{ http.ResponseWriter }

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (nowhere) Flush()                      {}

// BenchmarkChunk is the cost of one token's chunk, without the write.
func BenchmarkChunk(b *testing.B) {
	s := &Host{Options: Options{ModelID: "Qwen2-7B", ReasoningField: "reasoning"}}
	r := request{Chat: true, Usage: true, ContinuousUsage: true, Work: sim.Request{PromptTokens: 512, OutputTokens: 1 << 40}}
	a := newAnswer(s, nowhere{}, chatEndpoint(vllmStyle()), r, 1, "", false)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		a.Emit(n+1, time.Time{})
		a.Send(a.Encoder.Tokens(n, n+1)...)
		n++
	}
}
