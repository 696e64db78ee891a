package published

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// Published results are kilobytes; what is larger is something else.
const (
	maxBytes    = 32 << 20
	maxTextLine = 64 << 10
)

// ParseText reads a document, which may mix tables and blocks in English and Chinese, with typing errors. It fails only
// where r does or where the input is no such text; a document without a result is no error.
func ParseText(name string, r io.Reader) (*Document, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxResultBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if isJSON(b) {
		doc, err := parseResults(name, b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return doc, nil
	}
	lines, err := readLines(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p := &parser{
		doc:      &Document{Name: name, lineKinds: make([]lineKind, len(lines))},
		lines:    lines,
		preamble: &preamble{lines: lines},
	}
	p.ownDocument = slices.ContainsFunc(lines, toolLine.MatchString)
	for p.at < len(p.lines) {
		p.step()
	}
	p.dropHeading()
	for i := range p.doc.Runs {
		run := &p.doc.Runs[i]
		run.Source.Windowed = run.Source.Windowed || p.ownDocument
		for j := range run.Stages {
			run.Stages[j].Source.Windowed = run.Source.Windowed
		}
	}
	inferModels(p.doc)
	inferWorkloads(p.doc)
	return p.doc, nil
}

func readLines(b []byte) ([]string, error) {
	switch {
	case len(b) > maxBytes:
		return nil, fmt.Errorf("larger than %d MiB, which published results never are; cut the results out of it",
			maxBytes>>20)
	case bytes.IndexByte(b, 0) >= 0:
		return nil, errors.New("not text (it holds zero bytes); give the text that the tool printed, as UTF-8")
	}
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	var lines []string
	in := bufio.NewScanner(bytes.NewReader(b))
	in.Buffer(nil, maxBytes+2)
	for in.Scan() {
		lines = append(lines, strings.ToValidUTF8(in.Text(), "\ufffd"))
	}
	return lines, in.Err()
}

type parser struct {
	doc      *Document
	lines    []string
	at       int // the line to read next, from 0
	preamble *preamble

	ownDocument bool // llmsweep wrote the document
	measured    bool // llmsweep measured the results of this part of the document
}

func (p *parser) step() {
	raw := p.lines[p.at]
	line := strings.TrimSpace(raw)
	switch {
	case line == "":
		p.take(lineBlank)
	case len(raw) > maxTextLine:
		p.takeUnread(noteLongLine.New(maxTextLine >> 10))
	case strings.Count(line, "Serving Benchmark Result") > 1:
		p.takeUnread(noteTwoBlocks.New())
	case isServingTitle(line):
		p.readServing()
	case isStressTitle(line):
		p.readStressTitle(line)
	case isSMIHeader(line):
		p.takeContext(p.preamble.readSMI(p.at))
	case strings.HasPrefix(strings.ToLower(line), "<table"):
		p.skipHTML()
	case isFramed(line):
		p.readTable()
	default:
		p.readPreambleLine(line)
	}
}

// readPreambleLine reads a line of text that may say something about the results beneath it.
func (p *parser) readPreambleLine(line string) {
	if p.takeContext(p.preamble.readLaunch(p.at)) {
		return
	}
	if p.preamble.readLine(line, p.at+1) {
		p.take(lineContext)
		return
	}
	if isHeading(line) {
		p.dropHeading()
		p.preamble.heading, p.preamble.blockHeading, p.preamble.responses = &headingText{line: p.at + 1, text: line}, nil, nil
		p.take(lineContext)
		return
	}
	if line == MarkMeasured || line == MarkRead {
		p.measured = line == MarkMeasured
	}
	p.take(lineProse)
}

func (p *parser) skipHTML() {
	p.unread(noteHTML.New())
	for p.at < len(p.lines) {
		p.doc.Lost += strings.Count(strings.ToLower(p.lines[p.at]), "<td")
		end := strings.Contains(strings.ToLower(p.lines[p.at]), "</table")
		p.take(lineUnread)
		if end {
			return
		}
	}
}

func (p *parser) take(k lineKind) {
	p.doc.lineKinds[p.at] = k
	p.at++
}

// takeContext reports whether there were any lines.
func (p *parser) takeContext(lines int) bool {
	for range lines {
		p.take(lineContext)
	}
	return lines > 0
}

// unread does not take the line: more of it may be read.
func (p *parser) unread(n note.Note) {
	p.doc.lineKinds[p.at] = lineUnread
	p.remark(p.at+1, true, n)
}

func (p *parser) takeUnread(n note.Note) {
	p.unread(n)
	p.at++
}

func (p *parser) assume(n note.Note) { p.remark(p.at+1, false, n) }

func (p *parser) remark(line int, unread bool, n note.Note) {
	p.doc.remark(line, unread, n)
}

// dropHeading remarks on the heading line of a six-column table that never came.
func (p *parser) dropHeading() {
	if h := p.preamble.heading; h != nil && strings.Contains(h.text, "_tokens") {
		p.doc.lineKinds[h.line-1] = lineUnread
		p.remark(h.line, true, noteNoTable.New())
	}
	p.preamble.heading = nil
}

type textRun struct {
	*parser
	*result
	heading *headingText // of the table itself
	commas  commas
	engines []*result // of the other engines of the table

	refused int // columns of the table that are not read
}

func (p *parser) begin(format string, line int) *textRun {
	r := &textRun{parser: p, result: p.doc.begin(format, line)}
	src := r.Run.Source
	src.Heading, src.Responses, src.Windowed = p.preamble.path(), p.preamble.responses, p.measured
	return r
}

// wholeTest reports whether the counts and the duration of the block that ends above the next line are of the whole
// test. Where they are of a window, llmsweep says so beneath the block, in a line that begins with the name of the
// duration.
func (p *parser) wholeTest(duration string) bool {
	for _, line := range p.lines[p.at:min(p.at+8, len(p.lines))] {
		if strings.TrimSpace(line) == "" {
			break
		}
		if strings.HasPrefix(strings.TrimSpace(line), duration+" ") {
			return false
		}
	}
	return true
}

// toolLine is what llmsweep writes among the environment of a report.
var toolLine = regexp.MustCompile(`^- (?:Tool: |工具：)llmsweep\b`)

// The marks in a document of llmsweep: the results beneath were measured by it, or read.
const (
	MarkMeasured = "<!-- llmsweep: measured -->"
	MarkRead     = "<!-- llmsweep: read -->"
)

// setPrinted records a number that stands on the next line.
func (r *textRun) setPrinted(key, text string) {
	r.Stage.Source.Printed[key] = rundir.Printed{Line: r.at + 1, Text: text}
}

// ParseFile reads a document from a file. Secrets in addresses and commands are hidden.
func ParseFile(path string) (*Document, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	doc, err := ParseText(path, f)
	if err != nil {
		return nil, err
	}
	hideSecrets(doc)
	return doc, nil
}
