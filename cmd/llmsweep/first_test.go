package main

import (
	"os"
	"testing"
)

func TestScratch(t *testing.T) {
	out := os.Getenv("SCRATCH")
	if out == "" {
		t.Skip()
	}
	inBubble(t, out, func(t *testing.T, w *world) {
		o, e := w.must("sweep", "sim:Qwen2-7B/L20", "--out", w.path("run"), "--label", "model=Qwen2-7B-Instruct,gpu=L20 48GB,gpus=1,engine=vLLM", "--plain", "--no-selftest")
		os.WriteFile(out+"/out.txt", []byte(o), 0o644)
		os.WriteFile(out+"/err.txt", []byte(e), 0o644)
	})
}
