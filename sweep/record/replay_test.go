package record

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client"
	"llmsweep/client/sim"
	"llmsweep/sweep"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/stats"
	"llmsweep/sweep/workload"
)

// traffic is a known workload, and the server that it is measured on.
type traffic struct {
	seed   uint64
	server sim.MachineConfig
	talk   workload.Talk
	shared int // tokens of the system prompt
	groups int // of users with the same
	users  int
}

// words are what texts cost on a [simtest.WordDoer]: the number that opens a prompt is a word.
var words = workload.Calibration{Base: 1, Word: 1, Source: "words"}

// randomTraffic returns the traffic of a seed.
func randomTraffic(t *testing.T, seed uint64) traffic {
	rng := rand.New(rand.NewPCG(seed, 29))
	server := simtest.Preset(t, "Qwen2-7B/L20/fp16")
	server.PrefixCache, server.MaxNumSeqs, server.KVTokens = true, 64, 30_000+rng.IntN(60_000)
	between := func(low, high int) float64 { return float64(low + rng.IntN(high-low+1)) }
	shared := int(between(64, 800))
	first := float64(shared) + between(100, 600)
	return traffic{
		seed: seed, server: server, shared: shared, groups: int(between(1, 6)), users: int(between(4, 24)),
		talk: workload.Talk{
			Turns:  rundir.Lengths{Mean: between(1, 6), Std: between(0, 2), Min: 1, Max: 12},
			First:  rundir.Lengths{Mean: first, Std: between(10, 60)},
			Later:  rundir.Lengths{Mean: between(20, 150), Std: between(5, 15), Min: 4},
			Output: rundir.Lengths{Mean: between(30, 150), Std: between(5, 15), Min: 4},
			Think:  workload.Think{Lengths: rundir.Lengths{Mean: between(500, 4000), Shape: rundir.ShapeExponential}},
		},
	}
}

// source returns the workload as it was.
func (k traffic) source(t *testing.T) workload.Workload {
	w := workload.NewConversations(k.talk, k.seed, words)
	if err := w.Share(k.shared, k.groups); err != nil {
		t.Fatal(err)
	}
	return w
}

// drawn returns a workload that is drawn from a file.
func (k traffic) drawn(t *testing.T, file string) workload.Workload {
	o, err := workload.Open(t.Context(), &workload.Spec{Traffic: file, Seed: k.seed + 1000}, nil, &words)
	if err != nil {
		t.Fatal(err)
	}
	return o.Workload
}

// measure runs the workload with the traffic's users in virtual time. Where file is given, what passes is recorded there, as a recorder does it.
func (k traffic) measure(t *testing.T, w workload.Workload, sessions int, file string) figures {
	t.Helper()
	run, log := &rundir.Run{}, &store.Memory{}
	synctest.Test(t, func(t *testing.T) {
		live, err := sim.Start(k.server)
		if err != nil {
			t.Fatal(err)
		}
		defer live.Close()
		began := time.Now()
		tape := &tape{sessions: newSessions([]byte("salt")), began: began}
		c := sweep.Defaults()
		c.Doer, c.Log, c.Sources, c.Warmup = simtest.WordDoer{VirtualDoer: simtest.VirtualDoer{Live: live}, Passed: tape.passed}, log, w.Stage, experiment.Warmup{}
		run.Workload = w.Describe()
		if err := sweep.Run(t.Context(), c, []experiment.Stage{experiment.NewStage(arrival.Closed{Concurrency: k.users}, sessions, 0)}, run); err != nil {
			t.Fatal(err)
		}
		if file != "" {
			tape.write(t, file)
		}
	})
	return figuresOf(t, &run.Stages[0], log)
}

// tape notes requests as a recorder does.
type tape struct {
	mu       sync.Mutex
	sessions *sessions
	began    time.Time
	all      []rundir.Passed
}

// passed notes a request that has ended.
func (p *tape) passed(call *client.Prepared, res *client.Result) {
	body, _ := json.Marshal(map[string]any{"messages": call.Request.Messages})
	p.mu.Lock()
	defer p.mu.Unlock()
	a := readAsked(body, p.sessions.salt)
	s := p.sessions.of(&a, func() bool { return true })
	p.all = append(p.all, rundir.Passed{
		Timestamp: res.Epoch.Add(res.Sent).Sub(p.began).Milliseconds(), Input: res.PromptTokens, Output: res.OutputTokens,
		Duration: (res.End - res.Sent).Milliseconds(), Hashes: a.blocks, Session: s.id,
	})
}

func (p *tape) write(t *testing.T, file string) {
	t.Helper()
	slices.SortStableFunc(p.all, func(a, b rundir.Passed) int { return int(a.Timestamp - b.Timestamp) })
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, one := range p.all {
		if err := json.NewEncoder(f).Encode(one); err != nil {
			t.Fatal(err)
		}
	}
}

// interval is a value with what it may be.
type interval struct{ value, low, high float64 }

func (i interval) String() string { return fmt.Sprintf("%.4g (%.4g-%.4g)", i.value, i.low, i.high) }

// agrees reports whether two intervals have a value in common.
func (i interval) agrees(k interval) bool { return i.low <= k.high && k.low <= i.high }

// figures are what is compared: TTFT p95, output tokens per second, share of prompt tokens found in the cache.
type figures map[string]interval

// figuresOf returns the figures of a stage. The intervals are by means of batches of time; its beginning, when all users come at once, and its end, when
// they leave, are left out.
func figuresOf(t *testing.T, st *rundir.Stage, log *store.Memory) figures {
	t.Helper()
	const batches = 12
	var ttft [batches][]float64
	var output, cached, prompts [batches]float64
	length := st.Elapsed / batches
	for r, err := range log.Records(st.Name) {
		if err != nil || !r.OK() {
			t.Fatal(err, r)
		}
		b := min(int(r.End.Value()/length), batches-1)
		ttft[b] = append(ttft[b], r.FirstToken.Value()-r.Sent.Value())
		output[b] += r.OutputTokens.Value() / length
		cached[b] += r.CachedTokens.Or(0)
		prompts[b] += r.PromptTokens.Value()
	}
	var p95, rates, hits []float64
	for b := 1; b < batches-1; b++ {
		slices.Sort(ttft[b])
		p95 = append(p95, stats.Quantile(ttft[b], 0.95))
		rates, hits = append(rates, output[b]), append(hits, cached[b]/max(1, prompts[b]))
	}
	around := func(x []float64) interval {
		n := float64(len(x))
		half := stats.StudentQuantile(0.975, n-1) * stats.Deviation(x) / math.Sqrt(n)
		return interval{stats.Mean(x), stats.Mean(x) - half, stats.Mean(x) + half}
	}
	return figures{"TTFT p95": around(p95), "output rate": around(rates), "hit rate": around(hits)}
}

// TestReplayAgrees records known traffic, and measures the same server with sessions drawn from the recording, and from a description of it.
func TestReplayAgrees(t *testing.T) {
	t.Parallel()
	const sessions = 300
	cases := simtest.Evidence(t, 10, 100)
	agree := map[string]int{}
	for seed := range cases {
		k := randomTraffic(t, uint64(seed+1))
		dir := t.TempDir()
		file, small := filepath.Join(dir, rundir.TrafficFile), filepath.Join(dir, "small.json")
		original := k.measure(t, k.source(t), sessions, file)
		d, err := workload.DescribeTraffic(t.Context(), file, 10)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := json.Marshal(d)
		if err := os.WriteFile(small, b, 0o600); err != nil {
			t.Fatal(err)
		}
		for how, from := range map[string]string{"recording": file, "description": small} {
			again := k.measure(t, k.drawn(t, from), sessions, "")
			all := true
			for name, was := range original {
				ok := was.agrees(again[name])
				all = all && ok
				if ok {
					agree[how+", "+name]++
				}
				t.Logf("seed %d, %s: %s was %v, is %v: %v", k.seed, how, name, was, again[name], ok)
			}
			if all {
				agree[how]++
			}
		}
	}
	simtest.Claim(t, "replay of recorded traffic", "TTFT p95, output rate and hit rate all agree with the original: of a recording in 90 % of cases, of a description in 85 %",
		"%d cases: recording %d, description %d", cases, agree["recording"], agree["description"])
	t.Log(agree)
	for how, share := range map[string]float64{"recording": 0.1, "description": 0.15} { // the goal is 0.1 for both
		if float64(cases-agree[how]) > simtest.MayFail(cases, share) {
			t.Errorf("%d of %d cases agree by %s", agree[how], cases, how)
		}
	}
}

var _ load.Doer = simtest.WordDoer{}
