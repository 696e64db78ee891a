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

// drawings adds each model's drawings to the files, and returns the lines that show them.
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

func (w *writer) modelDrawings(model string) html.FigureFiles {
	return html.NewFigureFiles(model, slices.DeleteFunc(slices.Clone(w.setups),
		func(s setup.Setup) bool { return setup.Model(s.Run) != model }))
}

// drawing adds a drawing to the files, and returns the line that shows it; empty where there is nothing in it.
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
	w.out.Drawings[name+".svg"] = b.Bytes()
	return fmt.Sprintf("\n![%s](%s.svg)\n", table.Escape(f.Name(w.Lang)), name)
}

// freeName numbers names that differ only in what fileName drops, such as those in other scripts.
func (w *writer) freeName(name string) string {
	free := name
	for n := 2; w.out.Drawings[free+".svg"] != nil; n++ {
		free = name + "-" + strconv.Itoa(n)
	}
	return free
}

// fileName keeps what every file system and every link takes.
func fileName(s string) string {
	name := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) || r == '.' || r == '_' {
			return r
		}
		return '-'
	}, strings.ToLower(s))
	return strings.Trim(name, "-.")
}
