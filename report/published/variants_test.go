package published

import (
	"fmt"
	"strings"
	"testing"

	"llmsweep/sweep/rundir"
)

// The table that the variants change.
const (
	variantHeading = "- **M**, **2** x **L20**, **vLLM**, prompt_tokens=512, generated_tokens=128\n\n"
	variantHead    = "| Benchmark | Requests per Second | Request Latency | Time to First Token | Inter Token Latency | Output Token Throughput |\n"
	variantRule    = "|---|---|---|---|---|---|\n"
	variantFirst   = "| synchronous | 0.93 req/sec | 1.07 sec | 81.01 ms | 7.72 ms | 119.32 tokens/sec |\n"
	variantSecond  = "| asynchronous@7.42 req/sec | 7.19 req/sec | 4.11 sec | 98.44 ms | 31.27 ms | 919.72 tokens/sec |\n"
	variantTable   = variantHeading + variantHead + variantRule + variantFirst + variantSecond
	variantFigures = "0.93 latency=1.07 ttft=0.08101 itl=0.00772 119.32; 7.19 latency=4.11 ttft=0.09844 itl=0.03127 919.72"
)

// variantStress and variantServing are one value of a stress table and of a serving block.
func variantStress(label, value string) string {
	return "vLLM Stress Test Results\n┏━━━━━━━━┳━━━━━━━━┓\n┃ Metric ┃ Value  ┃\n┡━━━━━━━━╇━━━━━━━━┩\n" +
		"│ Concurrent Requests │ 5 │\n│ " + label + " │ " + value + " │\n└────────┴────────┘\n"
}

func variantServing(label, value string) string {
	return "============ Serving Benchmark Result ============\nSuccessful requests:   100\n" + label + ":    " + value +
		"\n==================================================\n"
}

// figuresOf are the figures of the rows of a run.
func figuresOf(run *rundir.Run) string {
	var rows []string
	for i := range run.Stages {
		s := &run.Stages[i]
		var all []string
		add := func(name string, n rundir.Number) {
			if n.Known() {
				all = append(all, name+fmt.Sprintf("%.6g", n.Value()))
			}
		}
		add("", s.Rates.Completed)
		for _, d := range []struct {
			name string
			dist *rundir.Dist
		}{{"latency", &s.Latency}, {"ttft", &s.TTFT}, {"itl", &s.ITL}, {"tpot", &s.TPOT}} {
			if d.name == "itl" {
				add("itl=", s.InterToken)
			}
			for _, f := range d.dist.Numbers() {
				add(strings.TrimSuffix(d.name+":"+f.Name, ":mean")+"=", *f.Number)
			}
		}
		add("", s.TokensPerS.Output)
		rows = append(rows, strings.Join(all, " "))
	}
	return strings.Join(rows, "; ")
}

// TestVariants: what people change in a table is read as it is meant, or refused with a reason; nothing is read as
// something else.
func TestVariants(t *testing.T) {
	change := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(variantTable) }
	without := func(columns string) string { // the same without a column that is refused
		return strings.Join(strings.Fields(columns), " ")
	}
	for name, c := range map[string]struct {
		text, want string
		unread     string // what a remark says; empty where all is read
		broken     bool   // more than a tenth is lost
	}{
		"as published": {variantTable, variantFigures, "", false},

		// Headings.
		"TTFT in seconds": {change("Time to First Token", "Time to First Token (s)", "81.01 ms", "0.08101",
			"98.44 ms", "0.09844"), variantFigures, "", false},
		"latency in milliseconds": {change("Request Latency", "Request Latency (ms)", "1.07 sec", "1070", "4.11 sec",
			"4110"), variantFigures, "", false},
		"Chinese units": {change("Request Latency", "请求时延（毫秒）", "1.07 sec", "1070", "4.11 sec", "4110",
			"Time to First Token", "首 token 时延（秒）", "81.01 ms", "0.08101", "98.44 ms", "0.09844"), variantFigures, "", false},
		"units without brackets": {change("Request Latency", "Latency ms", "1.07 sec", "1070", "4.11 sec", "4110"),
			variantFigures, "", false},
		"a cell's own unit wins": {change("Time to First Token", "Time to First Token (s)"), variantFigures, "", false},
		"a p99": {change("Time to First Token", "Time to First Token (p99)"),
			strings.ReplaceAll(variantFigures, "ttft=", "ttft:p99="), "", false},
		"a p95 and a unit": {change("Request Latency", "P95 Request Latency (s)"), strings.ReplaceAll(variantFigures,
			"latency=", "latency:p95="), "", false},
		"a median ITL": {change("Inter Token Latency", "ITL (median, ms)"),
			"0.93 latency=1.07 ttft=0.08101 itl:p50=0.00772 119.32; 7.19 latency=4.11 ttft=0.09844 itl:p50=0.03127 919.72", "",
			false},
		"a Chinese mean": {change("Request Latency", "平均请求时延"), variantFigures, "", false},
		"mean and TPOT": {change("Inter Token Latency", "Mean TPOT (ms)"),
			"0.93 latency=1.07 ttft=0.08101 tpot=0.00772 119.32; 7.19 latency=4.11 ttft=0.09844 tpot=0.03127 919.72", "", false},
		"abbreviations": {change(strings.TrimSuffix(variantHead, "\n"),
			"| 基准 | RPS | E2E (s) | TTFT (ms) | ITL (ms) | TPS |"), variantFigures, "", false},
		"other abbreviations": {change(strings.TrimSuffix(variantHead, "\n"),
			"| Benchmark | QPS | Latency | TTFT | ITL | tok/s |"), variantFigures, "", false},
		"output throughput": {change("Output Token Throughput", "Throughput (output tok/s)"),
			without("0.93 latency=1.07 ttft=0.08101 itl=0.00772; 7.19 latency=4.11 ttft=0.09844 itl=0.03127"),
			`"output tok/s" in its heading`, true},
		"throughput of output": {change("Output Token Throughput", "Token Throughput (output)"), variantFigures, "",
			false},
		"per GPU": {change("Output Token Throughput", "Output Token Throughput (per GPU)"),
			"0.93 latency=1.07 ttft=0.08101 itl=0.00772; 7.19 latency=4.11 ttft=0.09844 itl=0.03127",
			`"per gpu" in its heading`, true},
		"per card, in Chinese": {change("Requests per Second", "每秒请求数（单卡）"),
			"latency=1.07 ttft=0.08101 itl=0.00772 119.32; latency=4.11 ttft=0.09844 itl=0.03127 919.72", `"单卡" in its heading`,
			true},
		"input tokens": {change("Output Token Throughput", "Token Throughput (input)"),
			"0.93 latency=1.07 ttft=0.08101 itl=0.00772; 7.19 latency=4.11 ttft=0.09844 itl=0.03127", `"input" in its heading`,
			true},
		"a rate's percentile": {change("Requests per Second", "Requests per Second (p99)"),
			"latency=1.07 ttft=0.08101 itl=0.00772 119.32; latency=4.11 ttft=0.09844 itl=0.03127 919.72",
			`"p99" in its heading`, true},
		"another unit": {change("Request Latency", "Request Latency (req/s)"),
			"0.93 ttft=0.08101 itl=0.00772 119.32; 7.19 ttft=0.09844 itl=0.03127 919.72", `"req/s" in its heading`, true},
		"what is not understood": {change("Request Latency", "Request Latency (cold)"),
			"0.93 ttft=0.08101 itl=0.00772 119.32; 7.19 ttft=0.09844 itl=0.03127 919.72", `"cold" in its heading`, true},
		"a column named twice": {change("Time to First Token", "Request Latency"),
			"0.93 itl=0.00772 119.32; 7.19 itl=0.03127 919.72", "two columns are called", true},
		"another column": {change("| Inter Token Latency", "| Power | Inter Token Latency", "|---|\n",
			"|---|---|\n", "| 7.72 ms", "| 250 W | 7.72 ms", "| 31.27 ms", "| 300 W | 31.27 ms"), variantFigures, "", false},
		"few columns, in seconds": {variantHeading +
			"| Benchmark | RPS | TTFT (s) | E2E (s) |\n|---|---|---|---|\n| synchronous | 0.93 | 0.08101 | 1.07 |\n",
			"0.93 latency=1.07 ttft=0.08101", "", false},

		// Cells.
		"percentiles in cells": {change("98.44 ms", "98.44 ms (p99)", "4.11 sec", "4.11 sec (p95)"),
			"0.93 latency=1.07 ttft=0.08101 itl=0.00772 119.32; 7.19 latency:p95=4.11 ttft:p99=0.09844 itl=0.03127 919.72", "",
			false},
		"odd brackets in cells": {change("98.44 ms", "98.44 ms (warm)"),
			"0.93 latency=1.07 ttft=0.08101 itl=0.00772 119.32; 7.19 latency=4.11 itl=0.03127 919.72",
			`"warm", which is not understood`, false},
		"bold": {change("0.93 req/sec", "**0.93** req/sec", "98.44 ms", "**98.44 ms**", "| synchronous",
			"| **synchronous**"), variantFigures, "", false},
		"footnotes": {change("81.01 ms", "81.01¹ ms", "1.07 sec", "1.07*", "4.11 sec", "4.11 sec<sup>2</sup>",
			"31.27 ms", "31.27 ms†"), variantFigures, "", false},
		"HTML spaces": {change("81.01 ms", "81.01&nbsp;ms", "4.11 sec", "4.11<br>sec"), variantFigures, "", false},
		"wide digits": {change("0.93", "０．９３", "98.44 ms", "９８.44 ms"), variantFigures, "", false},
		"thousands": {change("919.72", "1,919.72"), strings.ReplaceAll(variantFigures, "919.72", "1919.72"), "",
			false},
		"decimal commas": {variantHeading + variantHead + variantRule + strings.ReplaceAll(variantFirst+variantSecond,
			".", ","), strings.ReplaceAll(variantFigures, "x", ""), "", false},
		"decimal commas, three": {variantHeading + variantHead + variantRule +
			"| synchronous | 0,930 req/sec | 1,070 sec | 81,010 ms | 7,720 ms | 119,320 tokens/sec |\n",
			strings.Split(variantFigures, ";")[0], "", false},
		"unclear commas": {variantHeading + variantHead + variantRule +
			"| synchronous | 1,930 req/sec | 1,070 sec | 81,010 ms | 7,720 ms | 119,320 tokens/sec |\n", "",
			"decimal comma or thousands", true},
		"ranges": {change("98.44 ms", "98.44 ± 3 ms"),
			"0.93 latency=1.07 ttft=0.08101 itl=0.00772 119.32; 7.19 latency=4.11 itl=0.03127 919.72", "unknown unit", false},
		"thousands by letter": {change("919.72 tokens/sec", "0.92k tokens/sec"),
			"0.93 latency=1.07 ttft=0.08101 itl=0.00772 119.32; 7.19 latency=4.11 ttft=0.09844 itl=0.03127", "unknown unit",
			false},
		"per minute": {change("7.19 req/sec", "431.4 req/min"), variantFigures, "", false},
		"an emoji": {change("98.44 ms", "98.44 ms ✅"),
			"0.93 latency=1.07 ttft=0.08101 itl=0.00772 119.32; 7.19 latency=4.11 itl=0.03127 919.72", "unknown unit", false},

		// Tables.
		"a blank line": {variantHeading + variantHead + variantRule + variantFirst + "\n" + variantSecond,
			variantFigures, "", false},
		"a page break": {variantHeading + variantHead + variantRule + variantFirst +
			"\n### Results (continued)\n\n" + variantHead + variantRule + variantSecond, variantFigures, "", false},
		"a Chinese page break": {variantHeading + variantHead + variantRule + variantFirst + "\n（续表）\n\n" + variantSecond,
			variantFigures, "", false},
		"the heading repeated": {variantHeading + variantHead + variantRule + variantFirst + variantHead + variantSecond,
			variantFigures, "", false},
		"HTML": {variantHeading + "<table><tr><td>synchronous</td><td>0.93</td></tr></table>\n" +
			variantTable, variantFigures, "a table of HTML", true},
		"numbers of one GPU": {variantHeading + "以下吞吐均为单卡数值\n\n" + variantHead + variantRule + variantFirst,
			"latency=1.07 ttft=0.08101 itl=0.00772", "are of a part", true},
		"a footnote of one GPU": {variantTable + "\nAll throughput figures are per GPU.\n",
			"latency=1.07 ttft=0.08101 itl=0.00772; latency=4.11 ttft=0.09844 itl=0.03127", "are of a part", true},
		"engines in a column": {variantHeading + strings.NewReplacer("| Benchmark", "| Engine | Benchmark", "|---|\n",
			"|---|---|\n", "| synchronous", "| vLLM | synchronous", "| asynchronous",
			"| SGLang | asynchronous").Replace(variantHead+variantRule+variantFirst+variantSecond),
			strings.Split(variantFigures, ";")[0], "", false},
		"engines before the name": {change("| asynchronous", "| SGLang asynchronous"), strings.Split(variantFigures, ";")[0],
			"", false},

		"no unit anywhere": {change("81.01 ms", "0.08", "98.44 ms", "0.098"), strings.NewReplacer("ttft=0.08101 ", "",
			"ttft=0.09844 ", "").Replace(variantFigures), "neither the heading nor a cell has a unit", true},
		"a unit in one cell": {change("98.44 ms", "98.44"), variantFigures, "", false},
		"throughput of what": {change("Output Token Throughput", "Throughput"),
			"0.93 latency=1.07 ttft=0.08101 itl=0.00772; 7.19 latency=4.11 ttft=0.09844 itl=0.03127",
			`"throughput" in its heading`, true},
		"a footnote on a heading": {change("Request Latency", "Request Latency*"), strings.NewReplacer("latency=1.07 ", "",
			"latency=4.11 ", "").Replace(variantFigures), "a footnote may change", true},
		"a superscript on one": {change("Output Token Throughput", "Output Token Throughput¹"),
			"0.93 latency=1.07 ttft=0.08101 itl=0.00772; 7.19 latency=4.11 ttft=0.09844 itl=0.03127", "a footnote may change",
			true},
		"a bold heading": {change("Request Latency", "**Request Latency**"), variantFigures, "", false},
		"points group thousands": {variantHeading + variantHead + variantRule +
			"| synchronous | 0,930 req/sec | 1,070 sec | 81,010 ms | 7,720 ms | 1.119,320 tokens/sec |\n",
			"0.93 latency=1.07 ttft=0.08101 itl=0.00772 1119.32", "", false},
		"commas and points mixed": {variantHeading + variantHead + variantRule +
			"| synchronous | 0,93 req/sec | 1.07 sec | 81.01 ms | 7.72 ms | 119.32 tokens/sec |\n",
			"latency=1.07 ttft=0.08101 itl=0.00772 119.32", "decimal comma or thousands", true},

		// Lines beside a table.
		"medians": {variantTable + "\n(All times in the table are medians.)\n", "0.93 119.32; 7.19 919.72",
			"since they are no means", true},
		"95th percentiles": {variantTable + "\n*Latencies in the table above are 95th percentiles, not means.*\n",
			"0.93 119.32; 7.19 919.72", "since they are no means", true},
		"a p95, in Chinese": {variantHeading + "注：以上延迟均为P95。\n\n" + strings.TrimPrefix(variantTable, variantHeading),
			"0.93 119.32; 7.19 919.72", "since they are no means", true},
		"measured at p99": {variantTable + "\nTTFT was measured at p99.\n", "0.93 119.32; 7.19 919.72",
			"since they are no means", true},
		"a result with a p99": {variantTable + "\nThe latency at 7.42 req/s is 4.1 s, its p99 6.2 s.\n", variantFigures,
			"", false},
		"rates per GPU": {variantTable + "\nRates are per GPU.\n",
			"latency=1.07 ttft=0.08101 itl=0.00772; latency=4.11 ttft=0.09844 itl=0.03127", "are of a part", true},
		"divided": {variantTable + "\nThe throughput columns were divided by the number of GPUs.\n",
			"latency=1.07 ttft=0.08101 itl=0.00772; latency=4.11 ttft=0.09844 itl=0.03127", "are of a part", true},
		"of each request": {variantHeading + "Output (tok/s per request, not total):\n\n" +
			strings.TrimPrefix(variantTable, variantHeading),
			"latency=1.07 ttft=0.08101 itl=0.00772; latency=4.11 ttft=0.09844 itl=0.03127", "are of a part", true},
		"an erratum": {variantTable + "\n**Erratum:** the headings of TTFT and ITL are swapped.\n", "",
			"that it speaks of are left out", true},
		"a wrong unit": {variantTable + "\nTTFT is in microseconds, the unit in the table is wrong.\n", "",
			"that it speaks of are left out", true},
		"ratios": {strings.Replace(variantTable, "=128", "=128, relative to SGLang (SGLang = 1.00)", 1), "",
			"that it speaks of are left out", true},
		"a trimmed mean": {"## vLLM (trimmed mean of 5 runs)\n\n" + strings.TrimPrefix(variantTable, variantHeading),
			"", "that it speaks of are left out", true},
		"one replica": {"## replica 1 alone\n\n" + variantServing("Request throughput (req/s)", "7.19"), "",
			"are of a part", true},
		"what is counted": {variantTable + "\nOutput Token Throughput counts input and output tokens.\n",
			"0.93 latency=1.07 ttft=0.08101 itl=0.00772; 7.19 latency=4.11 ttft=0.09844 itl=0.03127",
			"that it speaks of are left out", true},
		"another row": {variantTable + "\nThe last row used 2048 output tokens.\n", variantFigures,
			"as if it were not said", false},
		"engines for loads": {change("| synchronous", "| 🥇 vLLM 0.8", "| asynchronous@7.42 req/sec", "| SGLang 0.4.3"),
			"", "is no load", true},
		"quantizations for one": {change("| synchronous", "| FP16", "| asynchronous@7.42 req/sec", "| GPTQ-Int4"), "",
			"is no load", true},

		// Labels of lines.
		"stress, in milliseconds": {variantStress("Average Response Time (ms)", "4110"), "latency=4.11", "", false},
		"stress, its own unit":    {variantStress("P99 Response Time", "4.11 seconds"), "latency:p99=4.11", "", false},
		"stress, without a unit":  {variantStress("P99 Response Time", "6070"), "", "has no unit", true},
		"stress, of both": {variantStress("Tokens Per Second", "4238 (prompt + generated)"), "",
			"prompt + generated", true},
		"stress, per worker": {variantStress("Tokens Per Second (per worker)", "919.72"), "",
			`"per worker" in its heading`, true},
		"serving, in seconds":   {variantServing("Mean TTFT (s)", "0.15609"), "ttft=0.15609", "", false},
		"serving, as published": {variantServing("Mean TTFT (ms)", "156.09"), "ttft=0.15609", "", false},
		"serving, latency":      {variantServing("Mean E2E Latency (s)", "7.008"), "latency=7.008", "", false},
		"serving, another unit": {variantServing("Mean TTFT (tok/s)", "7.008"), "", `"tok/s" in its heading`, true},
		"serving, not understood": {variantServing("Request throughput (per worker)", "7.008"), "",
			`"per worker" in its heading`, true},
		"serving, p99 in brackets": {variantServing("TTFT (p99, ms)", "156.09"), "ttft:p99=0.15609", "", false},
	} {
		doc, err := ParseText("doc.md", strings.NewReader(c.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := ""
		if len(doc.Runs) > 0 {
			got = figuresOf(&doc.Runs[0])
		}
		said, all := false, ""
		for _, r := range doc.Remarks {
			said = said || r.Unread && c.unread != "" && strings.Contains(r.Text, c.unread)
			if r.Unread {
				all += r.Text + "; "
			}
		}
		if strings.Trim(got, "; ") != c.want || said != (c.unread != "") || (all != "") != (c.unread != "") ||
			doc.Broken() != c.broken {
			t.Errorf("%s: %q, want %q; broken %v (%d of %d lost); remarks %q", name, got, c.want, doc.Broken(), doc.Lost,
				doc.Figures+doc.Lost, all)
		}
	}
}

// TestEnginesOfOneTable: each engine of a table is a configuration.
func TestEnginesOfOneTable(t *testing.T) {
	text := strings.Replace(variantHeading, "vLLM", "vLLM 与 SGLang", 1) +
		strings.NewReplacer("| Benchmark", "| 引擎 | Benchmark", "|---|\n", "|---|---|\n").Replace(variantHead+variantRule) +
		strings.Replace(variantFirst, "| s", "| vLLM | s", 1) + strings.Replace(variantFirst, "| s", "| SGLang | s", 1) +
		strings.Replace(variantSecond, "| a", "| vLLM | a", 1) + strings.Replace(variantSecond, "| a", "| SGLang | a", 1)
	doc := parseText(t, text)
	if len(doc.Runs) != 2 {
		t.Fatalf("%d results", len(doc.Runs))
	}
	for i, engine := range []string{"vLLM", "SGLang"} {
		run := &doc.Runs[i]
		if run.Labels.Engine != engine || figuresOf(run) != variantFigures || run.Stages[1].Name != "poisson@7.42" {
			t.Errorf("%s: %s, %s", run.Labels.Engine, figuresOf(run), run.Stages[1].Name)
		}
	}
}

// TestCaveatOfTheTableAbove: a line beneath a table is not one of the next table, which has a heading of its own; where
// it has none, it may be of either.
func TestCaveatOfTheTableAbove(t *testing.T) {
	const medians = "\nAll latencies are medians.\n\n"
	doc := parseText(t, variantTable+medians+variantTable)
	if got := figuresOf(&doc.Runs[0]) + "|" + figuresOf(&doc.Runs[1]); got != "0.93 119.32; 7.19 919.72|"+variantFigures {
		t.Error(got)
	}
	doc = parseText(t, variantTable+medians+strings.TrimPrefix(variantTable, variantHeading))
	if got := figuresOf(&doc.Runs[0]) + "|" +
		figuresOf(&doc.Runs[1]); got != "0.93 119.32; 7.19 919.72|0.93 119.32; 7.19 919.72" {
		t.Error(got)
	}
}

// TestTableGoesOn: a table whose heading is printed again goes on, if its rows are others.
func TestTableGoesOn(t *testing.T) {
	table := strings.TrimPrefix(variantTable, variantHeading)
	more := variantHead + variantRule + strings.ReplaceAll(variantSecond, "7.42", "8.42")
	for text, want := range map[string]string{
		variantTable + "\n" + more:  "3",
		variantTable + "\n" + table: "2 2",
		variantTable + strings.ReplaceAll(variantSecond, "asynchronous@7.42 req/sec", "throughput") + "\n" + more: "3 1",
	} {
		var rows []string
		for _, run := range parseText(t, text).Runs {
			rows = append(rows, fmt.Sprint(len(run.Stages)))
		}
		if got := strings.Join(rows, " "); got != want {
			t.Errorf("%s rows, want %s, of\n%s", got, want, text)
		}
	}
}

// TestLabelsOfPlainLines: headings and lines of prose that name what was measured label the tables beneath.
func TestLabelsOfPlainLines(t *testing.T) {
	table := strings.TrimPrefix(variantTable, variantHeading)
	for above, want := range map[string]string{
		"### Mixtral-8x7B-Instruct, 2x A100 80GB, vLLM 0.5.4\n":                     "Mixtral-8x7B-Instruct||2 A100 80GB|vLLM",
		"## vLLM 0.7.2 / Qwen2.5-32B-Instruct-AWQ / 2x RTX 4090\n":                  "Qwen2.5-32B-Instruct|AWQ|2 RTX 4090|vLLM",
		"# Qwen2.5-14B-Instruct 推理压测\n\n## 2×L20（48GB）+ SGLang\n":                   "Qwen2.5-14B-Instruct||2 L20|SGLang",
		"Table 3. Phi-4 (14B), 1 x L20 48GB, vLLM 0.8.1, 512 prompt tokens.\n":      "Phi-4||1 L20 48GB|vLLM",
		"# SGLang, Qwen2.5-72B-Instruct on H800\n\n## TP=8\n":                       "Qwen2.5-72B-Instruct||8 H800|SGLang",
		"- **GLM-4-9B-Chat**, **１**张**RTX 3090 24GB**, **vLLM**, prompt_tokens=1\n": "GLM-4-9B-Chat||1 RTX 3090 24GB|vLLM",
		"We compared vLLM and others for some time. It was hard.\n":                 "||0 |",
	} {
		l := parseText(t, above+"\n"+table).Runs[0].Labels
		if got := fmt.Sprintf("%s|%s|%d %s|%s", l.Model, l.Quant, l.GPUs, l.GPU, l.Engine); got != want {
			t.Errorf("%q: %s, want %s", above, got, want)
		}
	}
}

// TestNothingIsInvented: a count that is not printed is not reckoned, and a rate that is not is no closed loop.
func TestNothingIsInvented(t *testing.T) {
	doc := parseText(t, variantStress("Total Requests", "1000"))
	if q := doc.Runs[0].Stages[0].Requests; q.Due != 1000 || q.OK != 0 || q.Incomplete != 0 {
		t.Errorf("%+v", q)
	}
	for label, want := range map[string]string{"Request throughput (req/s)": "requests",
		"Traffic request rate": "asynchronous@20.00", "Request rate configured (RPS)": "asynchronous@20.00"} {
		if s := parseText(t, variantServing(label, "20.0")).Runs[0].Stages[0]; s.Name != want {
			t.Errorf("%s: %s, want %s", label, s.Name, want)
		}
	}
}
