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
	"github.com/yuin/goldmark/extension"
	render "github.com/yuin/goldmark/renderer/html"
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

// markdownShape returns the elements of the page that it becomes, each within those it is in. Rows must be as long as
// their headings.
func markdownShape(s string) (shape []string, err error) {
	var page bytes.Buffer
	// Without links that are made of bare addresses.
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList),
		goldmark.WithRendererOptions(render.WithUnsafe(), render.WithXHTML()))
	if err := markdown.Convert([]byte(s), &page); err != nil {
		return nil, err
	}
	if shape, err = pageShape(page.String(), true); err != nil {
		return nil, err
	}
	// The page has rows as long as the heading: the cells are counted in the source.
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
var checksum = regexp.MustCompile(`\b[0-9a-f]{32}\b`)

// htmlShape returns the elements with the names of their attributes, and what a script or style holds.
func htmlShape(s string) (shape []string, err error) { return pageShape(s, false) }

// pageShape is htmlShape, with the elements that an element is in where they are wanted.
func pageShape(s string, paths bool) (shape []string, err error) {
	z, script, open := html.NewTokenizer(strings.NewReader(s)), "", []string{}
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
			element := token.Data + " " + strings.Join(keys, " ")
			if paths {
				element = strings.Join(open, "/") + "/" + element
				if token.Type == html.StartTagToken {
					open = append(open, token.Data)
				}
			}
			shape = append(shape, element)
			if script = ""; token.Data == "script" || token.Data == "style" {
				script = token.Data + " " + kind
			}
		case html.TextToken:
			switch raw := string(z.Raw()); {
			case strings.HasPrefix(script, "script application/json"):
				if !json.Valid([]byte(raw)) {
					return shape, errors.New("the page's data is not JSON")
				}
			case script != "":
				shape = append(shape, raw)
			case len(open) > 0 && open[len(open)-1] == "code" && strings.Contains(raw, "@"):
				shape = shape[:len(shape)-1] // table.Escape makes code of addresses
			}
		case html.EndTagToken:
			if script = ""; len(open) > 0 {
				open = open[:len(open)-1]
			}
		case html.CommentToken:
			shape = append(shape, "comment "+checksum.ReplaceAllString(string(z.Raw()), ""))
		}
	}
}

// xmlShape is htmlShape of what is XML.
func xmlShape(s string) (shape []string, err error) {
	for d := xml.NewDecoder(strings.NewReader(s)); err == nil; {
		_, err = d.Token()
	}
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return htmlShape(s)
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
