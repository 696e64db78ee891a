// Reads the JSON results of GuideLLM and vllm bench serve.

package published

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// maxResultBytes is the largest JSON result that is read. Tools that store every request write hundreds of megabytes.
const maxResultBytes = 1 << 30

// jsonFormat is the JSON result of one tool. Formats are told apart by their content alone: people rename files.
type jsonFormat struct {
	name string // as rundir.Source names it
	tool string // as its users call it
	is   func(v gjson.Result) bool
	read func(f *jsonFile, v gjson.Result) // adds the runs of a result to the document
}

// A result is of the first format that recognizes it.
func jsonFormats() []jsonFormat {
	return []jsonFormat{
		{guideLLM, "GuideLLM", isGuideLLM, readGuideLLM},
		{VLLMBench, "vllm bench serve", isVLLMBench, readVLLMBench},
	}
}

// ResultTools returns the tools whose JSON results are read.
func ResultTools() []string {
	var names []string
	for _, f := range jsonFormats() {
		names = append(names, f.tool)
	}
	return names
}

type jsonFile struct {
	doc   *Document
	text  string
	lines []int // where each line begins
}

// isJSON reports whether a document is JSON: it begins with an object, or with a list of objects. A text may begin with
// a brace too, such as a printed answer of a server in Python's notation.
func isJSON(b []byte) bool {
	const space = " \t\r\n"
	b = bytes.TrimLeft(bytes.TrimPrefix(b, []byte("\ufeff")), space)
	if rest, ok := bytes.CutPrefix(b, []byte("[")); ok {
		b = bytes.TrimLeft(rest, space)
	}
	rest, ok := bytes.CutPrefix(b, []byte("{"))
	rest = bytes.TrimLeft(rest, space)
	return ok && (len(rest) == 0 || rest[0] == '"' || rest[0] == '}')
}

// parseResults reads a JSON document: one result, a list, or one result a line.
func parseResults(name string, b []byte) (*Document, error) {
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	text := string(b)
	values, err := topLevel(text)
	if err != nil {
		// Python writes NaN and Infinity, which are not JSON. Read them as null.
		text = withoutNaN(text)
		if values, err = topLevel(text); err != nil {
			return nil, err
		}
	}
	f := &jsonFile{doc: &Document{Name: name}, text: text, lines: lineStarts(text)}
	f.doc.lineKinds = make([]lineKind, len(f.lines))
	for i := range f.doc.lineKinds {
		f.doc.lineKinds[i] = lineContext
	}
	for _, v := range values {
		f.readResult(v)
	}
	return f.doc, nil
}

func (f *jsonFile) readResult(v gjson.Result) {
	if !v.IsObject() {
		f.unread(v, noteNoObject.New())
		return
	}
	for _, format := range jsonFormats() {
		if format.is(v) {
			format.read(f, v)
			return
		}
	}
	f.unread(v, noteUnknown.New(keysOf(v), strings.Join(ResultTools(), ", ")))
}

func keysOf(v gjson.Result) string {
	const most = 5
	var keys []string
	v.ForEach(func(k, _ gjson.Result) bool {
		if len(keys) == most {
			keys = append(keys, "...")
			return false
		}
		keys = append(keys, short(k.String()))
		return true
	})
	return strings.Join(keys, ", ")
}

// topLevel returns the elements of a list, or the objects of JSON Lines. encoding/json checks the syntax, because it
// bounds the depth.
func topLevel(text string) ([]gjson.Result, error) {
	in := json.NewDecoder(strings.NewReader(text))
	var values []gjson.Result
	for in.More() {
		var raw json.RawMessage
		if err := in.Decode(&raw); err != nil {
			return nil, jsonError(text, int(in.InputOffset()), err)
		}
		end := int(in.InputOffset())
		start := end - len(raw)
		v := gjson.Parse(text[start:end])
		v.Index = start
		if !v.IsArray() {
			values = append(values, v)
			continue
		}
		v.ForEach(func(_, element gjson.Result) bool {
			values = append(values, element)
			return true
		})
	}
	return values, nil
}

// jsonError says in which line JSON is malformed. Offset is how far it was well formed.
func jsonError(text string, offset int, err error) error {
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		offset = max(offset, int(syntax.Offset))
	}
	offset = min(max(offset, 0), len(text))
	line := 1 + strings.Count(text[:offset], "\n")
	reason := strings.TrimPrefix(err.Error(), "json: ")
	if strings.HasSuffix(reason, "unexpected EOF") || strings.HasSuffix(reason, "unexpected end of JSON input") {
		last := 1 + strings.Count(strings.TrimRight(text, "\n"), "\n")
		return fmt.Errorf("line %d: the JSON ends in the middle; was the file cut off?", last)
	}
	return fmt.Errorf("line %d: not JSON: %s", line, reason)
}

// withoutNaN replaces NaN, Infinity and -Infinity outside strings by null.
func withoutNaN(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		if text[i] == '"' {
			end := i + 1
			for end < len(text) && text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(text))
			b.WriteString(text[i:end])
			i = end
			continue
		}
		replaced := false
		for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
			if strings.HasPrefix(text[i:], word) {
				b.WriteString("null")
				i += len(word)
				replaced = true
				break
			}
		}
		if !replaced {
			b.WriteByte(text[i])
			i++
		}
	}
	return b.String()
}

func lineStarts(text string) []int {
	starts := []int{0}
	for i := range len(text) {
		if text[i] == '\n' && i+1 < len(text) {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// line returns the line of a value, from 1.
func (f *jsonFile) line(v gjson.Result) int {
	return max(1, sort.SearchInts(f.lines, v.Index+1))
}

func (f *jsonFile) unread(v gjson.Result, n note.Note) {
	line := f.line(v)
	f.doc.lineKinds[line-1] = lineUnread
	f.doc.remark(line, true, n)
}

type jsonRun struct {
	*result
	file *jsonFile
}

func (f *jsonFile) begin(v gjson.Result, format, tool, version string) *jsonRun {
	r := &jsonRun{result: f.doc.begin(format, f.line(v)), file: f}
	r.Run.Source.Tool = strings.TrimSpace(tool + " " + version)
	return r
}

// addDefinition notes how the tool defines its metrics otherwise than llmsweep.
func (r *jsonRun) addDefinition(notes ...note.Note) {
	r.Run.Warnings = append(r.Run.Warnings, notes...)
}

func (r *jsonRun) newStage(v gjson.Result) *jsonStage {
	r.beginStage(r.file.line(v))
	return &jsonStage{jsonRun: r, in: v, read: map[string]bool{}}
}

// jsonStage reads the metrics of one stage from an object.
type jsonStage struct {
	*jsonRun
	in   gjson.Result
	read map[string]bool // paths that were read
}

// value returns the number at a path, which has that unit, in SI. It is absent where there is no such number.
func (s *jsonStage) value(path, unit string) (rundir.Number, gjson.Result) {
	s.read[path] = true
	v := s.in.Get(path)
	switch {
	case v.Type == gjson.Null: // also what does not exist
		return rundir.Number{}, v
	case v.Type != gjson.Number || math.IsInf(v.Num, 0) || math.Abs(v.Num) > 1e15:
		s.file.unread(v, noteNoNumber.New(path, short(v.Raw)))
		return rundir.Number{}, v
	}
	u, _ := unitOf(unit)
	return rundir.Exactly(shiftPoint(v.Num, u.tens)), v
}

// number reads the number at a path into to. Key is its key in run.json, unit the unit that the file gives it in.
func (s *jsonStage) number(key, path string, to *rundir.Number, unit string) {
	n, v := s.value(path, unit)
	if n.IsZero() {
		return
	}
	*to = n
	s.setPrinted(key, v, unit)
}

func (s *jsonStage) setPrinted(key string, v gjson.Result, unit string) {
	line := s.file.line(v)
	s.Stage.Source.Printed[key] = rundir.Printed{Line: line, Text: strings.TrimSpace(short(v.Raw) + " " + unit)}
	if s.Doc.lineKinds[line-1] != lineUnread {
		s.Doc.lineKinds[line-1] = lineNumbers
	}
}

func (s *jsonStage) count(key, path string, to *int) {
	n, v := s.value(path, "")
	if n.IsZero() {
		return
	}
	if err := storeCount(n, to); err != nil {
		s.file.unread(v, noteNoCount.New(path, short(v.Raw)))
		return
	}
	s.setPrinted(key, v, "")
}

// seconds reads a duration that is no metric.
func (s *jsonStage) seconds(key, path string, to *float64) {
	var n rundir.Number
	s.number(key, path, &n, "s")
	if n.Known() {
		*to = n.Value()
	}
}

// addOthers keeps the numbers of v, whose path is prefix, that run.json has no place for. Lists are left out: they are
// samples, not results.
func (s *jsonStage) addOthers(v gjson.Result, prefix string, skip ...string) {
	v.ForEach(func(k, child gjson.Result) bool {
		path := strings.ReplaceAll(k.String(), ".", `\.`)
		if prefix != "" {
			path = prefix + "." + path
		}
		switch {
		case s.read[path] || slices.Contains(skip, path):
		case child.Type == gjson.Number:
			s.addOther(path, child)
		case child.IsObject():
			s.addOthers(child, path, skip...)
		}
		return true
	})
}

func (s *jsonStage) addOther(path string, v gjson.Result) {
	if s.Stage.Source.Other == nil {
		s.Stage.Source.Other = map[string]rundir.Printed{}
	}
	line := s.file.line(v)
	s.Stage.Source.Other[path] = rundir.Printed{Line: line, Text: short(v.Raw)}
	if s.Doc.lineKinds[line-1] == lineContext {
		s.Doc.lineKinds[line-1] = lineNumbers
	}
}

func (s *jsonStage) keepStage() {
	st := &s.Stage
	if len(st.Source.Printed) == 0 {
		s.file.unread(s.in, noteNoMetric.New())
		return
	}
	for _, d := range timesOf(st) {
		setCount(d.Dist, d.N)
	}
	s.endStage()
}

func (r *jsonRun) keepRun(plan string) {
	if len(r.Run.Stages) > 0 {
		r.Run.Plan.Kind = plan
		r.keep()
	}
}

// unix returns the time of a Unix timestamp in seconds, zero where it is none.
func unix(v gjson.Result) time.Time {
	const least, most = 1e9, 9e9 // 2001 to 2255: nanoseconds in an int64 count no further
	if v.Type != gjson.Number || v.Num < least || v.Num > most {
		return time.Time{}
	}
	return time.Unix(0, int64(v.Num*1e9)).UTC()
}
