// Package page makes pages of HTML: of a run, of a comparison, of a choice, and an index of many runs. A page is one file: its style and
// its script are in it, drawings are SVG, and nothing is loaded from anywhere. Both languages are in the file.
//
// What a server or a file says is never trusted: html/template escapes it, [draw.Escape] does in drawings, and the page's policy allows no
// script but its own.
package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/page/draw"
	"llmsweep/report/table"
)

// Options say how a page is made.
type Options struct {
	Lang lang.Lang // that it opens in; the zero Lang is English
	// Live is the version of the page of a run that goes on; empty for one that has ended. Such a page asks the address "events" beside it for
	// the version that is served, and loads itself again where that is another. Without a script it does so every ten seconds.
	Live string
}

//go:embed assets/page.css
var styleSheet string

//go:embed assets/page.js
var pageScript string

//go:embed assets/choose.js
var chooseScript string

// script is the script of all pages.
func script() string { return chooseScript + pageScript }

//go:embed assets/page.tmpl
var templates string

// layout is the template of all pages.
func layout() (*template.Template, error) {
	return template.New("page").Funcs(template.FuncMap{
		"t":         func(t draw.Text) template.HTML { return template.HTML(t.HTML()) },
		"attr":      func(t draw.Text, l lang.Lang) string { return table.Clean(t.In(l)) },
		"word":      func(key string) template.HTML { return template.HTML(word(key).HTML()) },
		"wordIn":    func(key string, l lang.Lang) string { return word(key).In(l) },
		"generator": func() template.HTML { return template.HTML(generator) },
		"shapes":    shapeKey,
		"aligned":   aligned,
		"begin":     begin,
		"first":     first,
		"add":       func(a, b int) int { return a + b },
		"seconds":   func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) },
	}).Parse(templates)
}

// rendered is what the template sees.
type rendered struct {
	*Document
	Lang   lang.Lang
	Live   string
	Policy string
	Style  template.HTML
	Script template.HTML
}

// Write writes a page.
func Write(w io.Writer, d *Document, o Options) error {
	t, err := layout()
	if err != nil {
		return err
	}
	css := ":root{color-scheme:light dark;" + draw.LightColours + lightPage + "}@media (prefers-color-scheme:dark){:root:not([data-theme=light]){" + draw.DarkColours + darkPage +
		"}}:root[data-theme=dark]{color-scheme:dark;" + draw.DarkColours + darkPage + "}:root[data-theme=light]{color-scheme:light}" +
		"@media print{:root,:root[data-theme=dark]{" + draw.LightColours + lightPage + "}}" + draw.StyleSheet() + styleSheet
	if o.Lang == "" {
		o.Lang = lang.English
	}
	if d.Data == nil {
		d.Data = map[string]any{}
	}
	policy := "default-src 'none'; style-src '" + fingerprint(css) + "'; script-src '" + fingerprint(script()) + "'; base-uri 'none'; form-action 'none'"
	if o.Live != "" {
		policy += "; connect-src 'self'"
	}
	return t.Execute(w, rendered{
		Document: d, Lang: o.Lang, Live: o.Live,
		Policy: policy,
		Style:  template.HTML("<style>" + css + "</style>"), Script: template.HTML("<script>" + script() + "</script>"),
	})
}

// Colours of the page beside those of its drawings.
const (
	lightPage = "--page:#f4f6f9;--line:#d5dbe3;--link:#0060a8;--good:#00663f;--caution:#8a5200;--bad:#a3192f;--shade:#eaeef4;--shadow:#0003;"
	darkPage  = "--page:#0f1319;--line:#3a4452;--link:#6cb8f5;--good:#45d6a5;--caution:#f0c350;--bad:#ff8fa8;--shade:#212936;--shadow:#000b;"
)

// fingerprint is the hash of a style or script by which the page's policy allows it.
func fingerprint(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// shapeKey explains the markers, in words.
func shapeKey() template.HTML {
	html := ""
	for _, v := range verdictShapes() {
		html += fmt.Sprintf(`<li>%s %s</li>`, v.shape.Key(), v.text.Plus(meaning(v.verdict)).HTML())
	}
	return template.HTML(html)
}

// aligned marks the cells of columns that are aligned left.
func aligned(t *Table) *Table {
	for i, r := range t.Rows {
		for j := range r.Cells {
			if t.Columns[j].Left {
				t.Rows[i].Cells[j].Class = strings.TrimSpace(r.Cells[j].Class + " left")
			}
		}
	}
	return t
}

// begin returns the first sentences of a text that is too long to be read in passing; nil for others. A sentence is never cut.
func begin(t draw.Text) *draw.Text {
	const long, short = 260, 110 // characters
	if len([]rune(t.EN)) <= long {
		return nil
	}
	en, zh := sentencesUpTo(t.EN, short, ". "), sentencesUpTo(t.ZH, short/2, "。")
	if en == t.EN || zh == t.ZH {
		return nil
	}
	return &draw.Text{EN: en + " …", ZH: zh + " …"}
}

// sentencesUpTo returns the whole sentences at the beginning of a text that together have at least so many characters, or all of it.
func sentencesUpTo(s string, least int, stop string) string {
	at := 0
	for len([]rune(s[:at])) < least {
		i := strings.Index(s[at:], stop)
		if i < 0 {
			return s
		}
		at += i + len(stop)
	}
	return strings.TrimRight(s[:at], " ")
}

// first returns the panel that a page shows first: that of the lowest load beyond saturation, which shows why the server saturates, or else of
// the highest output.
func first(all []Panel) string {
	for _, p := range all {
		if p.First {
			return p.ID
		}
	}
	return all[0].ID
}

func itoa(n int) string { return strconv.Itoa(n) }
