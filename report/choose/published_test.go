package choose

import (
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"llmsweep/report/lang"
	"llmsweep/report/published"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
)

// document are the setups of a published document.
func document(t *testing.T, name string, label func(*rundir.Labels)) []setup.Setup {
	t.Helper()
	f, err := os.Open("../published/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := published.ParseText(name, f)
	if err != nil {
		t.Fatal(err)
	}
	doc = published.Join(doc)
	var all []setup.Input
	for i := range doc.Runs {
		if label != nil {
			label(&doc.Runs[i].Labels)
		}
		all = append(all, setup.Input{Path: name, Run: &doc.Runs[i]})
	}
	return setup.Load(all)
}

// said are the lines and notes of choices.
func said(t *testing.T, setups []setup.Setup, o Options) (all []Choice, text string) {
	t.Helper()
	all, err := Of(setups, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range Sections(all, 1) {
		for _, line := range append(s.Lines, s.Notes...) {
			text += line.EN + "\n"
		}
	}
	return all, text
}

// The output of 7B on one L20 is 361.81 tok/s at an ITL of 44.34 ms and 447.11 at 60.59: 391.52 at 50 ms, which is 3.06
// requests of 128 tokens each second, not the 4.96 of 79 tokens that ended.
func TestShortAnswersAreConverted(t *testing.T) {
	c := chosen(t, tables(t, "Qwen2-7B-Instruct"), wanted(t, "20rps", "", "itl:mean<50ms"))
	i := slices.IndexFunc(c.Ranked, func(k Candidate) bool { return k.Name == "Qwen2-7B-Instruct, 1 x L20 48GB, vLLM" })
	k := &c.Ranked[i]
	if want := (361.81 + (447.11-361.81)*(50-44.34)/(60.59-44.34)) / 128; math.Abs(k.Rate-want) > 1e-9 || k.Replicas != 9 {
		t.Errorf("%v req/s, %d replicas, want %v and 9", k.Rate, k.Replicas, want)
	}
	if got := k.answer().Text; got.EN != "79 of 128" || got.ZH != "79/128" {
		t.Errorf("answers of %v", got)
	}
	inTokens := chosen(t, tables(t, "Qwen2-7B-Instruct"), wanted(t, "2560tok/s", "", "itl:mean<50ms"))
	for i := range c.Ranked {
		j := slices.IndexFunc(inTokens.Ranked, func(o Candidate) bool { return o.Name == c.Ranked[i].Name })
		if o := &inTokens.Ranked[j]; o.Asked.Known() || c.Ranked[i].Asked.Known() && c.Ranked[i].Replicas != o.Replicas {
			t.Errorf("%s takes %d replicas for 20 requests of 128 tokens, %d for 2560 tokens", o.Name, c.Ranked[i].Replicas,
				o.Replicas)
		}
	}
}

// A limit of answers is no length that was asked for.
func TestCapsAreNotConverted(t *testing.T) {
	all, _ := said(t, document(t, "stress-tables.txt", nil), wanted(t, "2rps", "", "latency:mean<20s"))
	for _, c := range all {
		for _, k := range c.Ranked {
			if k.Asked.Known() {
				t.Errorf("%s is converted to answers of %v tokens", k.Name, k.Asked)
			}
		}
	}
}

// SGLang misses an ITL of 57 ms at 2.90 req/s (58.29 ms) and was measured to keep it at 3.79 (55.75 ms).
func TestAMeasuredRowBeyondACrossingCounts(t *testing.T) {
	doc, err := published.ParseText("tables.md",
		strings.NewReader(`- **Qwen2-72B-Instruct**, **8**张**L20 48GB**, SGLang, prompt_tokens=512, generated_tokens=128

| Benchmark | Requests per Second | Request Latency | Time to First Token | Inter Token Latency | Output Token Throughput |
| :---: | :---: | :---: | :---: | :---: | :---: |
| synchronous | 0.26 req/sec | 3.89 sec | 172.61 ms | 29.17 ms | 32.75 tokens/sec |
| asynchronous@1.20 req/sec | 1.16 req/sec | 4.34 sec | 54.81 ms | 33.58 ms | 148.29 tokens/sec |
| asynchronous@2.14 req/sec | 2.04 req/sec | 5.98 sec | 61.16 ms | 46.46 ms | 260.03 tokens/sec |
| asynchronous@3.08 req/sec | 2.90 req/sec | 7.52 sec | 67.03 ms | 58.29 ms | 369.44 tokens/sec |
| asynchronous@4.02 req/sec | 3.79 req/sec | 7.19 sec | 65.10 ms | 55.75 ms | 484.42 tokens/sec |
| asynchronous@4.96 req/sec | 4.64 req/sec | 8.10 sec | 68.00 ms | 62.91 ms | 591.39 tokens/sec |
| asynchronous@5.90 req/sec | 5.50 req/sec | 8.43 sec | 69.78 ms | 65.68 ms | 699.85 tokens/sec |
| asynchronous@6.85 req/sec | 6.34 req/sec | 9.09 sec | 69.10 ms | 70.80 ms | 807.47 tokens/sec |
| asynchronous@7.79 req/sec | 7.09 req/sec | 10.70 sec | 70.55 ms | 83.45 ms | 902.96 tokens/sec |
`))
	if err != nil {
		t.Fatal(err)
	}
	c := chosen(t, setup.Load([]setup.Input{{Path: "tables.md", Run: &doc.Runs[0]}}),
		wanted(t, "10rps", "", "itl:mean<57ms"))
	if k := c.Ranked[0]; k.Rate != 3.79 || k.Replicas != 4 || k.Where != "tables.md:9" ||
		k.LimitedBy != "itl:mean, missed at asynchronous@4.96" {
		t.Errorf("%v req/s by %s, %d replicas, limited by %s", k.Rate, k.Where, k.Replicas, k.LimitedBy)
	}
	missed := c.Ranked[0].Name + ": misses itl:mean<57ms at a lower load, asynchronous@3.08: 58.3ms."
	if notes := c.notes(); !slices.ContainsFunc(notes, func(n lang.Text) bool { return n.EN == missed }) {
		t.Errorf("no %q in %v", missed, notes)
	}
}

// A percentile of repeats is known, and judged by the worst of them: the P95 of SGLang is 20.74 and 17.72 s.
func TestRepeatsAreJudgedByTheWorst(t *testing.T) {
	const name = "Qwen3-4B, SGLang, 3096 tokens, no thinking"
	for slo, meets := range map[string]bool{"latency:p95<20s": false, "latency:p95<21s": true} {
		all, _ := said(t, document(t, "stress-tables.txt", nil), wanted(t, "2rps", "", slo))
		found := false
		for _, c := range all {
			for _, k := range c.Ranked {
				if k.Name == name {
					found = true
					if !meets || k.Rate != 0.57 {
						t.Errorf("%s: meets it up to %v", slo, k.Rate)
					}
				}
			}
			for _, r := range c.Refused {
				if r.Name == name {
					found = true
					if meets || r.Why != "misses latency:p95<20s at concurrent@10: 20.7s" {
						t.Errorf("%s: %s", slo, r.Why)
					}
				}
			}
		}
		if !found {
			t.Errorf("%s: %s is missing", slo, name)
		}
	}
}

// The range of repeats that differ much is said, and the lowest of them counts.
func TestTheRangeOfRepeatsIsSaid(t *testing.T) {
	in := steps("A10", 2, 14.67, 3.9, 8)
	in.Run.Source = &rundir.Source{File: "runs.txt", Line: 1, Format: published.Stress}
	for i := range in.Run.Stages {
		s := &in.Run.Stages[i]
		s.Rate, s.Verdict, s.MaxConcurrency, s.Repeat = rundir.Number{}, rundir.Closed, 30, i+1
		s.Source = &rundir.Source{File: "runs.txt", Line: i + 1}
	}
	all, text := said(t, setup.Load([]setup.Input{in}), wanted(t, "10rps", "", "ttft:mean<1s"))
	if !strings.Contains(text, "3 repeats completed 3.90-14.67 req/s; the worst counts.") || all[0].Ranked[0].Rate != 3.9 {
		t.Errorf("%+v\n%s", all[0].Ranked, text)
	}
}

// Without the number of GPUs the answer is in replicas: 3 / (0.66 x 0.8).
func TestReplicasWithoutGPUs(t *testing.T) {
	setups := document(t, "stress-tables.txt", nil)
	all, text := said(t, setups, wanted(t, "3rps", "A10=1", "latency:mean<10s"))
	if !strings.Contains(text, "Fewest replicas: Qwen3-4B, vLLM, 3096 tokens, no thinking, 6 replicas.") ||
		!strings.Contains(text, "order is by replicas") {
		t.Error(text)
	}
	for _, c := range all {
		for _, k := range c.Ranked {
			if c.Priced || k.Hour.Known() || k.GPUs != 0 {
				t.Errorf("%s: %d GPUs, %v an hour", k.Name, k.GPUs, k.Hour)
			}
		}
	}
	o := wanted(t, "3rps", "", "latency:mean<10s")
	o.MaxGPUs = 8
	if _, text = said(t, setups, o); strings.Contains(text, "Fewest") {
		t.Errorf("what has no number of GPUs is within a number of GPUs: %s", text)
	}
	// One that has a number comes before those that have none, which cannot stand in an order of GPUs.
	i := slices.IndexFunc(setups, func(s setup.Setup) bool { return s.Name == "Qwen3-4B, SGLang, 3096 tokens, no thinking" })
	run := *setups[i].Run
	run.Labels.GPUs, setups[i].Run = 2, &run
	_, text = said(t, setups, wanted(t, "3rps", "", "latency:mean<10s"))
	if !strings.Contains(text, "Fewest GPUs: Qwen3-4B, SGLang, 3096 tokens, no thinking, 7 replicas, 14 GPUs.") {
		t.Error(text)
	}
}

// Rust and golang are two programs under two headings, not two measurements of one.
func TestHeadingsAreConfigurations(t *testing.T) {
	setups := document(t, "serving-blocks.txt", func(l *rundir.Labels) { l.GPU, l.GPUs = "L20", 1 })
	all, text := said(t, setups, wanted(t, "10rps", "", "ttft:mean<200ms"))
	if names := [2]string{all[0].Ranked[0].Name, all[0].Ranked[1].Name}; names != [2]string{"1 x L20, SGLang, Rust",
		"1 x L20, SGLang, golang"} {
		t.Errorf("ranked %v", names)
	}
	if repeated := legendRepeated.Text("").In(lang.English); strings.Contains(text, repeated) {
		t.Error(text)
	}
}

// TestDoubtsAreMarked: a load that rests on figures that the audit doubts says so in the default table.
func TestDoubtsAreMarked(t *testing.T) {
	setups := document(t, "guidellm-tables.md", nil)
	c, _ := said(t, setups, wanted(t, "20rps", "", "itl:mean<50ms", "ttft:mean<200ms"))
	marked, plain := 0, 0
	for _, one := range c {
		for i := range one.Ranked {
			k := &one.Ranked[i]
			doubted := k.limit.Doubted
			for _, r := range []*setup.Row{k.limit.Point.Low, k.limit.Point.High} {
				for _, o := range k.setup.Marked {
					doubted = doubted || o.Grade != "remark" && strings.HasSuffix(r.Where, ":"+
						strings.TrimPrefix(o.Where[strings.LastIndex(o.Where, ":"):], ":"))
				}
			}
			if got := k.atSLO().Mark != ""; got != doubted {
				t.Errorf("%s (%s): marked %v, doubted %v", k.Name, k.Where, got, doubted)
			}
			if doubted {
				marked++
			} else {
				plain++
			}
		}
	}
	if marked == 0 || plain == 0 {
		t.Errorf("%d marked, %d not", marked, plain)
	}
}

// read returns the setups of a six-column document, in which a measurement that is printed twice is one.
func read(t *testing.T, text string) []setup.Setup {
	t.Helper()
	doc, err := published.ParseText("tables.md", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var in []setup.Input
	for i := range doc.Runs {
		in = append(in, setup.Input{Path: "tables.md", Run: &doc.Runs[i]})
	}
	return setup.LoadWith(in, setup.Options{MergeReprints: true})
}

// twoGPUs is a table whose highest rates complete no more than the one below, and one that prints it again with another
// output at 3 req/s.
const twoGPUs = `- **M**, **2** x **A100 80GB**, **vLLM**, prompt_tokens=512, generated_tokens=128

| Benchmark | Requests per Second | Request Latency | Time to First Token | Inter Token Latency | Output Token Throughput |
|---|---|---|---|---|---|
| synchronous | 0.25 req/sec | 4.00 sec | 170.13 ms | 32.74 ms | 29.50 tokens/sec |
| asynchronous@1.00 | 0.96 req/sec | 4.70 sec | 186.39 ms | 38.58 ms | 113.28 tokens/sec |
| asynchronous@2.00 | 1.88 req/sec | 6.65 sec | 193.15 ms | 55.19 ms | 221.84 tokens/sec |
| asynchronous@3.00 | 2.75 req/sec | 8.30 sec | 198.65 ms | 69.24 ms | 324.50 tokens/sec |
| asynchronous@6.00 | 2.74 req/sec | 9.74 sec | 198.39 ms | 81.55 ms | 323.32 tokens/sec |
`

// TestHigherRatesCompletedNoMore: what was measured beyond the best row is not called unmeasured.
func TestHigherRatesCompletedNoMore(t *testing.T) {
	k := chosen(t, read(t, twoGPUs), wanted(t, "2rps", "", "ttft:mean<1s")).Ranked[0]
	if k.Measured.Value() != 2.75 || k.LimitedBy != "higher rates completed no more" {
		t.Errorf("%v req/s, limited by %s", k.Measured, k.LimitedBy)
	}
	lower := twoGPUs[:strings.Index(twoGPUs, "| asynchronous@6.00")]
	if k = chosen(t, read(t, lower), wanted(t, "2rps", "",
		"ttft:mean<1s")).Ranked[0]; k.LimitedBy != "not measured higher, may carry more" {
		t.Errorf("limited by %s", k.LimitedBy)
	}
}

// TestMeasurementPrintedTwice: it is one configuration, and the row of which the output is not known has answers as
// long as the others.
func TestMeasurementPrintedTwice(t *testing.T) {
	c := chosen(t, read(t, twoGPUs+"\n"+strings.Replace(twoGPUs, "324.50", "326.50", 1)),
		wanted(t, "2rps", "", "itl:mean<60ms"))
	if len(c.Ranked) != 1 || len(c.Refused) > 0 {
		t.Fatalf("%+v, %+v", c.Ranked, c.Refused)
	}
	if k := c.Ranked[0]; math.Abs(k.Answer.Value()-118) > 0.1 || k.Asked.Value() != 128 ||
		k.Name != "M, 2 x A100 80GB, vLLM" {
		t.Errorf("%s: %v tokens", k.Name, k.Answer)
	}
}

// TestOrderOfMisprintedRates: a row of which the printed rate is wrong stands where it completed, so that no lower load
// is said to miss what it misses.
func TestOrderOfMisprintedRates(t *testing.T) {
	text := strings.Replace(twoGPUs, "@1.00", "@2.60", 1)
	c := chosen(t, read(t, text), wanted(t, "1rps", "", "itl:mean<50ms"))
	if k := c.Ranked[0]; k.Where != "tables.md:6, 7" || len(c.Ranked) != 1 {
		t.Errorf("by %s", k.Where)
	}
}

// TestThresholdIsRoundedDown: at the demand that is printed, one replica fewer is enough.
func TestThresholdIsRoundedDown(t *testing.T) {
	setups := tables(t, "Qwen2-7B-Instruct")
	_, text := said(t, setups, wanted(t, "20rps", "", "itl:mean<50ms"))
	m := regexp.MustCompile(`Up to ([0-9.]+) req/s one replica fewer`).FindStringSubmatch(text)
	if m == nil {
		t.Fatal(text)
	}
	before := chosen(t, setups, wanted(t, "20rps", "", "itl:mean<50ms")).Ranked[0]
	after := chosen(t, setups, wanted(t, m[1]+"rps", "", "itl:mean<50ms"))
	i := slices.IndexFunc(after.Ranked, func(k Candidate) bool { return k.Name == before.Name })
	if after.Ranked[i].Replicas != before.Replicas-1 {
		t.Errorf("%s: %d replicas at %s, %d at 20", before.Name, after.Ranked[i].Replicas, m[1], before.Replicas)
	}
}
