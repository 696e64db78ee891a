// Package published reads the formats of other tools: six-column sweep tables, stress tables and serving blocks.
// A document may mix them, in English or Chinese, with the typing errors that people make. Each result becomes a rundir.Run
// that has the line of each number. A number that is not printed is not guessed, one that looks wrong is not corrected
// (package audit reports it), and no line of a result is dropped silently: what could not be read is a Remark.
//
// Package write prints the same formats.
package published

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"llmsweep/client/note"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// The formats, as rundir.Source names them.
const (
	SixColumn = "six-column"
	Stress    = "stress"
	Serving   = "serving"
)

// Document is what was read of one file.
type Document struct {
	Name    string
	Runs    []rundir.Run // one a result, in the order of the file; each has a Source
	Remarks []Remark     // in the order of the file
	Lines   []Kind       // what each line was taken for
	Prose   []Line       // the lines that are no part of a result, blank ones left out
}

// Line is a line of a document.
type Line struct {
	Line int // from 1
	Text string
}

// Remark is something to know about a line.
type Remark struct {
	Line int
	Text string    // in English
	Note note.Note // the same, for other languages; see [Remark.In]
	// Unread reports whether numbers were lost; else the line was read as Text tells.
	Unread bool
}

// Kind is what a line was taken for.
type Kind uint8

// The kinds there are.
const (
	Blank   Kind = iota
	Prose        // no part of a result
	Context      // says something about the results beneath: a heading, a log line, a server's response
	Frame        // borders, rules and column headings of a result
	Numbers      // holds numbers that were read
	Unread       // looks like part of a result, and could not be read: a Remark says why
)

// The largest input that is read. Published results are kilobytes; what is larger is something else.
const (
	maxBytes = 32 << 20
	maxLine  = 64 << 10
)

// Parse reads a document. It fails only where r does, or where the input can't be text of that kind; a document
// without a single result is no error.
func Parse(name string, r io.Reader) (*Document, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxJSONBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if looksLikeJSON(b) {
		doc, err := parseJSON(name, b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return doc, nil
	}
	lines, err := readLines(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p := &parser{doc: &Document{Name: name, Lines: make([]Kind, len(lines))}, lines: lines}
	for p.at < len(p.lines) {
		p.step()
	}
	p.abandonHeading()
	p.inferModels()
	for i, k := range p.doc.Lines {
		if (k == Prose || k == Context) && len(lines[i]) <= maxLine {
			p.doc.Prose = append(p.doc.Prose, Line{i + 1, strings.TrimSpace(lines[i])})
		}
	}
	return p.doc, nil
}

// readLines returns all lines, without their ends.
func readLines(b []byte) ([]string, error) {
	switch {
	case len(b) > maxBytes:
		return nil, fmt.Errorf("larger than %d MiB, which published results never are; cut the results out of it", maxBytes>>20)
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

// parser goes through a document line by line.
type parser struct {
	doc   *Document
	lines []string
	at    int // the line to read next, from 0
	ctx   context
}

// step reads one line, or all lines of a result that begins there.
func (p *parser) step() {
	raw := p.lines[p.at]
	line := strings.TrimSpace(raw)
	switch {
	case line == "":
		p.take(Blank)
	case len(raw) > maxLine:
		p.unread(noteLongLine.New(maxLine >> 10))
		p.at++
	case isServingTitle(line):
		p.serving()
	case isStressTitle(line):
		p.stressTitle(line)
	case isSMI(line):
		p.smi()
	case isFramed(line):
		p.table()
	case p.launchCommand(line):
	case p.ctx.note(line, p.at+1):
		p.take(Context)
	case isModelHeading(line):
		p.abandonHeading()
		p.ctx.heading = &modelHeading{line: p.at + 1, text: line}
		p.take(Context)
	default:
		p.take(Prose)
	}
}

// take counts the next line as one of that kind.
func (p *parser) take(k Kind) {
	p.doc.Lines[p.at] = k
	p.at++
}

// unread remarks that the next line could not be read.
func (p *parser) unread(n note.Note) {
	p.doc.Lines[p.at] = Unread
	p.remark(p.at+1, true, n)
}

// assume remarks how the next line was read.
func (p *parser) assume(n note.Note) { p.remark(p.at+1, false, n) }

func (p *parser) remark(line int, unread bool, n note.Note) {
	p.doc.Remarks = append(p.doc.Remarks, Remark{Line: line, Text: Words().Say(n, lang.English), Note: n, Unread: unread})
}

// abandonHeading remarks on a heading line of a six-column table whose table never came.
func (p *parser) abandonHeading() {
	if h := p.ctx.heading; h != nil && strings.Contains(h.text, "_tokens") {
		p.doc.Lines[h.line-1] = Unread
		p.remark(h.line, true, noteNoTable.New())
	}
	p.ctx.heading = nil
}

// reading is a result while it is read.
type reading struct {
	*parser
	run   rundir.Run
	stage rundir.Stage
	names map[string]int // of stages, and how many asked for each
}

// begin opens a result at that line (from 1), with what stands above it.
func (p *parser) begin(format string, line int) *reading {
	return &reading{parser: p, run: rundir.Run{
		Schema: rundir.Schema, State: rundir.Complete,
		// Nobody knows how fit the other tool was; the report would otherwise say that it was not.
		Client: rundir.Client{Valid: true},
		Source: &rundir.Source{
			File: p.doc.Name, Line: line, Format: format, Heading: p.ctx.path(), Responses: p.ctx.responses,
			Printed: map[string]rundir.Printed{},
		},
		Warnings: []note.Note{noteReadFrom.New(p.doc.Name, line)},
	}}
}

// beginStage opens a row, or the only stage of a block.
func (r *reading) beginStage(line int) {
	r.stage = rundir.Stage{
		State: rundir.Complete,
		Source: &rundir.Source{
			File: r.doc.Name, Line: line, Format: r.run.Source.Format, Printed: map[string]rundir.Printed{},
		},
	}
}

// whole reports whether the counts and the duration of the block that ends above the next line are of the whole test: what
// llmsweep prints of a window says so beneath the block, in a line that begins with the name of the duration.
func (p *parser) whole(duration string) bool {
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

// endStage keeps the row under a name of its own.
func (r *reading) endStage() {
	if r.names == nil {
		r.names = map[string]int{}
	}
	name := r.stage.Name
	for r.names[r.stage.Name] > 0 {
		r.names[name]++
		r.stage.Name = fmt.Sprintf("%s-%d", name, r.names[name])
	}
	r.names[r.stage.Name]++
	r.run.Stages = append(r.run.Stages, r.stage)
}

// printed remembers how a number of the stage was printed on the next line.
func (r *reading) printed(key, text string) {
	r.stage.Source.Printed[key] = rundir.Printed{Line: r.at + 1, Text: text}
}
