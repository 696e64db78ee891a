package findings

import (
	"strings"
	"testing"

	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// Turns per second and sessions per second are both told, each with its unit.
func TestSessionRate(t *testing.T) {
	run := &rundir.Run{Stages: []rundir.Stage{{Rates: rundir.Rates{Completed: rundir.Exactly(24)}}}}
	if got := Answer(run, lang.English); len(got) != 0 {
		t.Errorf("single requests: %q", got)
	}
	run.Workload.Conversation = &rundir.Conversation{Turns: rundir.Lengths{Mean: 8}}
	for l, want := range map[lang.Lang]string{
		lang.English: "Rates count turns. A session has 8 turns: 24.00 turns/s are 3.00 sessions/s.",
		lang.Chinese: "速率按轮计。每个会话 8 轮：24.00 轮/s 即 3.00 会话/s。",
	} {
		if got := Answer(run, l); len(got) != 1 || got[0] != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The lengths of a workload tell how its prompts grow and what they share.
func TestLoadBrief(t *testing.T) {
	w := rundir.Workload{PromptTokens: rundir.Lengths{Mean: 256}, OutputTokens: rundir.Lengths{Mean: 64}}
	talk := &rundir.Conversation{Turns: rundir.Lengths{Mean: 8}, TurnTokens: rundir.Lengths{Mean: 96}, Pause: 1}
	random := &rundir.Conversation{Turns: rundir.Lengths{Mean: 4, Std: 2, Min: 1, Max: 9},
		TurnTokens: rundir.Lengths{Mean: 96}, Pause: 0.5, RandomPauses: true}
	untold := &rundir.Conversation{Turns: rundir.Lengths{Mean: 2}} // of another tool
	for _, c := range []struct {
		talk    *rundir.Conversation
		prefix  *rundir.Prefix
		en, zh  string
		english int // parts of Growth
	}{
		{nil, nil, "256 -> 64 tokens", "256 -> 64 token", 0},
		{talk, nil, "8 turns: 256, then +96 -> 64 tokens, think time 1 s", "8 轮：256，之后每轮 +96 -> 64 token，用户停顿 1 s", 1},
		{random, nil, "4±2 (1-9) turns: 256, then +96 -> 64 tokens, think time 0.5 s on average",
			"4±2 (1-9) 轮：256，之后每轮 +96 -> 64 token，用户停顿平均 0.5 s", 1},
		{untold, nil, "256 -> 64 tokens, 2 turns", "256 -> 64 token，2 轮", 1},
		{nil, &rundir.Prefix{Tokens: 128, Groups: 1}, "256 -> 64 tokens, the first 128 tokens shared",
			"256 -> 64 token，前 128 个 token 相同", 1},
		{
			talk, &rundir.Prefix{Tokens: 128, Groups: 4},
			"8 turns: 256, then +96 -> 64 tokens, think time 1 s, the first 128 tokens shared in 4 groups",
			"8 轮：256，之后每轮 +96 -> 64 token，用户停顿 1 s，前 128 个 token 相同（共 4 组）", 2,
		},
	} {
		w.Conversation, w.Prefix = c.talk, c.prefix
		if got := LoadBrief(&w, lang.English); got != c.en {
			t.Errorf("%q, want %q", got, c.en)
		}
		if got := LoadBrief(&w, lang.Chinese); got != c.zh {
			t.Errorf("%q, want %q", got, c.zh)
		}
		if got := Growth(&w, lang.English); len(got) != c.english {
			t.Errorf("%q, want %d parts", got, c.english)
		}
	}
}

// What would decide an SLO is told in the unit of --requests, which counts conversations.
func TestAdviceCountsConversations(t *testing.T) {
	run := &rundir.Run{
		Workload: rundir.Workload{Conversation: &rundir.Conversation{Turns: rundir.Lengths{Mean: 8}}},
		Stages: []rundir.Stage{{
			Name: "concurrent@8", Requests: rundir.Requests{OK: 80}, Rates: rundir.Rates{Completed: rundir.Exactly(10)},
			Goodput: &rundir.Goodput{Terms: []rundir.TermResult{{Term: "ttft:p95<200ms", Needs: 540}}},
		}},
	}
	all := strings.Join(Answer(run, lang.English), "\n")
	if !strings.Contains(all, "about 620 requests would decide it, 78 conversations: --requests 78, or --duration 62s") {
		t.Errorf("%s", all)
	}
}
