package published

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"llmsweep/sweep/rundir"
)

// headingText is the line above a table that names its configuration.
type headingText struct {
	line int
	text string
}

var (
	listItem   = regexp.MustCompile(`^(?:[-+]\s*|\*\s+)`)
	tokensPart = regexp.MustCompile(`(?i)^(prompt|input|generated|output|max)_tokens\s*[=:：]\s*([\d,.]+)$`)
	keyPart    = regexp.MustCompile(`^([\p{L}_][\p{L}\d_.-]*)=(.+)$`)
	lengthPart = regexp.MustCompile(`(?:prompt|generated|max)_tokens=`)
	countPart  = regexp.MustCompile(`(?i)^(\d{1,6}|[单双两四八])\s*(?:张|块|卡|x|×|\*)\s*(.+)$`)
	countLast  = regexp.MustCompile(`(?i)^(.+?)\s*(?:x|×|\*)\s*(\d{1,6})$`)
)

// isHeading knows lines such as "- **MODEL**, **N** x **GPU**, **ENGINE**, prompt_tokens=P, generated_tokens=G".
// llmsweep has max_tokens=M where M is a limit, think=yes or think=no, dataset=**FILE**, free labels such as
// router=**Rust**, and of what it read elsewhere name=**HEADING** and launch=**COMMAND**.
func isHeading(line string) bool {
	if lengthPart.MatchString(line) {
		return listItem.MatchString(line) || strings.HasPrefix(line, "**")
	}
	item := listItem.FindString(line)
	return item != "" && strings.HasPrefix(line[len(item):], "**") && strings.Contains(line, ",")
}

func (h *headingText) describe(r *result) {
	var names []string
	for _, part := range headingParts(h.text) {
		if m := tokensPart.FindStringSubmatch(part); m != nil {
			readLength(r, strings.ToLower(m[1]), m[2])
		} else if m := countPart.FindStringSubmatch(part); m != nil {
			r.Run.Labels.GPUs, r.Run.Labels.GPU = parseCount(m[1]), m[2]
		} else if m := countLast.FindStringSubmatch(part); m != nil && r.Run.Labels.GPU == "" {
			r.Run.Labels.GPUs, r.Run.Labels.GPU = parseCount(m[2]), m[1]
		} else if strings.Contains(part, "_tokens") {
			r.Doc.remark(h.line, true, noteNoLength.New(short(part)))
		} else if m := keyPart.FindStringSubmatch(part); m != nil {
			h.setLabel(r, m[1], m[2])
		} else if part != "" {
			names = append(names, part)
		}
	}
	if len(names) > 0 && namesModel(names[0]) {
		r.Run.Labels.Model, r.Run.Labels.Quant = splitModelPath(names[0])
		names = names[1:]
	}
	for _, name := range names {
		_, isEngine := findEngine(name)
		_, _, isGPU := findGPUs(name)
		switch {
		case r.Run.Labels.GPU == "" && !isEngine && (isGPU || len(names) > 1):
			r.Run.Labels.GPU = name
		case r.Run.Labels.Engine == "":
			r.Run.Labels.Engine = name
		default:
			r.Doc.remark(h.line, true, noteUnclear.New(short(name)))
		}
	}
}

func parseCount(text string) int {
	if n, ok := chineseCounts[text]; ok {
		return n
	}
	n, _ := strconv.Atoi(text) // six digits at most
	return n
}

func (h *headingText) setLabel(r *result, key, value string) {
	switch key {
	case "think":
		r.Run.Workload.Think = new(value == "yes")
	case "name":
		r.Run.Source.Heading = value
	case "dataset":
		r.Run.Workload.Dataset = value
	case "launch":
		r.Run.Target.Launch = value
	default:
		if r.Run.Labels.Free == nil {
			r.Run.Labels.Free = map[string]string{}
		}
		r.Run.Labels.Free[key] = value
	}
}

// namesModel reports whether a name is more than that of an engine or a GPU.
func namesModel(name string) bool {
	engine, _ := findEngine(name)
	gpu, _, _ := findGPUs(name)
	return !strings.EqualFold(engine, name) && gpu != name
}

// readBlockHeading labels a stress table or a serving block by the heading line above it, which may be that of several.
func (r *textRun) readBlockHeading() {
	c := r.preamble
	if h := c.heading; h != nil && slices.ContainsFunc(headingParts(h.text), keyPart.MatchString) {
		c.blockHeading, c.heading = h, nil
	}
	if c.blockHeading != nil {
		r.Run.Source.Heading = ""
		c.blockHeading.describe(r.result)
	}
}

func readLength(r *result, what, text string) {
	q, err := ParseQuantity(text)
	if err != nil || !q.Number.Known() {
		r.Doc.remark(r.Run.Source.Line, true, noteNoLength.New(what+"_tokens="+short(text)))
		return
	}
	key := "workload.prompt_tokens"
	if what == "prompt" || what == "input" {
		r.Run.Workload.PromptTokens.Mean = q.Number.Value()
	} else {
		key = "workload.output_tokens"
		r.Run.Workload.OutputTokens.Mean = q.Number.Value()
		r.Run.Workload.Capped = what == "max"
	}
	r.Run.Source.Printed[key] = rundir.Printed{Line: r.Run.Source.Line, Text: text}
}

// headingParts cuts a heading line at the commas outside of bold text, and takes the bold off.
func headingParts(line string) []string {
	line = strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return narrow(r)
		}
		return r
	}, line[len(listItem.FindString(line)):])
	var parts []string
	var b strings.Builder
	bold := false
	end := func() {
		parts = append(parts, strings.TrimSpace(b.String()))
		b.Reset()
	}
	for i := 0; i < len(line); {
		rest := line[i:]
		switch {
		case strings.HasPrefix(rest, "**"):
			bold = !bold
			i += 2
		case rest[0] == '\\' && len(rest) > 1:
			b.WriteByte(rest[1])
			i += 2
		case !bold && rest[0] == ',':
			end()
			i++
		case !bold && strings.HasPrefix(rest, "，"):
			end()
			i += len("，")
		default:
			b.WriteByte(rest[0])
			i++
		}
	}
	end()
	for i, s := range parts {
		parts[i] = htmlEscapes.Replace(s)
	}
	return parts
}

var htmlEscapes = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")
