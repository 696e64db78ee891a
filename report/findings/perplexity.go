package findings

import (
	"strconv"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

var (
	sayPerplexity = lang.Say("Perplexity of %s: %s, %s bits per byte, %s nats per token (%s tokens in %s windows; 95 %% intervals in brackets), measured alone before the load.",
		"%s 的困惑度：%s，每字节 %s 比特，每 token %s 奈特（%[6]s 个窗口、%[5]s 个 token；括号内为 95 %% 区间），在加负载之前单独测得。")
	sayNoPerplexity = lang.Say("Perplexity of %s: not known.", "%s 的困惑度：未知。")
)

// scored returns how likely the server finds the text that it was given; nothing where there was none.
func scored(run *rundir.Run, l lang.Lang) []string {
	p := run.Perplexity
	if p == nil {
		return nil
	}
	name := table.Clean(p.File)
	if !p.NLL.Mean.Known() {
		return []string{sayNoPerplexity.In(l, name)}
	}
	return []string{sayPerplexity.In(l, name, Spread(p.Perplexity, PerplexityDigits), Spread(p.BitsPerByte, BitsDigits), Spread(p.NLL, BitsDigits), strconv.Itoa(p.Tokens), strconv.Itoa(p.Windows))}
}

// Decimals of what is told of a text. Differences of a quantized model are in the third digit.
const (
	PerplexityDigits = 3
	BitsDigits       = 4
)

// Spread is a number with its interval, where it has one: "5.213 (5.102..5.327)".
func Spread(e rundir.Estimate, decimals int) string {
	return SpreadOf(e, "", func(n rundir.Number) string { return strconv.FormatFloat(n.Value(), 'f', decimals, 64) })
}

// SpreadOf is an estimate with a unit and its interval, where it has one, as print writes numbers.
func SpreadOf(e rundir.Estimate, unit string, print func(rundir.Number) string) string {
	switch {
	case !e.Mean.Known():
		return lang.Absent
	case !e.Low.Known():
		return print(e.Mean) + unit
	}
	return print(e.Mean) + unit + " (" + print(e.Low) + ".." + print(e.High) + ")"
}
