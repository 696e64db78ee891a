package report

import (
	"io"
	"strconv"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Drawing is a drawing in a file beside a document.
type Drawing struct {
	File string
	Alt  string // what it shows
}

func markdown(w io.Writer, runs []rundir.Run, o Options) error {
	var all []table.Section
	o.several = len(runs) > 1
	if o.several && !o.OnlyTable {
		all = append(all, table.Section{Title: titleSeveral.Text(strconv.Itoa(len(runs))), Level: 1})
	}
	for i := range runs {
		list := markdownSections(o.All)
		if o.OnlyTable {
			list = []section{bareSixColumns}
		}
		all = append(all, o.sections(&runs[i], list)...)
	}
	if o.OnlyTable { // it is for the middle of a document
		first := &all[0].Markdown
		first.EN, first.ZH = strings.TrimPrefix(first.EN, "\n"), strings.TrimPrefix(first.ZH, "\n")
	}
	return table.WriteSections(w, "markdown", all, table.Style{Lang: o.Lang})
}

// Markdown writes a document about runs.
func Markdown(w io.Writer, runs []rundir.Run, l lang.Lang) error {
	return markdown(w, runs, Options{Lang: l})
}

func bareSixColumns(run *rundir.Run, o *Options) []table.Section {
	all := sixColumns(run, o)
	all[0].Notes = nil
	return all
}
