package published

import (
	"cmp"
	"slices"
	"strings"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

type column struct {
	title       string
	key         string // in run.json, without the statistic
	names       []string
	dimension   Dimension
	defaultUnit string // the unit of the format
	scope       string // of the numbers, where others could be meant

	statistic  string // as the heading has it, or the mean
	unitStated bool   // the heading has the unit
}

// The columns that hold no number. A verdict may stand behind the six.
const (
	nameColumn    = "name"
	engineColumn  = "engine"
	verdictColumn = "verdict"
)

// columns returns the columns that are known. Their names are reduced to letters.
func columns() []column {
	return []column{
		{title: "Benchmark", key: nameColumn, names: []string{"benchmark", "基准测试", "基准", "测试", "阶段", "load", "负载"}},
		{title: "Engine", key: engineColumn, names: []string{"engine", "framework", "引擎", "框架", "推理引擎", "推理框架"}},
		{title: "Requests per Second", key: "rates.completed", dimension: Requests, defaultUnit: "req/sec",
			names: []string{"requestspersecond", "rps", "qps", "reqs", "requestss", "requestssec", "requestthroughput",
				"每秒请求数", "请求速率", "请求吞吐", "请求吞吐量"}},
		{title: "Request Latency", key: "latency_s", dimension: Time, defaultUnit: "sec",
			names: []string{"requestlatency", "latency", "e2e", "e2elatency", "e2el", "endtoendlatency",
				"请求延迟", "请求时延", "总时延", "端到端时延", "端到端延迟"}},
		{title: "Time to First Token", key: "ttft_s", dimension: Time, defaultUnit: "ms",
			names: []string{"timetofirsttoken", "ttft", "首token时间", "首token延迟", "首token时延", "首字延迟", "首字时延"}},
		{title: "Inter Token Latency", key: "itl_s", dimension: Time, defaultUnit: "ms",
			names: []string{"intertokenlatency", "itl", "token间延迟", "token间时延", "词间延迟"}},
		{title: "Time per Output Token", key: "tpot_s", dimension: Time, defaultUnit: "ms",
			names: []string{"timeperoutputtoken", "tpot"}},
		{title: "Output Token Throughput", key: "tokens_per_s.output", dimension: Tokens, defaultUnit: "tokens/sec",
			scope: "output",
			names: []string{"outputtokenthroughput", "outputthroughput", "tps", "toks", "tokenss", "tokenssec",
				"tokenthroughput", "throughput", "输出token吞吐量", "输出token吞吐", "输出吞吐", "输出吞吐量"}},
		{title: "Verdict", key: verdictColumn, names: []string{"verdict", "判定"}},
	}
}

func (c *column) hasNumbers() bool { return c.dimension != Number }

// figure is nil where a stage has no such statistic of the column.
func (c *column) figure(s *rundir.Stage, statistic string) *rundir.Number {
	if statistic == "mean" {
		switch c.key {
		case "rates.completed":
			return &s.Rates.Completed
		case "tokens_per_s.output":
			return &s.TokensPerS.Output
		case "itl_s":
			return &s.InterToken
		}
	}
	if d := TimesAt(s, c.key); d != nil {
		return distNumber(d, statistic)
	}
	return nil
}

// findColumns returns the column of each cell of a heading, nil for one that is not known or refused, and why it is
// refused; known is nil where it is no such table.
func findColumns(cells []string) (known []*column, refused map[int]note.Note) {
	known, refused = make([]*column, len(cells)), map[int]note.Note{}
	n, named := 0, false
	for i, cell := range cells {
		c, h := findColumn(cell)
		if c == nil {
			continue
		}
		if c.key != verdictColumn && c.key != engineColumn {
			n++
		}
		named = named || c.key == nameColumn
		if refused[i] = c.applyHead(h); refused[i].IsZero() {
			known[i] = c
		}
	}
	if n < 4 || !named {
		return nil, nil
	}
	for i, c := range known {
		for j := range i {
			if c != nil && known[j] != nil && figureKey(known[j].key, known[j].statistic) == figureKey(c.key, c.statistic) {
				refused[i], refused[j] = noteColumnTwice.New(short(cells[i])), noteColumnTwice.New(short(cells[j]))
			}
		}
	}
	for i, why := range refused {
		if !why.IsZero() {
			known[i] = nil
		}
	}
	return known, refused
}

func findColumn(cell string) (*column, head) {
	all := columns()
	for _, h := range []head{readHead(cell), readHead(cell).core(cell)} {
		for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, alike} {
			for i := range all {
				if slices.ContainsFunc(all[i].names, func(name string) bool { return same(h.name, name) }) {
					return &all[i], h
				}
			}
		}
	}
	return nil, head{}
}

// applyHead returns why a column with that heading cannot be read.
func (c *column) applyHead(h head) note.Note {
	if !c.hasNumbers() {
		return note.Note{}
	}
	c.statistic = cmp.Or(h.statistic, "mean")
	u, _ := unitOf(h.unit)
	switch {
	case h.unknown != "":
		return noteUnknownHead.New(c.title, h.unknown)
	case h.scope == "" && (h.name == "throughput" || h.name == "tokenthroughput"): // of input, output or both
		return noteUnknownHead.New(c.title, h.name)
	case h.scope != "" && h.scope != c.scope:
		return noteUnknownHead.New(c.title, h.scope)
	case h.unit != "" && u.dimension != c.dimension:
		return noteUnknownHead.New(c.title, h.unit)
	case c.figure(new(rundir.Stage), c.statistic) == nil:
		return noteUnknownHead.New(c.title, h.statistic)
	}
	c.defaultUnit, c.unitStated = cmp.Or(h.unit, c.defaultUnit), h.unit != ""
	return note.Note{}
}

// figureKey returns the key in run.json of a statistic of a column.
func figureKey(key, statistic string) string {
	switch {
	case key == "itl_s" && statistic == "mean":
		return "inter_token_s"
	case strings.HasSuffix(key, "_s"):
		return key + "." + statistic
	}
	return key
}

// hasUnit reports whether a cell of a column beneath the next line has a unit, or none has a number.
func (p *parser) hasUnit(column, columns int) bool {
	numbers := false
	for _, line := range p.lines[p.at+1:] {
		if !strings.Contains(line, "|") {
			break
		}
		row := splitCells(line)
		if len(row) != columns {
			continue
		}
		q, err := ParseQuantity(row[column])
		numbers = numbers || err == nil && q.Number.Known()
		if err == nil && q.Unit != "" {
			return true
		}
	}
	return !numbers
}
