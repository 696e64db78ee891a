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

// preamble is what the lines above a result say about it: headings, commands that started a server, the table of
// nvidia-smi, log lines, answers of the server, and remarks that somebody wrote between results.
type preamble struct {
	levels        [7]string // Markdown headings, by level
	levelLines    [7]int
	captions      []mention // lines such as "---- sglang ----" beneath the last heading, oldest first
	launch        *launchCommand
	hardware      *hardware
	gpuMention    mention      // a remark on the number of GPUs
	warmUpMention mention      // a remark that calls the next result a warm-up
	heading       *headingText // of a table that has not come yet
	// blockHeading is the heading line of the stress tables or serving blocks above and beneath.
	blockHeading *headingText
	dataset      string
	warmup       string
	tokenTotals  totalTokens
	completed    rundir.Printed // "Test completed in 259.13 seconds"
	title        *titleLine
	responses    []rundir.Response
	lines        []string // of the document
}

// totalTokens are the token counts that a serving benchmark logs before it starts.
type totalTokens struct{ input, output rundir.Printed }

// titleLine is the line above a stress table.
type titleLine struct {
	line   int
	engine string
	date   time.Time // when the tool printed it, which is when the test had ended
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

// readLine reports whether a line says something about the results beneath it.
func (c *preamble) readLine(line string, number int) bool {
	if m := headingLine.FindStringSubmatch(line); m != nil {
		c.readHeading(len(m[1]), m[2], number)
		return true
	}
	if m := totalLine.FindStringSubmatch(line); m != nil {
		at := rundir.Printed{Line: number, Text: m[2]}
		if strings.EqualFold(m[1], "input") {
			c.tokenTotals.input = at
		} else {
			c.tokenTotals.output = at
		}
		return true
	}
	if m := captionLine.FindStringSubmatch(line); m != nil {
		c.addCaption(m[1], number)
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
	return c.readComment(line, number) || c.readSMILine(line, number) || c.readResponse(line, number)
}

// addCaption adds a line beneath the headings, in place of the one on the same topics.
func (c *preamble) addCaption(text string, number int) {
	topics := func(s string) [2]bool {
		_, thinking := findThinking(s)
		_, engine := findEngine(s)
		return [2]bool{thinking, engine}
	}
	same := func(s mention) bool { return topics(s.text) == topics(text) }
	c.captions = slices.DeleteFunc(slices.Clone(c.captions), same)
	c.captions = append(c.captions, mention{line: number, text: text, n: c.depth()})
}

// readHeading ends what belonged to headings of this level and below.
func (c *preamble) readHeading(level int, text string, number int) {
	c.levels[level], c.levelLines[level] = text, number
	clear(c.levels[level+1:])
	c.captions = slices.DeleteFunc(slices.Clone(c.captions), func(s mention) bool { return s.n >= level })
	c.responses, c.gpuMention, c.blockHeading = nil, mention{}, nil
	if c.launch != nil && level <= c.launch.depth {
		c.launch = nil
	}
	c.reset()
}

// reset drops what belongs to the next result only.
func (c *preamble) reset() {
	c.dataset, c.warmup, c.tokenTotals, c.completed, c.title = "", "", totalTokens{}, rundir.Printed{}, nil
	c.warmUpMention = mention{}
}

// readResponse reads what a server's answer, which may be printed over several lines, says of tokens and latency.
func (c *preamble) readResponse(line string, number int) bool {
	m := tokensLine.FindStringSubmatch(line)
	last := len(c.responses) - 1
	if m == nil {
		l := latencyField.FindStringSubmatch(line)
		if l == nil || last < 0 || number-c.responses[last].Line > 3 {
			return false
		}
		c.responses[last].Latency = parseNumber(l[1])
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
		r.Latency = parseNumber(l[1])
	}
	c.responses = append(c.responses[:last+1:last+1], r) // results above share the slice
	return true
}

func parseNumber(text string) rundir.Number {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return rundir.Number{}
	}
	return rundir.Exactly(v)
}

// path has the headings of a result from the outermost in. The title of a document that has other headings says nothing
// about a result.
func (c *preamble) path() string {
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

const pathSeparator = " / "

// HeadingName returns the innermost heading above a table or block that names neither an engine nor a mode of thinking,
// which are labels; empty where there is none.
func HeadingName(src *rundir.Source) string {
	if src.Format != Stress && src.Format != Serving {
		return ""
	}
	for _, text := range slices.Backward(strings.Split(src.Heading, pathSeparator)) {
		_, engine := findEngine(text)
		_, thinking := findThinking(text)
		if !engine && !thinking {
			return text
		}
	}
	return ""
}

// findNearestMention searches the captions and headings above, the nearest first.
func findNearestMention[T any](c *preamble, find func(string) (T, bool)) (found T, at mention, ok bool) {
	for _, caption := range slices.Backward(c.captions) {
		if found, ok = find(caption.text); ok {
			return found, caption, true
		}
	}
	for i, heading := range slices.Backward(c.levels[:]) {
		if found, ok = find(heading); ok {
			return found, mention{line: c.levelLines[i], text: heading}, true
		}
	}
	return found, mention{}, false
}

func (c *preamble) lastHeading() string { return c.levels[c.depth()] }
