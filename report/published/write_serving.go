package published

import (
	"bufio"
	"cmp"
	"io"
	"math"
	"strconv"
	"strings"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Widths of a serving block, and of its labels.
const (
	servingWidth = 50
	servingLabel = 40
)

// WriteServing writes a block of 50 columns for each stage, as the serving benchmarks of inference engines print it:
// labels and units are a format that others read, so they are the same in every language. Percentiles that too few
// requests support are named beneath the block.
//
// Concurrency is the number in flight, integrated over the window; the other tools divide the sum of latencies by the
// duration, which comes to the same but for the window's edges. Inter-token latency is pooled per chunk as it came.
func WriteServing(w io.Writer, runs []rundir.Run, l lang.Lang) error {
	out := bufio.NewWriter(w)
	first, several := true, len(runs) > 1 || len(runs[0].Stages) > 1
	for i := range runs {
		for _, r := range wholeRunRows(&runs[i]) {
			if !first {
				out.WriteString("\n")
			}
			first = false
			if several {
				name := findings.SetupName(r.Run, l) + lang.Comma.In(l) + findings.StageName(r.Stage)
				out.WriteString("## " + table.Clean(name) + "\n")
			}
			writeServing(out, r, l)
		}
	}
	return out.Flush()
}

func writeServing(w *bufio.Writer, r findings.StageRow, l lang.Lang) {
	b := servingBlock{w}
	s := r.Stage
	b.section(" Serving Benchmark Result ", "=")
	b.line("Backend", backend(r.Run))
	b.line("Traffic request rate", trafficRate(s.Rate))
	bound := "not set"
	if s.MaxConcurrency != 0 {
		bound = strconv.Itoa(s.MaxConcurrency)
	}
	b.line("Max request concurrency", bound)
	b.line("Successful requests", successCount(s))
	b.float("Benchmark duration (s)", positive(s.Window))
	b.tokens(s)
	b.float("Request throughput (req/s)", lang.NonZero(s.Rates.Completed))
	b.float("Input token throughput (tok/s)", lang.NonZero(s.TokensPerS.Input))
	b.float("Output token throughput (tok/s)", lang.NonZero(s.TokensPerS.Output))
	b.float("Total token throughput (tok/s)", lang.NonZero(s.TokensPerS.Total))
	b.float("Concurrency", s.Concurrency.Mean)
	b.dist("End-to-End Latency", "E2E Latency", &s.Latency, "mean", "p50")
	b.dist("Time to First Token", "TTFT", &s.TTFT, "mean", "p50", "p99")
	b.dist("Time per Output Token (excl. 1st token)", "TPOT", &s.TPOT, "mean", "p50", "p99")
	b.dist("Inter-Token Latency", "ITL", chunkGaps(s), "mean", "p50", "p95", "p99", "max")
	b.section("", "=")
	writeNotes(w, servingNotes(r, l))
}

// servingBlock writes the lines of a block. Errors surface when the writer is flushed.
type servingBlock struct{ w *bufio.Writer }

// section centres a title; where the spare columns are odd, the extra one stands right.
func (b servingBlock) section(title, fill string) {
	spare := servingWidth - len(title)
	b.w.WriteString(strings.Repeat(fill, spare/2) + title + strings.Repeat(fill, spare-spare/2) + "\n")
}

func (b servingBlock) line(label, value string) {
	b.w.WriteString(table.Pad(label+":", servingLabel, true) + " " + table.Clean(value) + "\n")
}

func (b servingBlock) float(label string, f rundir.Number) {
	b.line(label, lang.Number(f, lang.Fixed(2)))
}

// tokens has lines for text and vision tokens where the source told them apart: requests of llmsweep are all text.
func (b servingBlock) tokens(s *rundir.Stage) {
	input := total(&s.PromptTokens)
	text, vision := s.PromptTokens.Text, s.PromptTokens.Vision
	if s.Source == nil && !input.IsZero() {
		text, vision = input, rundir.Exactly(0)
	}
	b.line("Total input tokens", lang.Number(input, lang.WholeOr(0)))
	if !text.IsZero() {
		b.line("Total input text tokens", lang.Number(text, lang.WholeOr(0)))
	}
	if !vision.IsZero() {
		b.line("Total input vision tokens", lang.Number(vision, lang.WholeOr(0)))
	}
	b.line("Total generated tokens", lang.Number(total(&s.OutputTokens), lang.WholeOr(0)))
	if !s.OutputTokens.Retokenized.IsZero() {
		b.line("Total generated tokens (retokenized)", lang.Number(s.OutputTokens.Retokenized, lang.WholeOr(0)))
	}
}

func (b servingBlock) dist(title, metric string, d *rundir.Dist, names ...string) {
	b.section(title, "-")
	for _, name := range names {
		b.float(servingStatistic(name)+" "+metric+" (ms)", lang.Scale(d.Get(name), 1e3))
	}
}

func servingStatistic(name string) string {
	switch name {
	case "p50":
		return "Median"
	case "mean":
		return "Mean"
	case "max":
		return "Max"
	}
	return strings.ToUpper(name)
}

// chunkGaps are the gaps between chunks as they came; where each held one token they are those between tokens.
func chunkGaps(s *rundir.Stage) *rundir.Dist {
	if s.ChunkGap.N > 0 {
		return &s.ChunkGap
	}
	return &s.ITL
}

// backend names the engine and the API, as the format does: sglang-oai-chat.
func backend(run *rundir.Run) string {
	if b := run.Target.Backend; b != "" {
		return b
	}
	engine, api := strings.ToLower(findings.EngineName(run)), run.Target.API
	switch {
	case api == engine: // its own
		api = ""
	case engine == "sglang" && api == "completions":
		api = "oai"
	case engine == "sglang" && api == "chat":
		api = "oai-chat"
	case engine != "" && api == "completions":
		api = ""
	}
	return cmp.Or(strings.Join(strings.Fields(engine+" "+api), "-"), lang.Absent)
}

// trafficRate prints a rate as Python prints a float of two decimals. A closed loop has none: all requests may come at
// once.
func trafficRate(f rundir.Number) string {
	if !f.Known() {
		return "inf"
	}
	s := strings.TrimRight(lang.Number(f, lang.Rate), "0")
	if strings.HasSuffix(s, ".") {
		s += "0"
	}
	return s
}

// successCount is absent for what was read from a table without counts.
func successCount(s *rundir.Stage) string {
	if s.Requests == (rundir.Requests{}) {
		return lang.Absent
	}
	return strconv.Itoa(s.Requests.OK)
}

func servingNotes(r findings.StageRow, l lang.Lang) []string {
	s, gaps := r.Stage, chunkGaps(r.Stage)
	notes := []string{
		windowNote(s, l, "Benchmark duration"),
		unsupportedNote(l, []percentileName{
			{&s.Latency, "mean", "Mean E2E Latency"}, {&s.TTFT, "mean", "Mean TTFT"}, {&s.TTFT, "p99", "P99 TTFT"},
			{&s.TPOT, "mean", "Mean TPOT"}, {&s.TPOT, "p99", "P99 TPOT"}, {gaps, "mean", "Mean ITL"},
			{gaps, "p95", "P95 ITL"}, {gaps, "p99", "P99 ITL"},
		}),
		boundNote(l, &s.Latency, &s.TTFT, &s.TPOT, gaps),
	}
	if n := s.Requests.Incomplete; n > 0 {
		notes = append(notes, noteIncomplete.In(l, strconv.Itoa(n)))
	}
	return append(notes, lengthNote(r, l), firstAnswerNote(s, l), retokenizedNote(s, l), lengthWarning(r, l),
		goodputNote(s, l))
}

// Tokenizing the text anew loses special tokens and joins others, a per cent or two; a tenth is something else.
func retokenizedNote(s *rundir.Stage, l lang.Lang) string {
	again, reported := s.OutputTokens.Retokenized, total(&s.OutputTokens)
	if !again.Known() || !reported.Known() || math.Abs(again.Value()-reported.Value()) <= 0.1*reported.Value() {
		return ""
	}
	return noteRetokenized.In(l, lang.Number(again, lang.WholeOr(0)), lang.Number(reported, lang.WholeOr(0)))
}
