package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"golang.org/x/net/html"
)

// sound checks an output of a kind against that of the harmless name.
func sound(what, got, harmless string) error {
	if err := visible(got); err != nil {
		return err
	}
	kind, _, _ := strings.Cut(what, " ")
	shape := map[string]func(string) ([]string, error){"markdown": markdownShape, "html": htmlShape, "xml": xmlShape,
		"json": jsonShape, "csv": csvShape, "text": textShape}[kind]
	now, err := shape(got)
	if err != nil {
		return err
	}
	usual, err := shape(harmless)
	if err != nil {
		return fmt.Errorf("harmless: %w", err)
	}
	var more []string
	for _, s := range now {
		if !slices.Contains(usual, s) {
			more = append(more, s)
		}
	}
	if len(more) > 0 {
		return fmt.Errorf("it has %q, which the harmless name does not produce", more[:min(len(more), 5)])
	}
	return nil
}

// visible reports the first character that a terminal would obey, or that turns the direction of text.
func visible(s string) error {
	if !utf8.ValidString(s) {
		return errors.New("not UTF-8")
	}
	for i, r := range s {
		if unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
			return fmt.Errorf("%q in %q", r, s[max(0, i-60):min(len(s), i+20)])
		}
	}
	return nil
}

// textShape finds lines that a CI system would take for commands.
func textShape(s string) (shape []string, err error) {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "::") {
			command, _, _ := strings.Cut(line, " ")
			shape = append(shape, command)
		}
	}
	return shape, nil
}

// hasAddress reports whether a text of a node has an @.
func hasAddress(n ast.Node, source string) bool {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok && strings.Contains(string(t.Segment.Value([]byte(source))), "@") {
			return true
		}
	}
	return false
}

// markdownShape returns the kinds of nodes, each within those it is in, and the targets of links. Rows must be as long
// as their headings.
func markdownShape(s string) (shape []string, err error) {
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader([]byte(s)))
	width := 0
	ast.Walk(doc, func(n ast.Node, in bool) (ast.WalkStatus, error) {
		if !in || n.Kind() == ast.KindText || n.Kind() == ast.KindString || n.Kind() == ast.KindAutoLink {
			return ast.WalkContinue, nil
		}
		if n.Kind() == ast.KindCodeSpan && hasAddress(n, s) { // table.Escape makes code of addresses
			return ast.WalkSkipChildren, nil
		}
		kinds := n.Kind().String()
		for p := n.Parent(); p != nil; p = p.Parent() {
			kinds = p.Kind().String() + "/" + kinds
		}
		switch n := n.(type) {
		case *ast.Heading:
			kinds += strconv.Itoa(n.Level)
		case *ast.Image:
			if strings.Contains(string(n.Destination), ":") {
				kinds += " " + string(n.Destination)
			}
		case *ast.Link:
			kinds += " " + string(n.Destination)
		case *ast.HTMLBlock:
			if first := strings.TrimSpace(string(n.Lines().Value([]byte(s)))); !strings.HasPrefix(first, "<!-- ") {
				kinds += " " + first
			}
		case *ast.RawHTML:
			kinds += " " + string(n.Segments.Value([]byte(s)))
		case *extast.TableHeader:
			width = n.ChildCount()
		case *extast.TableRow:
			if n.ChildCount() != width {
				err = fmt.Errorf("a row of %d cells under %d headings", n.ChildCount(), width)
			}
		}
		shape = append(shape, kinds)
		return ast.WalkContinue, nil
	})
	// goldmark makes rows as long as the heading: the cells are counted in the source as well.
	pipes, table := 0, false
	for line := range strings.Lines(s) {
		n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if table = table && strings.HasPrefix(line, "|"); table && n != pipes {
			err = fmt.Errorf("a row of %d cells under %d headings: %.200s", n-1, pipes-1, line)
		}
		if !table && strings.HasPrefix(line, "|") {
			pipes, table = n, true
		}
	}
	return shape, err
}

// checksum matches what the marks of llmsweep's files say of their content.
var checksum = regexp.MustCompile(`checksum [0-9a-f]{32}`)

// htmlShape returns the elements with the names of their attributes, and what a script or style holds.
func htmlShape(s string) (shape []string, err error) {
	z, script := html.NewTokenizer(strings.NewReader(s)), ""
	for {
		switch z.Next() {
		case html.ErrorToken:
			if !errors.Is(z.Err(), io.EOF) {
				err = z.Err()
			}
			return shape, err
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			kind, keys := "", []string{}
			for _, a := range token.Attr {
				keys = append(keys, a.Key)
				if (a.Key == "href" || a.Key == "src" || a.Key == "xlink:href") && !strings.HasPrefix(a.Val, "#") {
					keys = append(keys, a.Val)
				}
				if a.Key == "type" {
					kind = a.Val
				}
			}
			slices.Sort(keys)
			shape = append(shape, token.Data+" "+strings.Join(keys, " "))
			if script = ""; token.Data == "script" || token.Data == "style" {
				script = token.Data + " " + kind
			}
		case html.TextToken:
			if strings.HasPrefix(script, "script application/json") {
				if !json.Valid(z.Raw()) {
					return shape, errors.New("the page's data is not JSON")
				}
			} else if script != "" {
				shape = append(shape, string(z.Raw()))
			}
		case html.EndTagToken:
			script = ""
		case html.CommentToken:
			shape = append(shape, "comment "+checksum.ReplaceAllString(string(z.Raw()), ""))
		}
	}
}

// xmlShape returns the elements with the names of their attributes.
func xmlShape(s string) (shape []string, err error) {
	d := xml.NewDecoder(strings.NewReader(s))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return shape, nil
		}
		if err != nil {
			return shape, err
		}
		switch e := token.(type) {
		case xml.StartElement:
			var keys []string
			for _, a := range e.Attr {
				keys = append(keys, a.Name.Local)
			}
			slices.Sort(keys)
			shape = append(shape, e.Name.Local+" "+strings.Join(keys, " "))
		case xml.Comment, xml.Directive:
			shape = append(shape, checksum.ReplaceAllString(fmt.Sprintf("%T %s", e, e), ""))
		}
	}
}

// jsonShape checks that it is JSON.
func jsonShape(s string) (shape []string, err error) {
	var v any
	return nil, json.NewDecoder(bytes.NewReader([]byte(s))).Decode(&v)
}

// csvShape returns the headings and the number of cells of each row. A cell that a spreadsheet would take for a formula
// is an error.
func csvShape(s string) (shape []string, err error) {
	rows, err := csv.NewReader(strings.NewReader(s)).ReadAll()
	if err != nil {
		return nil, err
	}
	for i, row := range rows {
		shape = append(shape, fmt.Sprintf("row %d: %d", i, len(row)))
		for _, cell := range row {
			if _, err := strconv.ParseFloat(cell, 64); err != nil && cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r\n") {
				return nil, fmt.Errorf("%.60q is a formula", cell)
			}
		}
	}
	return append(shape, rows[0]...), nil
}
