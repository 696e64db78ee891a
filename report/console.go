package report

import (
	"bufio"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

func console(w io.Writer, runs []rundir.Run, o Options) error {
	out := bufio.NewWriter(w)
	style := table.Style{Width: o.Width, All: o.All, Color: o.Color, Lang: o.Lang}
	for i := range runs {
		if i > 0 {
			out.WriteString("\n")
		}
		if err := table.WriteConsole(out, o.sections(&runs[i], consoleSections(o.All)), style); err != nil {
			return err
		}
	}
	return out.Flush()
}

func (o Options) sections(run *rundir.Run, all []section) (found []table.Section) {
	for _, s := range all {
		found = append(found, s(run, &o)...)
	}
	return found
}

func headline(run *rundir.Run, l lang.Lang) string {
	parts := []string{findings.ModelName(run), findings.HardwareName(run, l, ""), engineText(run),
		findings.LoadBrief(&run.Workload, l)}
	if t := findings.RunSeconds(run); t > 0 {
		parts = append(parts, lang.Span(t, l))
	}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return strings.Join(parts, " · ")
}

func engineText(run *rundir.Run) string {
	name, t := findings.EngineName(run), run.Target
	if t.Version == "" || name == t.Engine {
		return strings.TrimSpace(name + " " + t.Version)
	}
	return name + lang.InParens.In(lang.English, t.Engine+" "+t.Version)
}

// Target returns one line on what is about to be measured: the server, the model and the lengths.
func Target(run *rundir.Run, l lang.Lang) string {
	t := run.Target
	parts := []string{t.URL, t.Model}
	if engine := strings.TrimSpace(t.Engine + " " + t.Version); engine != "" {
		parts[1] = strings.TrimSpace(t.Model + targetOn.In(l, engine))
	}
	if d := run.Workload.Dataset; d != "" {
		parts = append(parts, filepath.Base(d))
	}
	if brief := findings.LoadBrief(&run.Workload, l); brief != "" {
		parts = append(parts, brief)
	} else {
		parts = append(parts, loadFixedBrief.In(l, lang.Shortest(run.Workload.OutputTokens.Mean)))
	}
	return strings.Join(parts, "  ")
}
