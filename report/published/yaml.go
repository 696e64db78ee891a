package published

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	yamlparser "github.com/goccy/go-yaml/parser"
)

// Limits of YAML. Its parser takes a time that is quadratic in the depth, and an alias may stand for much text.
const (
	maxYAMLBytes = 8 << 20
	maxYAMLDepth = 200
)

// reportKeys are the keys at the left edge that a Benchmark Report in YAML has, in any order.
var reportKeys = []*regexp.Regexp{
	regexp.MustCompile(`(?m)^["']?version["']?:[ \t]+["']?\d`),
	regexp.MustCompile(`(?m)^["']?scenario["']?:|^["']?run["']?:`),
	regexp.MustCompile(`(?m)^["']?results["']?:|^["']?metrics["']?:`),
}

// isReportYAML reports whether a document is a Benchmark Report in YAML. Other YAML is no result of a tool.
func isReportYAML(b []byte) bool {
	for _, k := range reportKeys {
		if !k.Match(b) {
			return false
		}
	}
	return true
}

// yamlToJSON returns YAML as JSON in which each value stands in the line that it has in the YAML.
func yamlToJSON(b []byte) (string, error) {
	if len(b) > maxYAMLBytes {
		return "", fmt.Errorf("larger than %d MiB, which no Benchmark Report is", maxYAMLBytes>>20)
	}
	if line := tooDeep(string(b)); line > 0 {
		return "", fmt.Errorf("line %d: not YAML that a tool writes: it is nested too deeply", line)
	}
	file, err := yamlparser.ParseBytes(b, 0)
	if err != nil {
		if e := yaml.Error(nil); errors.As(err, &e) && e.GetToken() != nil {
			return "", fmt.Errorf("line %d: not YAML: %s", e.GetToken().Position.Line, short(e.GetMessage()))
		}
		text, _, _ := strings.Cut(err.Error(), "\n")
		return "", fmt.Errorf("not YAML: %s", text)
	}
	w := &lineWriter{line: 1, anchors: map[string]ast.Node{}, most: maxYAMLBytes + 4*len(b)}
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		w.value(doc.Body)
		w.text(" ")
	}
	return w.b.String(), w.err
}

// tooDeep returns the first line of YAML that is nested too deeply as far as brackets, dashes and indentation tell; 0
// where none is.
func tooDeep(text string) int {
	open, number := 0, 0
	for line := range strings.Lines(text) {
		number++
		lead := len(line) - len(strings.TrimLeft(line, " -?"))
		opened := strings.Count(line, "[") + strings.Count(line, "{")
		open = max(0, open+opened-strings.Count(line, "]")-strings.Count(line, "}"))
		if open > maxYAMLDepth || lead > 2*maxYAMLDepth || opened > 10*maxYAMLDepth {
			return number
		}
	}
	return 0
}

type lineWriter struct {
	b       strings.Builder
	line    int // that is being written
	depth   int
	most    int // bytes
	anchors map[string]ast.Node
	alias   int // of aliases that are being written
	err     error
}

func (w *lineWriter) text(s string) {
	if w.b.Len()+len(s) > w.most && w.err == nil {
		w.err = errors.New("its aliases make it too large")
	}
	if w.err == nil {
		w.b.WriteString(s)
	}
}

// moveTo goes on to the line of a node. What an alias stands for is written in the line of the alias.
func (w *lineWriter) moveTo(n ast.Node) {
	if w.alias > 0 || n.GetToken() == nil {
		return
	}
	for line := n.GetToken().Position.Line; w.line < line; w.line++ {
		w.b.WriteByte('\n')
	}
}

func (w *lineWriter) value(n ast.Node) {
	w.depth++
	if w.depth > 2*maxYAMLDepth && w.err == nil {
		w.err = errors.New("it is nested too deeply, or an alias stands for itself")
	}
	defer func() { w.depth-- }()
	if w.err != nil {
		return
	}
	switch v := n.(type) {
	case *ast.MappingNode:
		w.members(v.Values...)
		return
	case *ast.MappingValueNode:
		w.members(v)
		return
	case *ast.SequenceNode:
		w.text("[")
		for i, e := range v.Values {
			if i > 0 {
				w.text(",")
			}
			w.value(e)
		}
		w.text("]")
		return
	case *ast.AnchorNode:
		w.anchors[v.Name.GetToken().Value] = v.Value
		w.value(v.Value)
		return
	case *ast.AliasNode:
		w.moveTo(n)
		to := w.anchors[v.Value.GetToken().Value]
		if to == nil {
			w.text("null")
			return
		}
		w.alias++
		w.value(to)
		w.alias--
		return
	case *ast.TagNode:
		if s, ok := v.Value.(ast.ScalarNode); ok && v.Start.Value == "!!str" {
			w.moveTo(n)
			w.text(quoted(s.GetToken().Value))
			return
		}
		w.value(v.Value)
		return
	}
	w.moveTo(n)
	w.text(scalar(n))
}

// members writes the members of an object. Those that << takes over stand last: the first of a name counts.
func (w *lineWriter) members(all ...*ast.MappingValueNode) {
	w.text("{")
	first := true
	write := func(m *ast.MappingValueNode) {
		if !first {
			w.text(",")
		}
		first = false
		w.moveTo(m.Key)
		w.text(quoted(keyOf(m.Key)) + ":")
		w.value(m.Value)
	}
	var merged []*ast.MappingValueNode
	for _, m := range all {
		if m.Key.IsMergeKey() {
			merged = append(merged, w.mergeMembers(m.Value)...)
			continue
		}
		write(m)
	}
	w.alias++
	for _, m := range merged {
		write(m)
	}
	w.alias--
	w.text("}")
}

func (w *lineWriter) mergeMembers(n ast.Node) []*ast.MappingValueNode {
	if a, ok := n.(*ast.AliasNode); ok {
		n = w.anchors[a.Value.GetToken().Value]
	}
	switch v := n.(type) {
	case *ast.MappingNode:
		return v.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{v}
	}
	return nil
}

func keyOf(k ast.MapKeyNode) string {
	var n ast.Node = k
	if m, ok := n.(*ast.MappingKeyNode); ok {
		n = m.Value
	}
	if s, ok := n.(*ast.StringNode); ok {
		return s.Value
	}
	return n.GetToken().Value
}

// scalar returns a scalar as JSON. What JSON has no number for is null.
func scalar(n ast.Node) string {
	switch v := n.(type) {
	case *ast.StringNode:
		return quoted(v.Value)
	case *ast.LiteralNode:
		return quoted(v.Value.Value)
	case *ast.BoolNode:
		return strconv.FormatBool(v.Value)
	case *ast.IntegerNode:
		return number(v.GetToken().Value, fmt.Sprint(v.Value))
	case *ast.FloatNode:
		return number(v.GetToken().Value, strconv.FormatFloat(v.Value, 'g', -1, 64))
	}
	return "null"
}

// number returns a number as it was written where JSON takes that, else its value.
func number(written, value string) string {
	for _, s := range []string{written, value} {
		if json.Valid([]byte(s)) {
			return s
		}
	}
	return "null"
}

func quoted(s string) string {
	b, _ := json.Marshal(s) // strings always are
	return string(b)
}
