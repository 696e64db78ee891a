package choose

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"llmsweep/client/testkit"
	"llmsweep/report/lang"
	"llmsweep/report/published"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// parsed are the setups of a published document, in which a measurement that is printed twice is one.
func parsed(name, text string) []setup.Setup {
	doc := published.Join(testkit.Must(published.ParseText(name, strings.NewReader(text))))
	var all []setup.Input
	for i := range doc.Runs {
		all = append(all, setup.Input{Path: name, Run: &doc.Runs[i]})
	}
	return setup.LoadWith(all, setup.Options{MergeReprints: true})
}

func document(name string) []setup.Setup {
	return parsed(strings.TrimPrefix(name, "guidellm-"), string(testkit.Must(os.ReadFile("../published/testdata/"+name))))
}

var (
	stress = sync.OnceValue(func() []setup.Setup { return document("stress-tables.txt") })
	// tables are the setups of Qwen2-7B in a document of six-column tables, and plain those that are not quantized.
	tables = sync.OnceValue(func() []setup.Setup { return ofModel("Qwen2-7B") })
	plain  = sync.OnceValue(func() []setup.Setup { return ofModel("Qwen2-7B-Instruct") })
)

func ofModel(model string) []setup.Setup {
	return slices.DeleteFunc(document("guidellm-tables.md"),
		func(s setup.Setup) bool { return !(LabelFilter{"model", model}).Matches(s.Run.Labels) })
}

func parseTerms(terms string) []slo.Term { return testkit.Must(slo.ParseAll(strings.Fields(terms))) }

// wanted are a demand, its prices, and the terms of its SLO.
func wanted(demand, prices, terms string) Options {
	o := Options{Headroom: 0.2, Terms: parseTerms(terms), Demand: testkit.Must(ParseDemand(demand))}
	if prices != "" {
		o.Prices = testkit.Must(ParsePrices(prices))
	}
	return o
}

func chosen(setups []setup.Setup, o Options) Choice { return testkit.Must(Of(setups, o))[0] }

// said are the lines and notes of choices.
func said(setups []setup.Setup, o Options) (text string) {
	for _, s := range Sections(testkit.Must(Of(setups, o)), 1) {
		for _, line := range append(s.Lines, s.Notes...) {
			text += line.EN + "\n"
		}
	}
	return text
}

// outcome is what became of a configuration: its rate, what it takes, the rows that it rests on and what ends it; or
// why it is refused.
func outcome(setups []setup.Setup, o Options, name string) string {
	for _, c := range testkit.Must(Of(setups, o)) {
		for _, k := range c.Ranked {
			if k.Name == name {
				return fmt.Sprintf("%.4f req/s, %d replicas, %d GPUs, %s, %s", k.Measured.Or(k.Rate), k.Replicas, k.GPUs,
					k.Where, k.LimitedBy)
			}
		}
		for _, r := range c.Refused {
			if r.Name == name {
				return r.Why
			}
		}
	}
	return "missing"
}

const heads = `| Benchmark | Requests per Second | Request Latency | Time to First Token | Inter Token Latency ` +
	"| Output Token Throughput |\n|---|---|---|---|---|---|\n"

// twoGPUs is a table whose highest rate completes no more than the one below.
const twoGPUs = `- **M**, **2** x **A100 80GB**, **vLLM**, prompt_tokens=512, generated_tokens=128

` + heads + `| synchronous | 0.25 req/sec | 4.00 sec | 170.13 ms | 32.74 ms | 29.50 tokens/sec |
| asynchronous@1.00 | 0.96 req/sec | 4.70 sec | 186.39 ms | 38.58 ms | 113.28 tokens/sec |
| asynchronous@2.00 | 1.88 req/sec | 6.65 sec | 193.15 ms | 55.19 ms | 221.84 tokens/sec |
| asynchronous@3.00 | 2.75 req/sec | 8.30 sec | 198.65 ms | 69.24 ms | 324.50 tokens/sec |
| asynchronous@6.00 | 2.74 req/sec | 9.74 sec | 198.39 ms | 81.55 ms | 323.32 tokens/sec |
`

// crossing is a table whose ITL passes 57 ms at 2.90 req/s and is below it again at 3.79.
const crossing = `- **M**, **8** x **L20 48GB**, SGLang, prompt_tokens=512, generated_tokens=128

` + heads + `| synchronous | 0.26 req/sec | 3.89 sec | 172.61 ms | 29.17 ms | 32.75 tokens/sec |
| asynchronous@2.14 req/sec | 2.04 req/sec | 5.98 sec | 61.16 ms | 46.46 ms | 260.03 tokens/sec |
| asynchronous@3.08 req/sec | 2.90 req/sec | 7.52 sec | 67.03 ms | 58.29 ms | 369.44 tokens/sec |
| asynchronous@4.02 req/sec | 3.79 req/sec | 7.19 sec | 65.10 ms | 55.75 ms | 484.42 tokens/sec |
| asynchronous@4.96 req/sec | 4.64 req/sec | 8.10 sec | 68.00 ms | 62.91 ms | 591.39 tokens/sec |
`

// What becomes of configurations of published documents: the golden file agrees with what follows by hand from the
// printed rows.
func TestOutcomes(t *testing.T) {
	const prices = "L20=1.2,A100=3.6"
	text := map[string]string{
		"two": twoGPUs, "crossing": crossing, "rising": twoGPUs[:strings.Index(twoGPUs, "| asynchronous@6.00")],
		"twice":    twoGPUs + "\n" + strings.Replace(twoGPUs, "324.50", "326.50", 1),
		"misprint": strings.Replace(twoGPUs, "@1.00", "@2.60", 1), // no lower load misses the term
	}
	counted := func() []setup.Setup {
		setups := document("stress-tables.txt")
		setups[2].Run.Labels.GPUs = 2
		return setups
	}
	blocks := func() []setup.Setup {
		setups := document("serving-blocks.txt")
		for _, s := range setups {
			s.Run.Labels.GPU, s.Run.Labels.GPUs = "L20", 1
		}
		return setups
	}
	documents := map[string]func() []setup.Setup{"tables": tables, "stress": stress, "counted": counted, "blocks": blocks}
	found := ""
	for _, c := range []struct{ setups, demand, prices, terms, name string }{
		// TTFT is 183.85 ms at 25.14 offered (24.54 completed) and 300.49 ms at 28.19 (24.50).
		{"tables", "20rps", prices, "itl:mean<50ms ttft:mean<200ms", "Qwen2-7B-Instruct, 2 x L20 48GB, SGLang"},
		// 11.36 + 1.13 (200 - 124.99) / (321.97 - 124.99)
		{"tables", "20rps", prices, "itl:mean<50ms ttft:mean<200ms", "Qwen2-7B-Instruct-GPTQ-Int4, 1 x A100 80GB, vLLM"},
		// 11.66 + 1.47 (200 - 128.75) / (309.98 - 128.75)
		{"tables", "20rps", prices, "itl:mean<50ms ttft:mean<200ms", "Qwen2-7B-Instruct, 1 x A100 80GB, vLLM"},
		// 44.34 ms at 4.62, 60.59 ms at 5.60
		{"tables", "20rps", prices, "itl:mean<50ms ttft:mean<200ms", "Qwen2-7B-Instruct, 1 x L20 48GB, vLLM"},
		// The TTFT of line 21, printed as 1090 sec, lies beyond where its table's rows break the term: 7.15 + 0.05
		// (4 - 0.12762) / (4.67495 - 0.12762).
		{"tables", "5rps", "", "ttft:mean<4s", "Qwen2-7B-Instruct, 1 x L20 48GB, vLLM"},
		// Line 120 misses ITL alone, at no more completed requests than the row beyond, which misses both.
		{"tables", "5rps", "", "ttft:mean<500ms itl:mean<100ms", "Qwen2-7B-Instruct-AWQ, 1 x L20 48GB, vLLM"},
		{"tables", "20rps", "L20=1.2", "itl:mean<50ms ttft:mean<90ms", "Qwen2-7B-Instruct-AWQ, 1 x L20 48GB, vLLM"},
		{"tables", "20rps", "L20=1.2", "itl:mean<50ms ttft:mean<90ms", "Qwen2-7B-Instruct, 1 x A100 80GB, vLLM"},
		{"tables", "20rps", "L20=1.2", "itl:mean<50ms ttft:mean<90ms", "Qwen2-7B-Instruct, 2 x L20 48GB, lmdeploy"},
		{"tables", "20rps", "", "ttft:p99<500ms", "Qwen2-7B-Instruct, 2 x L20 48GB, lmdeploy"},
		// 391.52 tok/s at 50 ms, of answers of any length
		{"tables", "2560tok/s", "L20=1.2", "itl:mean<50ms", "Qwen2-7B-Instruct, 1 x L20 48GB, vLLM"},
		{"crossing", "10rps", "", "itl:mean<57ms", "M, 8 x L20 48GB, SGLang"},
		{"two", "2rps", "", "ttft:mean<1s", "M, 2 x A100 80GB, vLLM"},
		{"rising", "2rps", "", "ttft:mean<1s", "M, 2 x A100 80GB, vLLM"},
		{"twice", "2rps", "", "itl:mean<60ms", "M, 2 x A100 80GB, vLLM"},
		{"misprint", "1rps", "", "itl:mean<50ms", "M, 2 x A100 80GB, vLLM"},
		// Without the number of GPUs the answer is in replicas: 3 / (0.66 x 0.8). One that has a number comes first.
		{"stress", "3rps", "A10=1", "latency:mean<10s", "Qwen3-4B, vLLM, 3096 tokens, no thinking"},
		{"counted", "3rps", "", "latency:mean<10s", "Qwen3-4B, SGLang, 3096 tokens, no thinking"},
		// Two programs under two headings are no two measurements of one.
		{"blocks", "10rps", "", "ttft:mean<200ms", "SGLang, Rust"},
		// The P95 of SGLang is 20.74 and 17.72 s: the worst counts.
		{"stress", "2rps", "", "latency:p95<20s", "Qwen3-4B, SGLang, 3096 tokens, no thinking"},
		{"stress", "2rps", "", "latency:p95<21s", "Qwen3-4B, SGLang, 3096 tokens, no thinking"},
	} {
		setups := documents[c.setups]
		if setups == nil {
			setups = func() []setup.Setup { return parsed("tables.md", text[c.setups]) }
		}
		o := wanted(c.demand, c.prices, c.terms)
		found += fmt.Sprintf("%s: %s within %s\n  %s\n", c.setups, c.name, c.terms, outcome(setups(), o, c.name))
		for _, line := range strings.Split(strings.TrimSpace(said(setups(), o)), "\n") {
			found += "  " + line + "\n"
		}
	}
	testkit.CheckGolden(t, "outcomes.txt", []byte(found))
}

func TestGolden(t *testing.T) {
	for name, prices := range map[string]string{"l20": "L20=1.2,A100=3.6", "a100": "L20=1.2,A100=1.5", "unpriced": ""} {
		c := chosen(tables(), wanted("20rps", prices, "itl:mean<50ms ttft:mean<200ms"))
		for _, l := range lang.All() {
			for extension, format := range map[string]string{"md": "markdown", "txt": "console"} {
				var b bytes.Buffer
				if err := table.WriteSections(&b, format, c.sections(2, true), table.Style{Lang: l}); err != nil {
					t.Fatal(err)
				}
				testkit.CheckGolden(t, fmt.Sprintf("%s.%s.%s", name, l, extension), b.Bytes())
			}
		}
	}
}

func TestDemandsAndPrices(t *testing.T) {
	for text, want := range map[string]Demand{"20rps": {20, Requests}, "2.5 req/s": {2.5, Requests},
		"2 req/sec": {2, Requests}, "5,000tok/s": {5000, Tokens}, "5000tokens/s": {5000, Tokens}, "500 users": {500, Users},
		"20": {}, "rps": {}, "-3rps": {}, "0tok/s": {}, "many tok/s": {}} {
		if got, err := ParseDemand(text); (err != nil) != (want == Demand{}) || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, bad := range []string{"L20", "L20=", "=3", "L20=-1", "L20=1,L20=2", "L20=x"} {
		if _, err := ParsePrices(bad); err == nil {
			t.Errorf("price %q was taken", bad)
		}
	}
	for _, bad := range []string{"", "- L20\n", "L20: cheap\n", "L20: 0\n"} {
		if _, err := ReadPrices("p.yaml", strings.NewReader(bad)); err == nil || !strings.Contains(err.Error(), "p.yaml") {
			t.Errorf("prices %q: %v", bad, err)
		}
	}
	p := testkit.Must(ReadPrices("prices.yaml", strings.NewReader("L20: 1.2\nA100 80GB: 3.6 # list price\nA100: 2\n")))
	for gpu, want := range map[string]float64{"L20 48GB": 1.2, "A100 80GB": 3.6, "A100-40GB": 2, "L2": 0, "L20S": 0} {
		if got, _ := p.GPUHour(rundir.Labels{GPU: gpu}); got != want {
			t.Errorf("%s costs %v, want %v", gpu, got, want)
		}
	}
}
