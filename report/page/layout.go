// What a server or a file says is never trusted: html/template escapes it, [draw.Escape] does in drawings, and the
// page's policy allows no script but its own.

package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"llmsweep/report/draw"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// WriteOptions say how a page is made.
type WriteOptions struct {
	Lang lang.Lang // that it opens in; the zero Lang is English
	// Live is the version of the page of a run that goes on; empty for one that has ended. Each second such a page asks
	// for its ETag, and loads itself again if that is another version; without a script it does so every ten seconds.
	Live string
}

//go:embed assets/page.css
var styleSheet string

//go:embed assets/page.js
var pageScript string

//go:embed assets/page.tmpl
var templates string

func layout() (*template.Template, error) {
	return template.New("page").Funcs(template.FuncMap{
		"t":         func(t lang.Text) template.HTML { return template.HTML(draw.HTML(t)) },
		"attr":      func(t lang.Text, l lang.Lang) string { return table.Clean(t.In(l)) },
		"word":      func(key string) template.HTML { return template.HTML(draw.HTML(word(key))) },
		"wordIn":    func(key string, l lang.Lang) string { return word(key).In(l) },
		"generator": func() template.HTML { return template.HTML(generator) },
		"data":      data,
		"sign":      func(s draw.Shape) template.HTML { return markup(s.Key()) },
		"grouped":   lang.Grouped,
		"begin":     foldText,
		"first":     firstPanel,
		"tone":      func(c table.Cell) string { return toneClass(c.Tone) },
		"add":       func(a, b int) int { return a + b },
		"seconds":   func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) },
	}).Parse(templates)
}

type templateData struct {
	*Document
	Lang   lang.Lang
	Live   string
	Policy string
	Style  template.HTML
	Script template.HTML
}

func writeHTML(w io.Writer, d *Document, o WriteOptions) error {
	t, err := layout()
	if err != nil {
		return err
	}
	css := ":root{color-scheme:light dark;" + draw.LightColours + lightPage +
		"}@media (prefers-color-scheme:dark){:root:not([data-theme=light]){" + draw.DarkColours + darkPage +
		"}}:root[data-theme=dark]{color-scheme:dark;" + draw.DarkColours + darkPage +
		"}:root[data-theme=light]{color-scheme:light}" +
		"@media print{:root,:root[data-theme=dark]{" + draw.LightColours + lightPage + "}}" + draw.StyleSheet() + styleSheet
	if o.Lang == "" {
		o.Lang = lang.English
	}
	if d.Data == nil {
		d.Data = map[string]any{}
	}
	policy := "default-src 'none'; style-src '" + sourceHash(css) + "'; script-src '" + sourceHash(pageScript) +
		"'; base-uri 'none'; form-action 'none'"
	if o.Live != "" {
		policy += "; connect-src 'self'"
	}
	return t.Execute(w, templateData{
		Document: d,
		Lang:     o.Lang,
		Live:     o.Live,
		Policy:   policy,
		Style:    template.HTML("<style>" + css + "</style>"),
		Script:   template.HTML("<script>" + pageScript + "</script>"),
	})
}

// data may stand in a script element: json.Marshal escapes <, > and &.
func data(d map[string]any) (template.JS, error) {
	b, err := json.Marshal(d)
	return template.JS(rundir.EscapeJSON(b)), err
}

// Colours of the page beside those of its drawings.
const (
	lightPage = "--page:#f4f6f9;--line:#d5dbe3;--link:#0060a8;--good:#00663f;--caution:#8a5200;--bad:#a3192f;--shade:#eaeef4;--shadow:#0003;"
	darkPage  = "--page:#0f1319;--line:#3a4452;--link:#6cb8f5;--good:#45d6a5;--caution:#f0c350;--bad:#ff8fa8;--shade:#212936;--shadow:#000b;"
)

func sourceHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// generator marks the pages of this package, so that one of them is never taken for a page of somebody else.
const generator = `<meta name="generator" content="llmsweep">`

// PagePath returns the path of the page beside a file: the same with the ending .html.
func PagePath(path string) string { return strings.TrimSuffix(path, filepath.Ext(path)) + ".html" }

// PathNote returns a line about a page that was written beside what was asked for.
func PathNote(path string, l lang.Lang) string { return table.Clean(sayWritten.In(l, path)) }

// FlagHint returns a line on how to get a page where none was written.
func FlagHint(l lang.Lang) string { return sayOffered.In(l) }
