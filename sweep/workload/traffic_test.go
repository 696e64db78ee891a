package workload

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"llmsweep/sweep/simtest"
)

// recordedTraffic is three sessions: two that share the first block of 64 tokens, and so about 96 tokens, one of them with two turns, and a stranger who pauses for an hour.
const recordedTraffic = `{"timestamp":0,"input_length":96,"output_length":10,"duration":500,"hash_ids":[1,2],"session":0}
{"timestamp":1000,"input_length":160,"output_length":20,"duration":500,"hash_ids":[1,3,4],"session":1}
{"timestamp":2500,"input_length":160,"output_length":30,"duration":500,"hash_ids":[1,2,5],"session":0}
{"timestamp":3000,"input_length":32,"output_length":5,"duration":0,"hash_ids":[9],"session":2}
{"timestamp":3603000,"input_length":96,"output_length":5,"duration":0,"hash_ids":[9,10],"session":2}
`

// TestTraffic draws sessions from a recording: each is one of it, with its lengths and pauses, and shares what it shared.
func TestTraffic(t *testing.T) {
	path := filepath.Join(t.TempDir(), "traffic.jsonl")
	if err := os.WriteFile(path, []byte(recordedTraffic), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := openTraffic(t.Context(), path, 7, Calibration{Base: 0, Word: 1})
	if err != nil {
		t.Fatal(err)
	}
	if d := w.Describe(); math.Abs(d.Turns()-5./3) > 1e-9 || d.PromptTokens.Mean != 96 || d.OutputTokens.Mean != 14 || d.Conversation.Pause != (2+600)/2 {
		t.Errorf("%+v %+v", d, d.Conversation)
	}
	if n := w.Notes(); len(n) != 2 || n[1].Code != noteLongPauses.Code {
		t.Errorf("%v", n)
	}
	began, drawn := map[string]int{}, 300
	for i, s := range simtest.TakeTexts(t, w.Stage("a"), drawn) {
		first := s.Turns[0]
		if n := len(strings.Fields(first.User)) - 1; n != first.PromptTokens {
			t.Fatalf("a prompt of %d words for %d tokens", n, first.PromptTokens)
		}
		head := strings.Join(strings.Fields(first.User)[:min(64, first.PromptTokens)], " ")
		switch first.PromptTokens {
		case 96:
			if got := s.Turns[1]; len(s.Turns) != 2 || got.PromptTokens != 160-106 || got.OutputTokens != 30 || got.Think != 2*time.Second {
				t.Fatalf("%+v", got)
			}
		case 160:
			if len(s.Turns) != 1 || first.OutputTokens != 20 {
				t.Fatalf("%+v", s)
			}
		case 32:
			if s.Turns[1].Think != longestPause || s.Repeats != 0 {
				t.Fatalf("%+v", s)
			}
			if began[head]++; began[head] > 1 {
				t.Fatal("a prompt that shared nothing was sent twice")
			}
			continue
		default:
			t.Fatalf("%+v", s)
		}
		if began[head]++; (s.Repeats == 96) != (began[head] > 1) {
			t.Fatalf("session %d: %d tokens repeat", i, s.Repeats)
		}
	}
	if n := w.Stage("a"); n == nil || len(began) < 50 || len(began) > 150 {
		t.Errorf("%d beginnings in %d sessions of which a third is alone", len(began), drawn)
	}
}

// TestTrafficAlone: a trace without sessions is one of single requests.
func TestTrafficAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace.jsonl")
	if err := os.WriteFile(file, []byte(mooncake), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := openTraffic(t.Context(), file, 7, Guess)
	if err != nil {
		t.Fatal(err)
	}
	if d := w.Describe(); d.Conversation != nil || d.Turns() != 1 {
		t.Errorf("%+v", d)
	}
	for _, s := range simtest.TakeTexts(t, w.Stage("a"), 10) {
		if len(s.Turns) != 1 {
			t.Errorf("%d turns", len(s.Turns))
		}
	}
}
