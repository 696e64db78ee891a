package findings

import (
	"math"
	"strconv"
	"time"

	"llmsweep/report/lang"
)

// DryRun is what a plan sends at most. Costs are in the unit of the prices.
type DryRun struct {
	Requests, Warmup, Preflight int
	Prompt, Output              int64   // tokens of all of these
	Cost                        float64 // of these tokens
	Priced                      bool
	ByBytes                     bool   // prompts were reckoned at one token a byte
	Unbounded                   string // the first stage whose number of requests follows from the server's speed; empty for none

	MaxCost  float64   // 0 for no limit
	Outlooks []Outlook // of a sweep
}

// Outlook is how long a sweep takes on a plain server whose lone requests have a latency, and how many it sends.
type Outlook struct {
	Alone, Takes time.Duration
	Requests     int
}

var (
	sayDry     = lang.Say("Dry run: nothing is sent", "试算：不发送任何请求")
	sayOutlook = lang.Say("If a request takes %s s alone, a plain server is swept in about %s minutes with %s requests",
		"若单个请求耗时 %s 秒，测完一台普通服务约需 %s 分钟、%s 个请求")
	sayDryMost   = lang.Say("At most %s requests, besides up to %s of the warm-up and up to %s of the preflight", "至多 %s 个请求，另有预热至多 %s 个、预检至多 %s 个")
	sayDryTokens = lang.Say("At most %s prompt tokens and %s output tokens in all", "合计至多 %s 个提示词 token、%s 个输出 token")
	sayDryBytes  = lang.Say("Prompts are reckoned at one token a byte, about four times too many: give a --tokenizer for a closer number",
		"提示词按每字节一个 token 计算，约多算四倍；用 --tokenizer 可得到更接近的数字")
	sayDryOpen = lang.Say("The plan alone does not bound the requests (%s): their number follows from the server's speed. --max-rps, --max-tpm and --max-cost bound it, and so does --requests in a run; --budget and --max-concurrency do not, since a faster server is sent more in the same time",
		"计划本身不限制请求数（%s）：它取决于服务的速度。用 --max-rps、--max-tpm 或 --max-cost 限制，run 还可用 --requests；--budget 和 --max-concurrency 不能限制，因为服务越快，同样时间内发送的请求越多")
	sayDryCost    = lang.Say("At most %s at these prices", "按给定价格，费用至多 %s")
	sayDryNoPrice = lang.Say("Give --price-in and --price-out, per million tokens, for the cost", "给出 --price-in 和 --price-out（每百万 token）可得到费用")
	sayDryCostTo  = lang.Say("--max-cost ends it before a cost of %s", "--max-cost 使其在费用到达 %s 之前结束")
)

// Lines returns what a plan sends at most, as sentences.
func (d *DryRun) Lines(l lang.Lang) []string {
	whole, cost := func(n int64) string { return strconv.FormatInt(n, 10) }, func(c float64) string { return strconv.FormatFloat(c, 'f', costDigits, 64) }
	lines := []string{sayDry.In(l)}
	for _, o := range d.Outlooks {
		minutes := strconv.FormatFloat(math.Ceil(o.Takes.Minutes()), 'f', 0, 64)
		lines = append(lines, sayOutlook.In(l, lang.Shortest(o.Alone.Seconds()), minutes, strconv.Itoa(o.Requests)))
	}
	if d.Unbounded != "" {
		lines = append(lines, sayDryOpen.In(l, d.Unbounded))
	} else {
		lines = append(lines, sayDryMost.In(l, strconv.Itoa(d.Requests), strconv.Itoa(d.Warmup), strconv.Itoa(d.Preflight)),
			sayDryTokens.In(l, whole(d.Prompt), whole(d.Output)))
		if d.ByBytes {
			lines = append(lines, sayDryBytes.In(l))
		}
		if d.Priced {
			lines = append(lines, sayDryCost.In(l, cost(d.Cost)))
		} else {
			lines = append(lines, sayDryNoPrice.In(l))
		}
	}
	if d.MaxCost > 0 {
		lines = append(lines, sayDryCostTo.In(l, cost(d.MaxCost)))
	}
	for i := range lines {
		lines[i] += lang.Stop.In(l)
	}
	return lines
}
