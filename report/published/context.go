package published

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"llmsweep/sweep/rundir"
)

// context is what the lines above a result say of it.
type context struct {
	levels     [7]string // Markdown headings, by level
	levelLines [7]int
	captions   []said // lines such as "---- sglang ----" beneath the last heading, oldest first
	launch     *launch
	hardware   *hardware
	gpusSaid   said // a remark on the number of GPUs
	warm       said // a remark that calls the next result a warm-up
	asks       said // the model that a printed request names
	heading    *modelHeading
	dataset    string
	warmup     string
	asked      totals
	completed  rundir.Printed // "Test completed in 259.13 seconds"
	title      *stressTitle
	responses  []rundir.Response
}

// totals are the token counts that a serving benchmark logs before it starts.
type totals struct{ input, output rundir.Printed }

var (
	headingLine   = regexp.MustCompile(`^(#{1,6})\s+(.*?)\s*#*$`)
	captionLine   = regexp.MustCompile(`^[-=~*]{3,}\s*([^-=~*\s|+].*?)\s*[-=~*]{3,}$`)
	completedLine = regexp.MustCompile(`(?i)^test completed in\s+(\S.*)$`)
	totalLine     = regexp.MustCompile(`(?i)^#\s*(input|output) tokens:\s*([\d,]+)$`)
	warmupLine    = regexp.MustCompile(`(?i)^starting warm-?up with (\d+) `)
	datasetLine   = regexp.MustCompile(`(?i)^(\S+\.(?:jsonl?|csv|parquet)):\s+\d+%\|`)
	tokensLine    = regexp.MustCompile(`['"]completion_tokens['"]\s*:\s*(\d{1,9})\b`)
	promptField   = regexp.MustCompile(`['"]prompt_tokens['"]\s*:\s*(\d{1,9})\b`)
	finishField   = regexp.MustCompile(`['"]finish_reason['"]\s*:\s*(?:\{\s*['"]type['"]\s*:\s*)?['"](\w+)['"]`)
	latencyField  = regexp.MustCompile(`['"]e2e_latency['"]\s*:\s*([\d.]+)`)
)

// note takes a line in that says something about the results beneath it.
func (c *context) note(line string, number int) bool {
	if m := headingLine.FindStringSubmatch(line); m != nil {
		c.enter(len(m[1]), m[2], number)
		return true
	}
	if m := totalLine.FindStringSubmatch(line); m != nil {
		at := rundir.Printed{Line: number, Text: m[2]}
		if strings.EqualFold(m[1], "input") {
			c.asked.input = at
		} else {
			c.asked.output = at
		}
		return true
	}
	if m := captionLine.FindStringSubmatch(line); m != nil {
		c.caption(m[1], number)
		return true
	}
	if m := completedLine.FindStringSubmatch(line); m != nil {
		c.completed = rundir.Printed{Line: number, Text: m[1]}
		return true
	}
	if m := warmupLine.FindStringSubmatch(line); m != nil {
		c.warmup = m[1]
		return true
	}
	if m := datasetLine.FindStringSubmatch(line); m != nil {
		c.dataset = path.Base(m[1])
		return true
	}
	if c.comment(line, number) || c.smiLine(line, number) {
		return true
	}
	asks := c.request(line, number)
	return c.response(line, number) || asks
}

// caption adds a line beneath the headings; it takes the place of the one that spoke of the same.
func (c *context) caption(text string, number int) {
	speaksOf := func(s string) (what int) {
		if _, ok := thinkIn(s); ok {
			what = 1
		}
		if _, ok := engineIn(s); ok {
			what += 2
		}
		return what
	}
	about := speaksOf(text)
	c.captions = slices.DeleteFunc(slices.Clone(c.captions), func(s said) bool { return speaksOf(s.text) == about })
	c.captions = append(c.captions, said{line: number, text: text})
}

// enter opens a Markdown heading: what stood beneath its like is over.
func (c *context) enter(level int, text string, number int) {
	c.levels[level], c.levelLines[level] = text, number
	clear(c.levels[level+1:])
	c.captions, c.responses, c.gpusSaid, c.asks = nil, nil, said{}, said{}
	if c.launch != nil && level <= c.launch.depth {
		c.launch = nil
	}
	c.forget()
}

// forget drops what belongs to the next result only.
func (c *context) forget() {
	c.dataset, c.warmup, c.asked, c.completed, c.title = "", "", totals{}, rundir.Printed{}, nil
	c.warm = said{}
}

// response takes a line of a server's answer in, as far as it counts tokens. Answers are printed over several lines.
func (c *context) response(line string, number int) bool {
	m := tokensLine.FindStringSubmatch(line)
	last := len(c.responses) - 1
	if m == nil {
		l := latencyField.FindStringSubmatch(line)
		if l == nil || last < 0 || number-c.responses[last].Line > 3 {
			return false
		}
		c.responses[last].Latency = parseFigure(l[1])
		return true
	}
	r := rundir.Response{Line: number}
	r.CompletionTokens, _ = strconv.Atoi(m[1]) // at most nine digits
	if p := promptField.FindStringSubmatch(line); p != nil {
		r.PromptTokens, _ = strconv.Atoi(p[1])
	}
	if f := finishField.FindStringSubmatch(line); f != nil {
		r.Finish = f[1]
	}
	if l := latencyField.FindStringSubmatch(line); l != nil {
		r.Latency = parseFigure(l[1])
	}
	c.responses = append(c.responses[:last+1:last+1], r) // results above share the slice
	return true
}

func parseFigure(text string) rundir.Number {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return rundir.Number{}
	}
	return rundir.Exactly(v)
}

// path is where a result stands, from the outermost heading in. The title of a document that has other headings says
// nothing about it.
func (c *context) path() string {
	var parts []string
	for _, h := range c.levels[2:] {
		if h != "" {
			parts = append(parts, h)
		}
	}
	if len(parts) == 0 && c.levels[1] != "" {
		parts = append(parts, c.levels[1])
	}
	for _, s := range c.captions {
		parts = append(parts, s.text)
	}
	return strings.Join(parts, " / ")
}

// innermost looks for something in the captions and headings above, the nearest first.
func innermost[T any](c *context, find func(string) (T, bool)) (found T, ok bool) {
	found, _, ok = innermostAt(c, find)
	return found, ok
}

// innermostAt is innermost, with the line that it was found in.
func innermostAt[T any](c *context, find func(string) (T, bool)) (found T, at said, ok bool) {
	for i := len(c.captions) - 1; i >= 0; i-- {
		if found, ok = find(c.captions[i].text); ok {
			return found, c.captions[i], ok
		}
	}
	for i := len(c.levels) - 1; i >= 0; i-- {
		if found, ok = find(c.levels[i]); ok {
			return found, said{line: c.levelLines[i], text: c.levels[i]}, ok
		}
	}
	return found, said{}, false
}
