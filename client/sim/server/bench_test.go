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
	s := &server{Options: Options{ReasoningField: "reasoning"}}
	r := request{usage: true, continuous: true, work: sim.Request{PromptTokens: 512, OutputTokens: 1 << 40}}
	a := newAnswer(s, nowhere{}, openAIEndpoint(true), r, 1, "")
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		a.emit(n+1, time.Time{})
		a.sendTokens(n, n+1)
		n++
	}
}
