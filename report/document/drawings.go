package document

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"llmsweep/report/draw"
	html "llmsweep/report/page"
	"llmsweep/report/setup"
	"llmsweep/report/table"
)

// drawings draws each model's configurations, and returns the lines that show the files.
func (w *writer) drawings() string {
	var b strings.Builder
	var drawn []string
	for i := range w.setups {
		m := setup.Model(w.setups[i].Run)
		if slices.Contains(drawn, m) {
			continue
		}
		drawn = append(drawn, m)
		d := w.modelDrawings(m)
		b.WriteString(w.drawing(m, "latency", d.Latency()))
		b.WriteString(w.drawing(m, "throughput", d.Throughput()))
	}
	return b.String()
}

// modelDrawings are the drawings of the configurations of a model.
func (w *writer) modelDrawings(model string) html.FigureFiles {
	return html.NewFigureFiles(model, slices.DeleteFunc(slices.Clone(w.setups),
		func(s setup.Setup) bool { return setup.Model(s.Run) != model }))
}

// drawing keeps a drawing as a file, and returns the line that shows it; empty where there is nothing in it.
func (w *writer) drawing(model, what string, f *draw.File) string {
	var b bytes.Buffer
	if len(f.Figures) == 0 || f.Write(&b, w.Lang) != nil { // a bytes.Buffer takes everything
		return ""
	}
	const longest = 80 // characters: file systems take 255 bytes
	if r := []rune(model); len(r) > longest {
		model = string(r[:longest])
	}
	name := w.freeName(fileName(w.Base+"-"+model) + "-" + what)
	w.out.Files[name+".svg"] = b.Bytes()
	return fmt.Sprintf("\n![%s](%s.svg)\n", table.Escape(f.Name(w.Lang)), name)
}

// freeName returns a name that no drawing has: names in other scripts differ in nothing that file names keep.
func (w *writer) freeName(name string) string {
	free := name
	for n := 2; w.out.Files[free+".svg"] != nil; n++ {
		free = name + "-" + strconv.Itoa(n)
	}
	return free
}

// fileName keeps what every file system and every link takes.
func fileName(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		switch {
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) || r == '.' || r == '_':
			b.WriteRune(r)
		default:
			b.WriteByte('-')
		}
	}
	return strings.Trim(b.String(), "-.")
}
