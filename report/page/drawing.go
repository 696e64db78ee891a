package page

import (
	"fmt"
	"io"
	"strings"

	"llmsweep/report/draw"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// overTimePrefix begins the names of drawings of a stage over time; the stage's name follows.
const overTimePrefix = "time@"

// Drawings lists the names of the drawings that a run has, for [Drawing]: "output", "ttft", "itl", "latency", "speed", and "time@STAGE" for each
// stage with records. dir is the run's directory; empty for none.
func Drawings(run *rundir.Run, dir string) []string {
	v := newView(run)
	var names []string
	for _, f := range v.Rates() {
		names = append(names, f.Name)
	}
	if f, ok := speedPlot("speed", plotAlone(run), nil); ok {
		names = append(names, f.Name)
	}
	traces, _ := readTrace(dir, run, traceLimits{}) // what cannot be read has no drawing
	for _, r := range v.Rows {
		if traces[r.Stage.Name] != nil {
			names = append(names, overTimePrefix+r.Stage.Name)
		}
	}
	return names
}

// Drawing writes one drawing of a run as an SVG file in one language. The error names the drawings that there are.
func Drawing(w io.Writer, name string, run *rundir.Run, dir string, l lang.Lang) error {
	v := newView(run)
	if stage, ok := strings.CutPrefix(name, overTimePrefix); ok {
		traces, err := readTrace(dir, run, overTimeLimits(1))
		if err != nil {
			return err
		}
		for _, r := range v.Rows {
			if t := traces[stage]; t != nil && r.Stage.Name == stage {
				f := figureOverTime(v.View, "s1", r.Stage, t, map[string]any{})
				return draw.Alone(w, f.Variants[0].Drawn, l)
			}
		}
	}
	figures := v.Rates()
	if f, ok := speedPlot("speed", plotAlone(run), nil); ok {
		figures = append(figures, f)
	}
	for _, f := range figures {
		if f.Name != name {
			continue
		}
		for _, variant := range f.Variants {
			if !variant.Off {
				return draw.Alone(w, variant.Drawn, l)
			}
		}
	}
	return fmt.Errorf("no drawing %q: there are %s", name, strings.Join(Drawings(run, dir), ", "))
}
