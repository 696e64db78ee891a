// What the lines above a result say about it: headings, commands that started a server, the table of nvidia-smi,
// log lines, answers of the server, and remarks that somebody wrote between results.

package published

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"llmsweep/sweep/rundir"
)

// contextAbove is what the lines above a result say about it.
type contextAbove struct {
	levels     [7]string // Markdown headings, by level
	levelLines [7]int
	captions   []said // lines such as "---- sglang ----" beneath the last heading, oldest first
	launch     *command
	hardware   *hardware
	gpusSaid   said         // a remark on the number of GPUs
	caveats    cautions     // for the next table
	beside     []said       // lines of prose above the next table that are not understood
	warm       said         // a remark that calls the next result a warm-up
	asks       said         // the model that a printed request names
	Heading    *headingText // of a table that has not come yet
	// BlockHeading is the heading line of the stress tables or serving blocks above and beneath.
	BlockHeading *headingText
	Dataset      string
	Warmup       string
	Asked        totalLines
	Completed    rundir.Printed // "Test completed in 259.13 seconds"
	Title        *titleLine
	responses    []rundir.Response
	lines        []string // of the document
}

// totalLines are the token counts that a serving benchmark logs before it starts.
type totalLines struct{ Input, Output rundir.Printed }

// titleLine is the line above a stress table.
type titleLine struct {
	Line   int
	Engine string
	Date   time.Time // when the tool printed it, which is when the test had ended
}

// newContextAbove returns what is known above the first line of a document.
func newContextAbove(lines []string) *contextAbove { return &contextAbove{lines: lines} }

// Begin opens a result at a line, with the headings and the answers above it.
func (c *contextAbove) Begin(doc *Document, format string, line int) *Result {
	r := doc.Begin(format, line)
	r.Run.Source.Heading, r.Run.Source.Responses = c.Path(), c.responses
	return r
}

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

// Note takes in a line that says something about the results beneath it.
func (c *contextAbove) Note(line string, number int) bool {
	if m := headingLine.FindStringSubmatch(line); m != nil {
		c.enter(len(m[1]), m[2], number)
		return true
	}
	if m := totalLine.FindStringSubmatch(line); m != nil {
		at := rundir.Printed{Line: number, Text: m[2]}
		if strings.EqualFold(m[1], "input") {
			c.Asked.Input = at
		} else {
			c.Asked.Output = at
		}
		return true
	}
	if m := captionLine.FindStringSubmatch(line); m != nil {
		c.caption(m[1], number)
		return true
	}
	if m := completedLine.FindStringSubmatch(line); m != nil {
		c.Completed = rundir.Printed{Line: number, Text: m[1]}
		return true
	}
	if m := warmupLine.FindStringSubmatch(line); m != nil {
		c.Warmup = m[1]
		return true
	}
	if m := datasetLine.FindStringSubmatch(line); m != nil {
		c.Dataset = path.Base(m[1])
		return true
	}
	if c.comment(line, number) || c.smiLine(line, number) {
		return true
	}
	asks := c.request(line, number)
	return c.response(line, number) || asks
}

// caption adds a line beneath the headings; it takes the place of the one that spoke of the same.
func (c *contextAbove) caption(text string, number int) {
	speaksOf := func(s string) (what int) {
		if _, ok := labelThink(s); ok {
			what = 1
		}
		if _, ok := labelEngine(s); ok {
			what += 2
		}
		return what
	}
	about := speaksOf(text)
	c.captions = slices.DeleteFunc(slices.Clone(c.captions), func(s said) bool { return speaksOf(s.text) == about })
	c.captions = append(c.captions, said{line: number, text: text, n: c.depth()})
}

// enter opens a Markdown heading: what stood beneath its like is over.
func (c *contextAbove) enter(level int, text string, number int) {
	c.levels[level], c.levelLines[level] = text, number
	clear(c.levels[level+1:])
	c.captions = slices.DeleteFunc(slices.Clone(c.captions), func(s said) bool { return s.n >= level })
	c.responses, c.gpusSaid, c.asks, c.BlockHeading = nil, said{}, said{}, nil
	if c.launch != nil && level <= c.launch.depth {
		c.launch = nil
	}
	c.Forget()
}

// Forget drops what belongs to the next result only.
func (c *contextAbove) Forget() {
	c.Dataset, c.Warmup, c.Asked, c.Completed, c.Title = "", "", totalLines{}, rundir.Printed{}, nil
	c.warm, c.caveats, c.beside = said{}, nil, nil
}

// response takes a line of a server's answer in, as far as it counts tokens. Answers are printed over several lines.
func (c *contextAbove) response(line string, number int) bool {
	m := tokensLine.FindStringSubmatch(line)
	last := len(c.responses) - 1
	if m == nil {
		l := latencyField.FindStringSubmatch(line)
		if l == nil || last < 0 || number-c.responses[last].Line > 3 {
			return false
		}
		c.responses[last].Latency = exactly(l[1])
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
		r.Latency = exactly(l[1])
	}
	c.responses = append(c.responses[:last+1:last+1], r) // results above share the slice
	return true
}

// exactly returns a number that was printed; it is absent where text is none.
func exactly(text string) rundir.Number {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return rundir.Number{}
	}
	return rundir.Exactly(v)
}

// Path is where a result stands, from the outermost heading in. The title of a document that has other headings says
// nothing about it.
func (c *contextAbove) Path() string {
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
	return strings.Join(parts, pathSeparator)
}

// pathSeparator stands between the headings of a path.
const pathSeparator = " / "

// HeadingName returns the innermost heading above a table or block that names neither an engine nor a mode of thinking,
// which are labels; empty where there is none.
func HeadingName(src *rundir.Source) string {
	if src.Format != Stress && src.Format != Serving {
		return ""
	}
	parts := strings.Split(src.Heading, pathSeparator)
	for _, text := range slices.Backward(parts) {
		_, engine := labelEngine(text)
		if _, mode := labelThink(text); !engine && !mode {
			return text
		}
	}
	return ""
}

// innermost looks for something in the captions and headings above, the nearest first.
func innermost[T any](c *contextAbove, find func(string) (T, bool)) (found T, ok bool) {
	found, _, ok = innermostAt(c, find)
	return found, ok
}

// innermostAt is innermost, with the line that it was found in.
func innermostAt[T any](c *contextAbove, find func(string) (T, bool)) (found T, at said, ok bool) {
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

// LastHeading returns the innermost Markdown heading above.
func (c *contextAbove) LastHeading() string { return c.levels[c.depth()] }
