package published

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"llmsweep/sweep/rundir"
)

// mention is a line that says something of the results beneath it.
type mention struct {
	line int
	text string
	n    int // the number of GPUs; of a caption, the level of the heading above it
}

// chineseCounts are the numbers of GPUs that people write in words, as in 双卡.
var chineseCounts = map[string]int{"单": 1, "双": 2, "两": 2, "三": 3, "四": 4, "八": 8}

var (
	commentLine  = regexp.MustCompile(`^(?://+|/\*+|\*{3,})\s*(.*?)\s*(?:\*+/?)?$`)
	warmUpWord   = regexp.MustCompile(`(?i)\bwarm(?:ing)?[- ]?up\b|预热|热身`)
	noWarmUpWord = regexp.MustCompile(`(?i)\b(?:no|not|without|don't|skip|after)\b|n't\b|无需|不需要|不用|不必|没有|未|之后|后`)
	gpusWord     = regexp.MustCompile(`(?i)(?:^|[^\d.])(\d{1,4})\s*(?:x\s*|×\s*)?(?:NVIDIA\s+)?(?:[A-Z]{1,3}\d{2,4}\w?\s+)?(?:GPUs?\b|张|块|卡)`)
	gpusChinese  = regexp.MustCompile(`(单|双|两|三|四|八)\s*(?:张|块)?\s*(?:卡|GPU)`)
	promptLength = regexp.MustCompile(`(?i)\b(?:prompt|input)_tokens\s*[=:]\s*(\d{1,7})\b`)
	answerLength = regexp.MustCompile(`(?i)\b(?:generated|output)_tokens\s*[=:]\s*(\d{1,7})\b`)
	headingDate  = regexp.MustCompile(`^(?:(\d{4})[-./年])?(\d{1,2})[-./月](\d{1,2})(?:日)?(?:\s*(?:-|–|~|至)\s*(\d{1,2})日?)?$`)
)

// readComment reads a remark between results: "//warm up effect!", "/**** Now compare with 2 GPUs ****/".
func (c *preamble) readComment(line string, number int) bool {
	m := commentLine.FindStringSubmatch(line)
	if m == nil || m[1] == "" {
		return false
	}
	known := false
	if n, ok := findGPUCount(m[1]); ok {
		c.gpuMention = mention{line: number, text: line, n: n}
		c.launch = nil // the remark opens something else than what the command above it started
		known = true
	}
	if warmUpWord.MatchString(m[1]) {
		c.warmUpMention = mention{}
		if !noWarmUpWord.MatchString(m[1]) {
			c.warmUpMention = mention{line: number, text: line}
		}
		known = true
	}
	return known
}

func findGPUCount(text string) (int, bool) {
	if m := gpusWord.FindStringSubmatch(text); m != nil {
		n, err := strconv.Atoi(m[1])
		return n, err == nil && n > 0
	}
	if m := gpusChinese.FindStringSubmatch(text); m != nil {
		return chineseCounts[m[1]], true
	}
	return 0, false
}

// depth is the level of the innermost heading; 0 above the first.
func (c *preamble) depth() int {
	for i := len(c.levels) - 1; i > 0; i-- {
		if c.levels[i] != "" {
			return i
		}
	}
	return 0
}

// candidate is what one place says of a label.
type candidate struct {
	value string
	rundir.Label
	upperBound bool // a number that the label may be below: the GPUs that a machine has
}

// chooseLabel takes the first candidate that has a value, records where it is from, and remarks on each other one that
// contradicts it.
func chooseLabel(r *result, key string, all []candidate) string {
	var taken *candidate
	for i := range all {
		c := &all[i]
		switch {
		case c.value == "":
		case taken == nil:
			taken = c
			r.setLabel(key, c.Label)
		case contradicts(*taken, *c):
			r.addContradiction(key, taken.value, taken.Line, c.value, c.Line, c.Line)
		}
	}
	if taken == nil {
		return ""
	}
	return taken.value
}

func contradicts(a, b candidate) bool {
	if b.upperBound {
		n, err1 := strconv.Atoi(a.value)
		most, err2 := strconv.Atoi(b.value)
		return err1 == nil && err2 == nil && !a.Inferred && n > most
	}
	x, y := strings.ToLower(a.value), strings.ToLower(b.value)
	return !a.Inferred && !b.Inferred && !strings.Contains(x, y) && !strings.Contains(y, x)
}

// ownLabel is a label that the result itself states: in its heading line, its title or one of its rows.
func (c *preamble) ownLabel(r *result, value, key string) candidate {
	line := r.Run.Source.Line
	if c.blockHeading != nil {
		line = c.blockHeading.line
	}
	if p, ok := r.Stage.Source.At(key); ok {
		line = p.Line
	}
	text := value
	if line >= 1 && line <= len(c.lines) {
		const maxLength = 300 // a longer line is no heading
		whole := strings.Join(strings.Fields(strings.Trim(c.lines[line-1], "│┃| \t")), " ")
		if len(whole) <= maxLength {
			text = whole
		}
	}
	return candidate{value: value, Label: rundir.Label{Line: line, Text: text}}
}

func (c *preamble) describe(r *result) {
	l, cmd := &r.Run.Labels, c.launch
	l.Engine = c.chooseEngine(r)
	if cmd != nil && l.Engine != "" && cmd.engine != "" && !strings.EqualFold(l.Engine, cmd.engine) {
		cmd = nil // it started another server
	}
	e := c.gatherEvidence(r, cmd)
	l.Model, l.GPU = chooseLabel(r, "model", e.models), chooseLabel(r, "gpu", e.gpuNames)
	l.Quant = chooseLabel(r, "quant", e.quants)
	if text := chooseLabel(r, "gpus", e.gpuCounts); text != "" {
		l.GPUs, _ = strconv.Atoi(text) // countText wrote it
	}
	c.setLengths(r)
	if think, _, ok := findNearestMention(c, findThinking); ok && r.Run.Workload.Think == nil {
		r.Run.Workload.Think = &think
	}
	c.setDate(r)
}

func (c *preamble) chooseEngine(r *result) string {
	engines := []candidate{c.ownLabel(r, r.Run.Labels.Engine, "target.backend"), c.headingLabel(findEngine)}
	if cmd := c.launch; cmd != nil {
		engines = append(engines, candidate{value: cmd.engine, Label: rundir.Label{Line: cmd.line, Text: cmd.text}})
	}
	return chooseLabel(r, "engine", engines)
}

func (c *preamble) gatherEvidence(r *result, cmd *launchCommand) *evidence {
	l := &r.Run.Labels
	e := &evidence{
		gpuCounts: []candidate{c.ownLabel(r, countText(l.GPUs), "")},
		gpuNames: []candidate{c.ownLabel(r, l.GPU, ""), c.headingLabel(func(s string) (string, bool) {
			gpu, _, ok := findGPUs(s)
			return gpu, ok
		})},
		models: []candidate{c.ownLabel(r, l.Model, "target.model")},
		quants: []candidate{c.ownLabel(r, l.Quant, "target.model")},
	}
	if cmd != nil {
		e.addLaunch(r, cmd)
	}
	if s := c.gpuMention; s.n > 0 {
		e.gpuCounts = append(e.gpuCounts, candidate{value: countText(s.n), Label: rundir.Label{Line: s.line, Text: s.text}})
	}
	e.gpuCounts = append(e.gpuCounts, c.headingLabel(func(s string) (string, bool) {
		_, n, ok := findGPUs(s)
		return countText(n), ok && n > 0
	}))
	if c.hardware != nil {
		e.addHardware(r, c)
	}
	e.gpuCounts = append(e.gpuCounts, c.headingLabel(func(s string) (string, bool) {
		n, ok := findGPUCount(s)
		return countText(n), ok
	}))
	parallel := c.headingLabel(firstGroup(parallelWord))
	parallel.Inferred = true
	e.gpuCounts = append(e.gpuCounts, parallel)
	if named := c.headingLabel(findModelName); named.value != "" {
		named.Inferred = true
		model, quant := SplitQuant(named.value)
		e.addModel(model, quant, named.Label)
	}
	return e
}

// setLengths takes the lengths that a six-column table does not tell from the headings above it.
func (c *preamble) setLengths(r *result) {
	if r.Run.Source.Format != SixColumn {
		return
	}
	w := &r.Run.Workload
	for _, length := range []struct {
		to      *float64
		pattern *regexp.Regexp
	}{{&w.PromptTokens.Mean, promptLength}, {&w.OutputTokens.Mean, answerLength}} {
		if *length.to == 0 {
			*length.to = parseNumber(c.headingLabel(firstGroup(length.pattern)).value).Or(0)
		}
	}
}

func firstGroup(pattern *regexp.Regexp) func(string) (string, bool) {
	return func(s string) (string, bool) {
		m := pattern.FindStringSubmatch(s)
		if m == nil {
			return "", false
		}
		return m[1], true
	}
}

func (c *preamble) headingLabel(find func(string) (string, bool)) candidate {
	v, at, ok := findNearestMention(c, find)
	if !ok {
		return candidate{}
	}
	return candidate{value: v, Label: rundir.Label{Line: at.line, Text: at.text}}
}

// evidence has the candidates for each label, the best first.
type evidence struct{ gpuCounts, gpuNames, models, quants []candidate }

func (e *evidence) addModel(model, quant string, from rundir.Label) {
	e.models = append(e.models, candidate{value: model, Label: from})
	e.quants = append(e.quants, candidate{value: quant, Label: from})
}

func (e *evidence) addLaunch(r *result, cmd *launchCommand) {
	from := rundir.Label{Line: cmd.line, Text: cmd.text}
	count := from
	count.Inferred = !cmd.gpusStated
	e.gpuCounts = append(e.gpuCounts, candidate{value: countText(cmd.gpus), Label: count})
	if !strings.HasSuffix(cmd.model, "/") { // a directory may hold several
		model, quant := splitModelPath(cmd.model)
		e.addModel(model, quant, from)
	}
	e.quants = append(e.quants, candidate{value: cmd.quant, Label: from})
	r.Run.Target.Launch = cmd.text
	r.setLabel("launch", from)
	if cmd.maxLen != "" {
		r.setLabel("max_model_len", rundir.Label{Line: cmd.line, Text: cmd.maxLen})
	}
}

func (e *evidence) addHardware(r *result, c *preamble) {
	h := c.hardware
	text := strconv.Itoa(len(h.names)) + " in the table of nvidia-smi: " + h.text
	e.gpuCounts = append(e.gpuCounts, candidate{value: countText(len(h.names)), upperBound: true,
		Label: rundir.Label{Line: h.line, Text: text, Inferred: true}})
	elsewhere := h.path != c.path()
	e.gpuNames = append(e.gpuNames, candidate{value: h.name(),
		Label: rundir.Label{Line: h.line, Text: h.text, Inferred: elsewhere}})
	if h.memory > 0 {
		r.setLabel("gpu_memory", rundir.Label{Line: h.memoryLine, Text: h.memoryLabel(), Inferred: elsewhere})
	}
}

// setDate records the date of a result, and notes where the hardware or a heading contradicts it.
func (c *preamble) setDate(r *result) {
	t := c.title
	if t == nil || t.date.IsZero() {
		return
	}
	r.setLabel("date", rundir.Label{Line: t.line, Text: t.date.Format(time.DateTime)})
	if h := c.hardware; h != nil && t.date.Before(h.date) {
		n := noteHardwareLater.New(h.line, h.date.Format(time.DateTime))
		r.Run.Warnings = append(r.Run.Warnings, n)
		if !h.noted {
			h.noted = true
			r.Doc.remark(t.line, false, n)
		}
	}
	for i := len(c.levels) - 1; i > 0; i-- {
		m := headingDate.FindStringSubmatch(strings.TrimSpace(c.levels[i]))
		if m == nil {
			continue
		}
		month, _ := strconv.Atoi(m[2]) // digits only
		first, _ := strconv.Atoi(m[3])
		last := first
		if m[4] != "" {
			last, _ = strconv.Atoi(m[4])
		}
		if int(t.date.Month()) != month || t.date.Day() < first || t.date.Day() > last {
			r.addContradiction("date", t.date.Format(time.DateOnly), t.line, c.levels[i], c.levelLines[i], t.line)
		}
		return
	}
}

func (c *preamble) markWarmUp(r *result) {
	if w := c.warmUpMention; w.line > 0 {
		r.Stage.Role = rundir.WarmUp
		r.Stage.Warnings = append(r.Stage.Warnings, noteWarmUp.New(w.line, w.text))
	}
}
