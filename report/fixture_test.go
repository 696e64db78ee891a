package report

import (
	"fmt"
	"time"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// dist is a distribution of n samples around a mean, long in its tail.
func dist(n int, mean, p99 float64) rundir.Dist {
	if n == 0 {
		return rundir.Dist{}
	}
	at := func(f float64) rundir.Number { return rundir.Exactly(mean + f*(p99-mean)) }
	d := rundir.Dist{
		N: n, Mean: rundir.Exactly(mean), Std: rundir.Exactly((p99 - mean) / 2.5), Min: rundir.Exactly(mean * 0.8),
		Max: at(1.2), P50: rundir.Exactly(mean * 0.97), P90: at(0.55), P95: at(0.7), P99: rundir.Exactly(p99), P999: at(1.15),
		Neff: rundir.Exactly(float64(n)),
	}
	for _, p := range []struct {
		name string
		tail float64
	}{{"p90", 0.1}, {"p95", 0.05}, {"p99", 0.01}, {"p999", 0.001}} {
		if float64(n)*p.tail < 5 {
			d.Unsupported = append(d.Unsupported, p.name)
		}
	}
	return d
}

// boundedDist makes d's mean and its upper percentiles lower bounds.
func boundedDist(d rundir.Dist, bound float64, censored int) rundir.Dist {
	for _, f := range []*rundir.Number{&d.Mean, &d.Max, &d.P95, &d.P99, &d.P999} {
		*f = rundir.Over(bound)
	}
	d.Censored = censored
	return d
}

// measured is a whole stage; times in milliseconds, but for the latency.
func measured(name, kind string, role rundir.Role, verdict rundir.Verdict, asked, done, latency, ttft, ttft99, itl,
	itl99, output, inFlight float64) rundir.Stage {
	const window = 60
	n := int(done * window)
	s := rundir.Stage{
		Name: name, Kind: kind, Role: role, State: rundir.Complete, Verdict: verdict, WindowFrom: 4.5, Window: window,
		Elapsed:  68,
		Requests: rundir.Requests{Due: n, Sent: n, OK: n},
		Rates:    rundir.Rates{Sent: rundir.Exactly(done), Completed: rundir.Exactly(done)},
		TokensPerS: rundir.TokenRates{Output: rundir.Exactly(output), Input: rundir.Exactly(done * 512),
			Total: rundir.Exactly(output + done*512)},
		Latency:      dist(n, latency, latency*1.4),
		TTFT:         dist(n, ttft/1e3, ttft99/1e3),
		TTFTDue:      dist(n, ttft/1e3+1e-4, ttft99/1e3+2e-4),
		TPOT:         dist(n, itl/1e3, itl99/1e3*0.95),
		ITL:          dist(n*127, itl/1e3, itl99/1e3),
		Lag:          dist(n, 4e-5, 2e-4),
		Concurrency:  rundir.Concurrency{Mean: rundir.Exactly(inFlight), Peak: int(inFlight*1.6) + 1},
		OutputTokens: rundir.TokenStats{N: n, Mean: rundir.Exactly(128), Min: rundir.Exactly(128), Max: rundir.Exactly(128)},
		PromptTokens: rundir.TokenStats{N: n, Mean: rundir.Exactly(512), Min: rundir.Exactly(512), Max: rundir.Exactly(512)},
		InterToken:   rundir.Exactly(itl / 1e3), AskedTokens: rundir.Exactly(128), TokensPerChunk: rundir.Exactly(1),
		TokenSource: "server",
	}
	if asked > 0 {
		s.Rate = rundir.Exactly(asked)
		s.Rates.Offered = rundir.Exactly(asked * 0.994)
	}
	return s
}

func poisson(role rundir.Role, verdict rundir.Verdict, asked, done, latency, ttft, ttft99, itl, itl99, output,
	inFlight float64) rundir.Stage {
	return measured(fmt.Sprintf("asynchronous@%.2f", asked), "poisson", role, verdict, asked, done, latency, ttft, ttft99,
		itl, itl99, output, inFlight)
}

// hold is a stage that narrows the answer.
func hold(verdict rundir.Verdict, asked, done, latency, ttft, ttft99, itl, itl99, output,
	inFlight float64) rundir.Stage {
	s := poisson(rundir.Hold, verdict, asked, done, latency, ttft, ttft99, itl, itl99, output, inFlight)
	s.Name = fmt.Sprintf("%s%.2f", rundir.HoldPrefix, asked)
	s.Window = 175
	return s
}

// sweptRun is a whole sweep: eleven rows and two holds, saturated at the end, its two highest rates censored.
func sweptRun() rundir.Run {
	run := blankRun()
	run.State, run.Ended = rundir.Complete, run.Started.Add(13*time.Minute+24*time.Second)
	g := func(v rundir.Verdict, f ...float64) rundir.Stage {
		return poisson(rundir.Grid, v, f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8])
	}
	run.Stages = []rundir.Stage{
		measured("synchronous", "synchronous", rundir.Synchronous, rundir.Closed, 0, 0.51, 1.96, 95.57, 101.2, 21.01, 23.1,
			65.4,
			1),
		measured("throughput", "throughput", rundir.Throughput, rundir.Closed, 0, 7.20, 22.65, 11571.36, 15412, 135.46, 310.2,
			921.6, 160),
		g(rundir.Stable, 1.57, 1.56, 2.26, 104.42, 158.3, 25.96, 41.0, 199.7, 3.5),
		g(rundir.Stable, 2.63, 2.59, 2.66, 105.14, 161.0, 29.47, 47.3, 331.5, 6.9),
		g(rundir.Stable, 3.69, 3.58, 2.92, 105.69, 168.8, 34.76, 55.2, 458.2, 10.5),
		g(rundir.Stable, 4.75, 4.62, 3.56, 106.69, 175.2, 44.34, 68.9, 591.4, 16.4),
		g(rundir.Stable, 5.80, 5.60, 4.93, 112.41, 190.4, 60.59, 92.7, 716.8, 27.6),
		g(rundir.Stable, 6.86, 6.41, 7.03, 115.36, 240.9, 90.19, 141.0, 820.5, 45.1),
		g(rundir.Undecided, 7.92, 7.06, 11.19, 127.62, 410.7, 155.64, 240.0, 903.7, 79.0),
		g(rundir.Saturated, 8.98, 7.15, 26.01, 1090.02, 9800, 299.34, 420.0, 915.2, 260),
		g(rundir.Saturated, 10.04, 7.20, 41.5, 4674.95, 12100, 300.86, 430.0, 921.6, 410),
		hold(rundir.Saturated, 8.45, 7.12, 18.7, 350.5, 2210, 210.3, 330.0, 911.0, 133),
		hold(rundir.Stable, 6.93, 6.91, 8.1, 122.4, 301, 101.7, 160.0, 884.5, 56),
	}
	for i, bound := range map[int]float64{9: 58.3, 10: 61.7} {
		s := &run.Stages[i]
		s.Latency = boundedDist(s.Latency, bound, 83)
		s.TTFT = boundedDist(s.TTFT, s.TTFT.Mean.Value(), 12)
		s.TTFTDue = s.TTFT
		s.Requests.Incomplete, s.Requests.OK = 83, s.Requests.OK-83
		s.Drift = rundir.Drift{Value: rundir.Exactly(0.19), Low: rundir.Exactly(0.12), High: rundir.Exactly(0.26)}
	}
	run.Stages[11].Drift = rundir.Drift{Value: rundir.Exactly(0.092), Low: rundir.Exactly(0.04),
		High: rundir.Exactly(0.14)}
	run.Saturation = &rundir.Saturation{
		Rate: rundir.Exactly(7.14), Low: rundir.Exactly(6.93), High: rundir.Exactly(7.31), Output: rundir.Exactly(909.3),
		HighestStable: rundir.Exactly(6.93), LowestSaturated: rundir.Exactly(8.45), KeptStage: "hold@6.93",
		FailedStage: "hold@8.45",
		Reason:      note.Note{Code: "saturation.backlog-grew"},
	}
	run.Client = rundir.Client{LagP99: rundir.Exactly(2.1e-4), CPU: rundir.Exactly(0.042), Timestamps: "kernel",
		Valid: true}
	return run
}

// blankRun is a run that has only just begun.
func blankRun() rundir.Run {
	return rundir.Run{
		Schema: rundir.Schema, Tool: rundir.Tool{Version: "v0.1.0", Go: "go1.26.0", OS: "linux/amd64", CPUs: 16},
		Started: time.Date(2026, 5, 4, 9, 30, 0, 0, time.FixedZone("CST", 8*3600)), State: rundir.Running,
		Target: rundir.Target{URL: "http://localhost:8000", API: "chat", Model: "qwen2-7b-instruct", Engine: "vLLM",
			Version: "0.9.2"},
		Labels: rundir.Labels{Model: "Qwen2-7B-Instruct", GPU: "L20 48GB", GPUs: 1, Engine: "vLLM"},
		Workload: rundir.Workload{PromptTokens: rundir.Lengths{Mean: 512}, OutputTokens: rundir.Lengths{Mean: 128}, Seed: 1,
			Forced: true, CountedPrompt: 514},
		Plan: rundir.Plan{Kind: "sweep", Points: 9, StageTime: 60, MaxConcurrency: 512},
	}
}

// failedRun is a sweep of a server that answered every request with an error.
func failedRun() rundir.Run {
	run := blankRun()
	run.State, run.Failure, run.Ended = rundir.Failed, note.Text.New("every request failed"),
		run.Started.Add(41*time.Second)
	run.Labels = rundir.Labels{}
	for _, name := range []string{"synchronous", "throughput"} {
		run.Stages = append(run.Stages, rundir.Stage{
			Name: name, Kind: name, Role: map[string]rundir.Role{"synchronous": rundir.Synchronous,
				"throughput": rundir.Throughput}[name],
			State: rundir.Complete, Verdict: rundir.Closed, Window: 20,
			Requests: rundir.Requests{Due: 24, Sent: 24, Error: 24},
			Rates:    rundir.Rates{Sent: rundir.Exactly(1.2), Completed: rundir.Exactly(0)},
			TokensPerS: rundir.TokenRates{
				Output: rundir.Exactly(0), Input: rundir.Exactly(0), Total: rundir.Exactly(0),
			},
			Errors: map[string]int{"http_5xx": 20, "timeout": 4},
			Examples: map[string]string{"http_5xx": "500: {\"error\": \"CUDA out of memory | `rank 0`\"}\n<html>\x1b[31m",
				"timeout": "no token within 10m"},
			Warnings: []note.Note{note.Text.New("more than half of the requests failed, so the stage ended early")},
		})
	}
	run.Client = rundir.Client{Timestamps: "user", Valid: true}
	return run
}

// interruptedRun was stopped in its fourth stage, and its rows have something to warn of.
func interruptedRun() rundir.Run {
	whole := sweptRun()
	run := blankRun()
	run.State, run.Ended = rundir.Interrupted, run.Started.Add(192*time.Second)
	run.Labels = rundir.Labels{Model: "通义千问|2.5`7B`", GPU: "L20 48GB", GPUs: 2, Engine: "SGLang", Quant: "AWQ", Price: 3.5}
	run.Workload.OutputTokens = rundir.Lengths{Mean: 128, Std: 32, Min: 16, Max: 512}
	run.Workload.Forced = false
	run.Stages = []rundir.Stage{whole.Stages[0], whole.Stages[1], whole.Stages[2], whole.Stages[3]}
	for i := range run.Stages {
		s := &run.Stages[i]
		s.TokenSource, s.TokensPerChunk, s.OutputTokens.Mean = "chunks", rundir.Exactly(2.3), rundir.Exactly(90.25)
	}
	run.Stages[1].Invalid = note.Text.New("the client was 94 % of one processor")
	run.Stages[1].TTFTDue.P99 = rundir.Exactly(17.9)
	cut := &run.Stages[3]
	cut.State, cut.Verdict, cut.Window, cut.Requests = rundir.Interrupted, "", 6.5, rundir.Requests{Due: 17, Sent: 17,
		OK: 14, Error: 1, Incomplete: 2}
	cut.Errors, cut.Examples = map[string]int{"reset": 1}, map[string]string{"reset": "connection reset by peer"}
	cut.TTFT, cut.Latency, cut.ITL = dist(14, 0.105, 0.161), dist(14, 2.66, 3.7), dist(1700, 0.0295, 0.0473)
	cut.TTFTDue = cut.TTFT
	run.Warnings = []note.Note{note.Text.New("the server ignored min_tokens")}
	run.Client = rundir.Client{Timestamps: "user", Valid: true}
	return run
}

// singleRun is one stage kind at several levels, without labels.
func singleRun() rundir.Run {
	run := blankRun()
	run.State, run.Plan = rundir.Complete, rundir.Plan{Kind: "run"}
	run.Labels, run.Target.Engine, run.Target.Version = rundir.Labels{}, "", ""
	run.Stages = []rundir.Stage{
		measured("concurrent@10", "concurrent", rundir.Single, rundir.Closed, 0, 3.41, 2.93, 105.1, 160, 22.3, 40.1, 436, 10),
		measured("constant@2.00", "constant", rundir.Single, rundir.Stable, 2, 1.99, 2.4, 99.8, 121, 18.1, 30.9, 255, 4.8),
	}
	run.Client = rundir.Client{Timestamps: "kernel", Valid: true}
	return run
}

// promisedRun is a sweep of which something was promised: kept at low rates, not judged at one, broken from then on.
func promisedRun() rundir.Run {
	run := sweptRun()
	run.Plan.SLO = []string{"ttft:p99<200ms", "itl:p95<90ms"}
	verdicts := []rundir.SLOVerdict{"unknown", "broken", "kept", "kept", "kept", "unknown", "kept", "broken", "broken",
		"broken", "broken", "broken", "broken"}
	for i := range run.Stages {
		s := &run.Stages[i]
		s.Goodput = &rundir.Goodput{
			Rate: rundir.Exactly(s.Rates.Completed.Value() * 0.9), Share: rundir.Exactly(0.9), Verdict: verdicts[i],
			Terms: []rundir.TermResult{
				{Term: "ttft:p99<200ms", Verdict: verdicts[i], Value: s.TTFT.P99}, {Term: "itl:p95<90ms", Verdict: "kept",
					Value: s.ITL.P95},
			},
		}
		if verdicts[i] == "unknown" {
			s.Goodput.Terms[0].Needs = 340
		}
	}
	run.Stages[9].Goodput.Share, run.Stages[9].Goodput.Unknown = rundir.Over(0.1), 12
	run.SLO = &rundir.SLO{
		Terms: run.Plan.SLO, Rate: rundir.Exactly(5.93), Low: rundir.Exactly(5.71), High: rundir.Exactly(6.2),
		Goodput:   rundir.Exactly(5.34),
		KeptStage: "asynchronous@5.80", BrokenStage: "asynchronous@6.86", Limiting: "ttft:p99<200ms",
		Reason: note.Text.New("poisson@5.80 kept all terms; beyond, ttft:p99<200ms ends it"),
	}
	return run
}

// judgedRun is single stages: one keeps what was promised, one misses it, one has too few requests to tell.
func judgedRun() rundir.Run {
	run := singleRun()
	run.Plan.SLO = []string{"ttft:p99<130ms"}
	run.Stages = append(run.Stages, measured("constant@3.00", "constant", rundir.Single, rundir.Stable, 3, 2.98, 2.5,
		99.9, 125, 18.1, 31.2, 380, 7.4))
	for i, verdict := range []rundir.SLOVerdict{"broken", "unknown", "kept"} {
		s := &run.Stages[i]
		s.Goodput = &rundir.Goodput{Rate: s.Rates.Completed, Share: rundir.Exactly(0.953), Verdict: verdict,
			Terms: []rundir.TermResult{
				{Term: "ttft:p99<130ms", Verdict: verdict, Value: s.TTFT.P99, Needs: []int{0, 380, 0}[i]},
			}}
	}
	return run
}

// simulatedRun is a sweep of the simulator, whose capacity can be computed.
func simulatedRun() rundir.Run {
	run := sweptRun()
	run.Target = rundir.Target{URL: "sim:", API: "chat", Model: "qwen2-7b", Engine: "sim", Capacity: rundir.Exactly(7.27)}
	return run
}
