package flags

import (
	"cmp"
	"fmt"
)

// presets are the sessions that --workload names: flags, any of which the command line replaces.
var presets = map[string]Workload{
	// Conversations as of LMSYS-Chat-1M: 2.0 turns, 69.5 tokens a prompt and 214.5 an answer on average (Zheng et al.,
	// arXiv 2309.11998). It does not tell the distributions, which are taken for exponential, nor the pauses, which are
	// those of rag.
	"chat": {Turns: "exp:2", PromptTokens: "exp:70", TurnTokens: "exp:70", OutputTokens: "exp:215", ThinkTime: ragPause},

	// Agents that call tools, as the documents of inference-perf configure them (kubernetes-sigs/inference-perf,
	// docs/conversation_replay.md): a system prompt of 8,359 tokens that all share, 5,000 to 45,000 of its own (16,424
	// on average), 38 turns, and tools that take 8 s. The first prompt is their sum with the first message.
	"agent": {
		Turns: "mean=38,std=6,min=25,max=57", PromptTokens: "exp:mean=26435,min=13423,max=77359", PrefixTokens: 8359,
		TurnTokens:   "lognormal:mean=1652,std=3000,min=64,max=24000",
		OutputTokens: "lognormal:mean=585,std=400,min=62,max=3600",
		ThinkTime:    "lognormal:mean=8s,std=6s,min=1s,max=30s",
	},

	// Questions about documents as of RAGPulse, 7,106 requests in 3,990 sessions of a university (flashserve/RAGPulse,
	// arXiv 2511.12979), computed from its trace: first prompts whose first 512 tokens are one of three system prompts,
	// and 1,254 tokens of passages and question in each turn. There, passages are not sent again in later turns; here
	// they are.
	"rag": {
		Turns: "exp:1.8", PromptTokens: "mean=2736,std=857,min=1052,max=5506", PrefixTokens: 512, PrefixGroups: 3,
		TurnTokens: "mean=1254,std=685,max=2331", OutputTokens: "lognormal:mean=283,std=198,max=2183", ThinkTime: ragPause,
	},
}

// ragPause is the time from one request of a session to the next in RAGPulse, of the 93 % that are below 10 minutes.
const ragPause = "lognormal:mean=67s,std=86s,max=600s"

// preset returns the flags, with those of the preset in place of the ones not given.
func (l *Workload) preset() (*Workload, error) {
	if l.Preset == "" {
		return l, nil
	}
	p, ok := presets[l.Preset]
	if !ok {
		return nil, fmt.Errorf("--workload %s is unknown; there are chat, agent and rag (llmsweep run URL --arrivals "+
			"trace:FILE replays a trace)", l.Preset)
	}
	own := *l
	own.Preset = ""
	own.Turns, own.TurnTokens, own.ThinkTime = cmp.Or(l.Turns, p.Turns), cmp.Or(l.TurnTokens, p.TurnTokens),
		cmp.Or(l.ThinkTime, p.ThinkTime)
	own.PromptTokens = cmp.Or(l.PromptTokens, p.PromptTokens)
	if l.PromptTokens == "" {
		own.PrefixTokens, own.PrefixGroups = cmp.Or(l.PrefixTokens, p.PrefixTokens), cmp.Or(l.PrefixGroups, p.PrefixGroups)
	}
	if l.AnswerLimit == 0 {
		own.OutputTokens = cmp.Or(l.OutputTokens, p.OutputTokens)
	}
	return &own, nil
}
