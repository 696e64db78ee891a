package published

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// said is something that a line says of the results beneath it.
type said struct {
	line int
	text string
	n    int
	name string
}

var (
	commentLine  = regexp.MustCompile(`^(?://+|/\*+|\*{3,})\s*(.*?)\s*(?:\*+/?)?$`)
	warmUpWord   = regexp.MustCompile(`(?i)\bwarm(?:ing)?[- ]?up\b|预热|热身`)
	noWarmUpWord = regexp.MustCompile(`(?i)\b(?:no|not|without|don't|skip|after)\b|n't\b|无需|不需要|不用|不必|没有|未|之后|后`)
	gpusWord     = regexp.MustCompile(`(?i)(?:^|[^\d.])(\d{1,4})\s*(?:x\s*|×\s*)?(?:NVIDIA\s+)?(?:[A-Z]{1,3}\d{2,4}\w?\s+)?(?:GPUs?\b|张|块|卡)`)
	gpusChinese  = regexp.MustCompile(`(单|双|两|三|四|八)\s*(?:张|块)?\s*(?:卡|GPU)`)
	requestModel = regexp.MustCompile(`['"]model['"]\s*:\s*\\?['"]([^'"\\\s]+)\\?['"]`)
	headingDate  = regexp.MustCompile(`^(?:(\d{4})[-./年])?(\d{1,2})[-./月](\d{1,2})(?:日)?(?:\s*(?:-|–|~|至)\s*(\d{1,2})日?)?$`)
)

// comment takes in a remark that somebody wrote between results: "//warm up effect!", "/**** Now compare with 2 GPUs ****/".
func (c *context) comment(line string, number int) bool {
	m := commentLine.FindStringSubmatch(line)
	if m == nil || m[1] == "" {
		return false
	}
	known := false
	if n, ok := gpusIn(m[1]); ok {
		c.gpusSaid = said{line: number, text: line, n: n}
		if c.launch != nil { // it opens something else than what the command above it started
			c.launch = nil
		}
		known = true
	}
	if warmUpWord.MatchString(m[1]) {
		if c.warm = (said{}); !noWarmUpWord.MatchString(m[1]) {
			c.warm = said{line: number, text: line}
		}
		known = true
	}
	return known
}

// gpusIn finds a number of GPUs in a remark.
func gpusIn(text string) (int, bool) {
	if m := gpusWord.FindStringSubmatch(text); m != nil {
		n, err := strconv.Atoi(m[1])
		return n, err == nil && n > 0
	}
	if m := gpusChinese.FindStringSubmatch(text); m != nil {
		return map[string]int{"单": 1, "双": 2, "两": 2, "三": 3, "四": 4, "八": 8}[m[1]], true
	}
	return 0, false
}

// request takes in the model that a printed request names.
func (c *context) request(line string, number int) bool {
	m := requestModel.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	c.asks = said{line: number, text: short(m[0]), name: m[1]}
	return true
}

// depth is the level of the innermost heading; 0 above all.
func (c *context) depth() int {
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
	upTo bool // a number that the label may be below: the GPUs that a machine has
}

// settle takes the first candidate that has a value, records where it is from, and remarks on each other one that
// contradicts it.
func (r *reading) settle(key string, all []candidate) string {
	var taken *candidate
	for i := range all {
		c := &all[i]
		switch {
		case c.value == "":
		case taken == nil:
			taken = c
			r.label(key, c.Label)
		case contradicts(*taken, *c):
			n := noteContradiction.New(key, taken.value, taken.Line, c.value, c.Line)
			r.run.Warnings = append(r.run.Warnings, n)
			r.remark(c.Line, false, n)
		}
	}
	if taken == nil {
		return ""
	}
	return taken.value
}

// contradicts reports whether both cannot be so.
func contradicts(a, b candidate) bool {
	if b.upTo {
		n, err1 := strconv.Atoi(a.value)
		most, err2 := strconv.Atoi(b.value)
		return err1 == nil && err2 == nil && !a.Inferred && n > most
	}
	x, y := strings.ToLower(a.value), strings.ToLower(b.value)
	return !a.Inferred && !b.Inferred && !strings.Contains(x, y) && !strings.Contains(y, x)
}

// label records where a label is from.
func (r *reading) label(key string, l rundir.Label) {
	if r.run.Source.Labels == nil {
		r.run.Source.Labels = map[string]rundir.Label{}
	}
	r.run.Source.Labels[key] = l
}

// count is a number as a candidate has it; empty for 0.
func countText(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// maxLabelText bounds the text that is kept for a label; a longer line is no heading.
const maxLabelText = 300

// own is a label that the result says of itself: in its heading line, its title or one of its rows.
func (r *reading) own(value, key string) candidate {
	line := r.run.Source.Line
	if p, ok := r.stage.Source.At(key); ok {
		line = p.Line
	}
	text := value
	if line >= 1 && line <= len(r.lines) {
		if text = strings.Join(strings.Fields(strings.Trim(r.lines[line-1], "│┃| \t")), " "); len(text) > maxLabelText {
			text = value
		}
	}
	return candidate{value: value, Label: rundir.Label{Line: line, Text: text}}
}

// describe labels a result by itself and by what stands above it: headings, commands, remarks, the table of nvidia-smi.
func (r *reading) describe() {
	l, c := &r.run.Labels, &r.ctx
	cmd := c.launch
	above := func(find func(string) (string, bool)) candidate {
		v, at, ok := innermostAt(c, find)
		if !ok {
			return candidate{}
		}
		return candidate{value: v, Label: rundir.Label{Line: at.line, Text: at.text}}
	}
	engines := []candidate{r.own(l.Engine, "target.backend"), above(engineIn)}
	if cmd != nil {
		engines = append(engines, candidate{value: cmd.engine, Label: rundir.Label{Line: cmd.line, Text: cmd.text}})
	}
	l.Engine = r.settle("engine", engines)
	if cmd != nil && l.Engine != "" && cmd.engine != "" && !strings.EqualFold(l.Engine, cmd.engine) {
		cmd = nil // it started another server
	}
	gpus := []candidate{r.own(countText(l.GPUs), "")}
	names := []candidate{r.own(l.GPU, ""), above(func(s string) (string, bool) { g, ok := gpuIn(s); return g.name, ok })}
	models := []candidate{r.own(l.Model, "target.model")}
	quants := []candidate{r.own(l.Quant, "target.model")}
	if cmd != nil {
		from := rundir.Label{Line: cmd.line, Text: cmd.text}
		gpus = append(gpus, candidate{value: countText(cmd.gpus), Label: rundir.Label{Line: cmd.line, Text: cmd.text, Inferred: !cmd.told}})
		if model, quant := baseModel(cmd.model); !strings.HasSuffix(cmd.model, "/") { // a directory may hold several
			models, quants = append(models, candidate{value: model, Label: from}), append(quants, candidate{value: quant, Label: from})
		}
		quants = append(quants, candidate{value: cmd.quant, Label: from})
		r.run.Target.Launch = cmd.text
		r.label("launch", from)
		if cmd.maxLen != "" {
			r.label("max_model_len", rundir.Label{Line: cmd.line, Text: cmd.maxLen})
		}
	}
	if s := c.gpusSaid; s.n > 0 {
		gpus = append(gpus, candidate{value: countText(s.n), Label: rundir.Label{Line: s.line, Text: s.text}})
	}
	gpus = append(gpus, above(func(s string) (string, bool) { g, ok := gpuIn(s); return countText(g.count), ok && g.count > 0 }))
	if h := c.hardware; h != nil {
		gpus = append(gpus, candidate{value: countText(len(h.names)), Label: rundir.Label{
			Line: h.line, Text: strconv.Itoa(len(h.names)) + " in the table of nvidia-smi: " + h.text, Inferred: true,
		}, upTo: true})
		elsewhere := h.path != c.path()
		names = append(names, candidate{value: h.name(), Label: rundir.Label{Line: h.line, Text: h.text, Inferred: elsewhere}})
		if h.memory > 0 {
			r.label("gpu_memory", rundir.Label{Line: h.memLn, Text: h.memTx + ": " + h.gigabytes(), Inferred: elsewhere})
		}
	}
	if c.asks.name != "" {
		model, quant := baseModel(c.asks.name)
		from := rundir.Label{Line: c.asks.line, Text: c.asks.text, Inferred: true}
		models, quants = append(models, candidate{value: model, Label: from}), append(quants, candidate{value: quant, Label: from})
	}
	l.Model, l.GPU = r.settle("model", models), r.settle("gpu", names)
	l.Quant = r.settle("quant", quants)
	if text := r.settle("gpus", gpus); text != "" {
		l.GPUs, _ = strconv.Atoi(text) // countText wrote it
	}
	if think, ok := innermost(c, thinkIn); ok {
		r.run.Workload.Think = &think
	}
	r.dated()
}

// dated records the date of a result, and holds it against that of the headings.
func (r *reading) dated() {
	t := r.ctx.title
	if t == nil || t.date.IsZero() {
		return
	}
	r.label("date", rundir.Label{Line: t.line, Text: t.date.Format(time.DateTime)})
	for i := len(r.ctx.levels) - 1; i > 0; i-- {
		m := headingDate.FindStringSubmatch(strings.TrimSpace(r.ctx.levels[i]))
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
			n := noteContradiction.New("date", t.date.Format(time.DateOnly), t.line, r.ctx.levels[i], r.ctx.levelLines[i])
			r.run.Warnings = append(r.run.Warnings, n)
			r.remark(t.line, false, n)
		}
		return
	}
}

// marked makes the only stage of a result the warm-up that a remark above it calls it.
func (r *reading) marked() {
	if w := r.ctx.warm; w.line > 0 {
		r.stage.Role = rundir.WarmUp
		r.stage.Warnings = append(r.stage.Warnings, noteWarmUp.New(w.line, w.text))
	}
}

// inferModels gives results without a model the one that the rest of the document names: the only one in the directory that
// was launched, else the only one there is.
func (p *parser) inferModels() {
	type named struct {
		run   *rundir.Run
		label rundir.Label
	}
	var all []named
	distinct := map[string]bool{}
	for i := range p.doc.Runs {
		run := &p.doc.Runs[i]
		if l, ok := run.Source.Labels["model"]; ok && run.Labels.Model != "" && !l.Inferred {
			all = append(all, named{run, l})
			distinct[run.Labels.Model+"\x00"+run.Labels.Quant] = true
		}
	}
	for i := range p.doc.Runs {
		run := &p.doc.Runs[i]
		if run.Labels.Model != "" || run.Source.Format == SixColumn {
			continue
		}
		dir := ""
		if l := parseLaunch(run.Target.Launch); l != nil {
			dir = l.model
		}
		var from *named
		within := map[string]bool{}
		for j := range all {
			n := &all[j]
			if dir == "" && len(distinct) == 1 || dir != "" && strings.HasPrefix(n.run.Target.Model, dir) {
				within[n.run.Labels.Model+"\x00"+n.run.Labels.Quant] = true
				if from == nil {
					from = n
				}
			}
		}
		switch {
		case from != nil && len(within) == 1:
			inferred := from.label
			inferred.Inferred = true
			run.Labels.Model, run.Source.Labels = from.run.Labels.Model, withLabel(run.Source.Labels, "model", inferred)
			if run.Labels.Quant == "" && from.run.Labels.Quant != "" {
				run.Labels.Quant = from.run.Labels.Quant
				run.Source.Labels["quant"] = inferred
			}
		case dir != "":
			run.Labels.Model, run.Labels.Quant = baseModel(dir)
			run.Source.Labels = withLabel(run.Source.Labels, "model", run.Source.Labels["launch"])
		}
	}
}

func withLabel(m map[string]rundir.Label, key string, l rundir.Label) map[string]rundir.Label {
	if m == nil {
		m = map[string]rundir.Label{}
	}
	m[key] = l
	return m
}

// Override replaces labels of a result by those that the user gives, and notes where the document says otherwise.
func Override(run *rundir.Run, by rundir.Labels) {
	l := &run.Labels
	set := func(key, given, found string, put func()) {
		if given == "" {
			return
		}
		if found != "" && !strings.EqualFold(found, given) {
			run.Warnings = append(run.Warnings, noteFlagWins.New(key, given, found, run.Source.Labels[key].Line))
		}
		run.Source.Labels = withLabel(run.Source.Labels, key, rundir.Label{Text: "--label " + key + "=" + given})
		put()
	}
	set("model", by.Model, l.Model, func() { l.Model = by.Model })
	set("gpu", by.GPU, l.GPU, func() { l.GPU = by.GPU })
	set("gpus", countText(by.GPUs), countText(l.GPUs), func() { l.GPUs = by.GPUs })
	set("engine", by.Engine, l.Engine, func() { l.Engine = by.Engine })
	set("quant", by.Quant, l.Quant, func() { l.Quant = by.Quant })
	if by.Price > 0 {
		l.Price = by.Price
	}
}

// Remarkable returns what an import notes on a run apart from the file that it was read from: contradictions, and how it was
// made of tables.
func Remarkable(run *rundir.Run) []note.Note {
	return slices.DeleteFunc(slices.Clone(run.Warnings), func(n note.Note) bool {
		return !slices.ContainsFunc([]note.Kind{noteContradiction, noteFlagWins, noteJoined, noteOutOfOrder}, func(k note.Kind) bool { return k.Code == n.Code })
	})
}
