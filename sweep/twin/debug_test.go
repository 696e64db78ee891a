package twin

import (
	"os"
	"strconv"
	"testing"

	"llmsweep/client/sim"
	"llmsweep/sweep/load"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/virtual"
)

func TestDebug(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("TWIN_SEED"))
	if n == 0 {
		t.Skip()
	}
	k := simtest.Random(uint64(n))
	t.Log(k)
	simtest.Beside(t, k.Server, func(t *testing.T, d load.Doer) { t.Log("KV", d.(virtual.Doer).Live.Config().KVTokens) })
	data := dataOf(swept(t, k.Server, k.Work.Prompt, k.Work.Output))
	for _, d := range data {
		for _, b := range []int{1024, 2048, 4096} {
			r := replayOf(d.all, d.ticks, limits{k.Server.MaxNumSeqs, b})
			held, run := 0, 0
			for i := range r.held {
				held, run = max(held, r.held[i]), max(run, r.running[i])
			}
			t.Logf("%s B=%d requests %d ticks %d prompts %d misses %d blocked %d preempts %d held %d run %d seen %d", d.Name, b, len(d.all), len(d.ticks), r.prompts, r.misses, len(r.blocked), r.preempts, held, run, len(r.seen))
			if b == 2048 && len(r.blocked) > 5 {
				t.Log(r.blocked[:5])
			}
		}
	}
}

func TestDebugCosts(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("TWIN_SEED"))
	if n == 0 {
		t.Skip()
	}
	k := simtest.Random(uint64(n))
	tw, err := Fit(swept(t, k.Server, k.Work.Prompt, k.Work.Output))
	if err != nil {
		t.Fatal(err)
	}
	b, _ := tw.Encode()
	t.Logf("%v\n%s", k, b)
	c := tw.Config()
	for _, b := range []sim.Batch{{Tokens: 1, Samples: 1, Context: 500, Pairs: 500}, {Tokens: 8, Samples: 8, Context: 8 * 500, Pairs: 8 * 500}, {Tokens: 8, Samples: 8, Context: 8 * 2000, Pairs: 8 * 2000},
		{Tokens: 128, Samples: 8, Context: 8 * 500, Pairs: 8 * 500}, {Tokens: 512, Samples: 1, Context: 512, Pairs: 512 * 256}, {Tokens: 2048, Samples: 1, Context: 2048, Pairs: 2048 * 1024}, {Tokens: 2048, Samples: 8, Context: 4096, Pairs: 2048 * 3072}} {
		t.Logf("%+v: %v, twin %v", b, k.Server.StepTime(b), c.StepTime(b))
	}
}
