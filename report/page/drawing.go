package page

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"llmsweep/report/choose"
	"llmsweep/report/draw"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

const overTimePrefix = "time@" // of the name of a drawing over time; the name of its stage follows

// Drawings lists the names of the drawings of a run: "output", "ttft", "itl", "latency", "speed", and "time@STAGE" for
// each stage with records in dir, which is empty for none.
func Drawings(run *rundir.Run, dir string) []string {
	v := newView(run)
	var names []string
	for _, f := range v.loadFigures() {
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

func (v *view) loadFigures() []FigureBlock {
	all := v.rates()
	if f, ok := speedPlot("speed", setup.Load([]setup.Input{{Run: v.Run}}), nil); ok {
		all = append(all, f)
	}
	return all
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
				f := timeFigure(v, "s1", r.Stage, t, map[string]any{})
				file := &draw.File{Figures: []*draw.Figure{f.Variants[0].Drawn}}
				return file.Write(w, l)
			}
		}
	}
	for _, f := range v.loadFigures() {
		if f.Name == name {
			fig := f.shown()
			if len(fig.Spans) > 0 {
				fig.Spans = v.saturation() // with their text, which stands once on a page
			}
			return (&draw.File{Figures: []*draw.Figure{fig}, Legend: v.legend(fig)}).Write(w, l)
		}
	}
	return fmt.Errorf("no drawing %q: there are %s", name, strings.Join(Drawings(run, dir), ", "))
}

func (f *FigureBlock) shown() *draw.Figure {
	for _, variant := range f.Variants {
		if !variant.Off {
			return variant.Drawn
		}
	}
	return f.Variants[0].Drawn
}

func (v *view) legend(f *draw.Figure) (all []draw.Entry) {
	for _, m := range v.markers() {
		all = append(all, draw.Entry{Sign: m.Shape.Sign(), Text: m.Text})
	}
	if slices.ContainsFunc(f.Panels[0].Series, func(s draw.Series) bool {
		return slices.ContainsFunc(s.Points, func(p draw.Point) bool { return p.Faint })
	}) {
		all = append(all, draw.Entry{Sign: draw.FaintSign(), Text: keyFaint.Text()})
	}
	return all
}

// FigureFiles are drawings of configurations of one model, for files beside a document.
type FigureFiles struct {
	model string
	overlay
}

// NewFigureFiles returns the drawings of configurations of one model. Their names are shown without it.
func NewFigureFiles(model string, setups []setup.Setup) FigureFiles {
	var names []string
	for i := range setups {
		names = append(names, strings.TrimLeft(strings.TrimPrefix(setups[i].Name, model), "-, ，"))
	}
	return FigureFiles{model, newOverlay(setups, names, "")}
}

func (d FigureFiles) file(figures []*draw.Figure) *draw.File {
	f := &draw.File{Title: lang.Same(d.model), Figures: figures}
	for i, short := range shortNames(d.names) {
		if short != d.names[i] {
			f.Legend = append(f.Legend, draw.Entry{Sign: draw.LineSign(i), Text: lang.Same(short + " " + d.names[i])})
		}
	}
	front, closed := false, false
	for _, fig := range figures {
		for _, s := range fig.Panels[0].Series {
			front = front || s.Style == draw.Front
			closed = closed || slices.ContainsFunc(s.Points, func(p draw.Point) bool { return p.Shape == draw.Square })
		}
	}
	if closed {
		f.Legend = append(f.Legend, draw.Entry{Sign: draw.Square.Sign(), Text: keyClosed.Text()})
	}
	if front {
		f.Legend = append(f.Legend, draw.Entry{Sign: draw.FrontSign(), Text: keyFront.Text()})
	}
	return f
}

// Latency draws mean TTFT and ITL; the latency of whole requests where nothing was streamed.
func (d FigureFiles) Latency() *draw.File {
	all := append(d.mean("ttft"), d.mean("itl")...)
	if len(all) == 0 {
		all = d.mean("latency")
	}
	return d.file(all)
}

// Throughput draws the output with the saturation rates, and the speed of an answer against the output of a GPU.
func (d FigureFiles) Throughput() *draw.File {
	all := d.mean("output")
	for _, f := range all {
		f.Panels = append(f.Panels, d.saturation())
	}
	if f, ok := d.speed(); ok {
		all = append(all, f.shown())
	}
	return d.file(all)
}

func (d FigureFiles) mean(name string) []*draw.Figure {
	for _, q := range quantities() {
		if q.name == name {
			if f, ok := d.figure(q, q.lines[0]); ok {
				return []*draw.Figure{f.shown()}
			}
		}
	}
	return nil
}

func (d FigureFiles) saturation() draw.Panel {
	p := draw.Panel{Y: draw.Axis{Label: axisSaturation.Text()}}
	for i, name := range shortNames(d.names) {
		s := &d.setups[i]
		b := draw.Bar{
			Name:   lang.Same(name),
			At:     s.Plateau.Rate.Value(),
			Low:    math.NaN(),
			High:   math.NaN(),
			Bound:  s.Plateau.Rising,
			Colour: i,
		}
		if s.Plateau.Most.Known() { // rows disagree
			b.At, b.Low, b.High = math.NaN(), s.Plateau.Rate.Value(), s.Plateau.Most.Value()
		} else if a := saturation.AnswerOf(s.Run); a != nil {
			b.Low, b.High = a.Low.Or(math.NaN()), a.High.Or(math.NaN())
		}
		p.Bars = append(p.Bars, b)
	}
	return p
}

// Cost draws the cost of a million tokens against TTFT, at the SLO; no figure of fewer than two priced configurations.
func (d FigureFiles) Cost(c *choose.Choice) *draw.File {
	point := func(k *choose.Candidate) draw.Point {
		return draw.Point{X: k.MillionSLO.Value(), Y: k.TTFT.Value(), Title: filepath.Base(k.Where)}
	}
	all := []draw.Series{{Key: "front", Style: draw.Front}}
	for i, name := range shortNames(d.names) {
		for j := range c.Ranked {
			if k := &c.Ranked[j]; k.Name == d.setups[i].Name && k.MillionSLO.Known() && k.TTFT.Known() {
				all = append(all, draw.Series{
					Key:    k.Name,
					Name:   lang.Same(name),
					Colour: i,
					Style:  draw.MarkersOnly,
					Points: []draw.Point{point(k)},
				})
			}
		}
	}
	if len(all) < 3 {
		return d.file(nil)
	}
	for _, name := range c.FrontCost {
		for i := range c.Ranked {
			if k := &c.Ranked[i]; k.Name == name {
				all[0].Points = append(all[0].Points, point(k))
			}
		}
	}
	return d.file([]*draw.Figure{
		{
			Title:   titleCostTTFT.Text(),
			Caption: axesCaption(axisTTFTMean.Text(), axisMillion.Text()),
			X:       draw.Axis{Label: axisMillion.Text(), Format: draw.Number},
			Panels: []draw.Panel{{
				Y: draw.Axis{Label: axisTTFTMean.Text(), Format: draw.Seconds}, Height: 200, Series: all,
			}},
		},
	})
}
