package sweep

import (
	"context"
	"math/rand/v2"
	"strings"

	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/stats"
)

// Server sweeps a server with the settings of [Defaults], keeps what is measured in memory, and returns it. The
// requests ask for 128 tokens to prompts of 512 words, no two of which are alike ([Words]). change, which may be nil,
// changes the settings. In the virtual time of testing/synctest it sets Waiter to nil.
//
// This is for programs that embed a sweep; d is a [llmsweep/client.Client], or anything else that answers requests. The
// error is this program's own: how the sweep ended is in the run's State and Failure.
func Server(ctx context.Context, d load.Doer, change func(*Config)) (*rundir.Run, error) {
	exact := load.NewExactTimer()
	defer exact.Close()
	c := Defaults()
	c.Doer, c.Log, c.Waiter, c.Sources = d, &store.Memory{}, exact, Words(512, 128, c.Seed)
	if change != nil {
		change(&c)
	}
	run := &rundir.Run{}
	return run, Sweep(ctx, c, run)
}

// Words returns a source for each stage: requests with prompts of random words and a number of tokens asked for. Most
// servers count about a token for each word.
func Words(prompt, output int, seed uint64) func(stage string) load.Source {
	return func(stage string) load.Source {
		return &words{rng: stats.Rand(seed, "words", stage), prompt: prompt, output: output}
	}
}

type words struct {
	rng            *rand.Rand
	prompt, output int
}

func (w *words) Next() (load.Session, bool) {
	all := strings.Fields("river stone market window garden music winter bread paper cloud")
	text := make([]string, w.prompt)
	for i := range text {
		text[i] = all[w.rng.IntN(len(all))]
	}
	return load.Session{Turns: []load.Turn{{User: strings.Join(text, " "), PromptTokens: w.prompt,
		OutputTokens: w.output}}}, true
}
