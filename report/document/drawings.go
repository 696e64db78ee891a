package document

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"llmsweep/report/choose"
	"llmsweep/report/draw"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// drawings draws each model's configurations, and returns the lines that show the files.
func (w *writer) drawings() string {
	var models []string
	groups := map[string][]*setup.Setup{}
	for i := range w.setups {
		m := setup.Model(w.setups[i].Run)
		if groups[m] == nil {
			models = append(models, m)
		}
		groups[m] = append(groups[m], &w.setups[i])
	}
	var b strings.Builder
	for _, name := range models {
		m := cmp.Or(name, docNoModel.In(w.Lang)) // for the titles
		times := []draw.TextChart{
			againstLoad(drawTTFTs.In(w.Lang, m), drawTTFT.In(w.Lang), groups[name], w.Lang, func(s *rundir.Stage) rundir.Number { return milliseconds(s.TTFT.Mean) }, true),
			againstLoad(drawITLs.In(w.Lang, m), drawITL.In(w.Lang), groups[name], w.Lang, func(s *rundir.Stage) rundir.Number {
				f, _, _ := setup.ITL(s)
				return milliseconds(f)
			}, true),
		}
		if times = slices.DeleteFunc(times, empty); len(times) == 0 { // what was not streamed has neither
			times = []draw.TextChart{againstLoad(drawLatencies.In(w.Lang, m), drawLatency.In(w.Lang), groups[name], w.Lang, func(s *rundir.Stage) rundir.Number {
				return milliseconds(s.Latency.Mean)
			}, true)}
		}
		b.WriteString(w.drawing(name, "latency", times))
		throughput := againstLoad(drawThroughput.In(w.Lang, m), drawOutput.In(w.Lang), groups[name], w.Lang, func(s *rundir.Stage) rundir.Number { return s.TokensPerS.Output }, false)
		throughput.Spans, throughput.Note = brackets(groups[name]), drawBrackets.In(w.Lang)
		charts := []draw.TextChart{throughput}
		if front := frontChart(m, groups[name], w.Lang); len(front.Front) > 0 { // a number of GPUs is known
			charts = append(charts, front)
		}
		b.WriteString(w.drawing(name, "throughput", charts))
	}
	return b.String()
}

// empty reports whether a chart has no mark.
func empty(c draw.TextChart) bool {
	return !slices.ContainsFunc(c.Series, func(s draw.TextSeries) bool { return len(s.Spots) > 0 })
}

// drawing keeps a drawing as a file, and returns the line that shows it: nothing where no chart has a mark.
func (w *writer) drawing(model, what string, charts []draw.TextChart) string {
	if charts = slices.DeleteFunc(charts, empty); len(charts) == 0 {
		return ""
	}
	var b bytes.Buffer
	if err := draw.ChartSVG(&b, charts); err != nil { // a bytes.Buffer takes everything
		return ""
	}
	name := w.free(fileName(w.Base+"-"+shortened(model)) + "-" + what)
	w.out.Files[name+".svg"] = b.Bytes()
	return fmt.Sprintf("\n![%s](%s.svg)\n", table.Escape(charts[0].Title), name)
}

// free returns a name that no drawing has: names in other scripts differ in nothing that file names keep.
func (w *writer) free(name string) string {
	free := name
	for n := 2; w.out.Files[free+".svg"] != nil; n++ {
		free = name + "-" + strconv.Itoa(n)
	}
	return free
}

// shortened returns the beginning of a name: file systems take 255 bytes.
func shortened(name string) string {
	const most = 80 // characters
	if r := []rune(name); len(r) > most {
		return string(r[:most])
	}
	return name
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

func milliseconds(f rundir.Number) rundir.Number {
	if f.Bound() {
		return rundir.Over(f.Value() * 1e3)
	}
	return rundir.Exactly(f.Value() * 1e3)
}

// againstLoad draws a metric against the rate offered, where one request at a time stands at what it completed; where there are closed loops alone,
// against the number in flight.
func againstLoad(title, y string, setups []*setup.Setup, l lang.Lang, of func(*rundir.Stage) rundir.Number, log bool) draw.TextChart {
	c := draw.TextChart{Title: title, X: drawOffered.In(l), Y: y, LogY: log}
	closed := !slices.ContainsFunc(setups, func(s *setup.Setup) bool {
		return slices.ContainsFunc(s.Rows, func(r setup.Row) bool { return r.Stage.Rate.Known() })
	})
	if closed {
		c.X = drawInFlight.In(l)
	}
	for _, s := range setups {
		line := draw.TextSeries{Name: shortName(s)}
		for _, r := range s.Rows {
			x, f := r.Served, of(r.Stage)
			if closed {
				x = float64(r.Stage.MaxConcurrency)
			} else if r.Stage.Rate.Known() {
				x = findings.Offered(r.Stage).Value()
			}
			if !f.IsZero() {
				line.Spots = append(line.Spots, draw.Spot{X: x, Y: f.Value(), Bound: f.Bound(), Title: r.Where})
			}
		}
		slices.SortStableFunc(line.Spots, func(a, b draw.Spot) int { return cmp.Compare(a.X, b.X) })
		c.Series = append(c.Series, line)
	}
	return c
}

// shortName is a setup's name without its model, which the drawing's title has.
func shortName(s *setup.Setup) string {
	return strings.TrimLeft(strings.TrimPrefix(s.Name, setup.Model(s.Run)), "-, ")
}

// brackets are the saturation points: what the highest stable and the lowest saturated stage were offered where there are verdicts, and the
// plateau.
func brackets(setups []*setup.Setup) []draw.TextSpan {
	var all []draw.TextSpan
	for i, s := range setups {
		b := draw.TextSpan{Series: i, Low: math.NaN(), High: math.NaN(), Mark: s.Plateau.Rate.Value(), Open: s.Plateau.Rising}
		if a := saturation.AnswerOf(s.Run); a != nil {
			b.Low, b.High = a.StableUpTo.Value(), a.SaturatedFrom.Value()
		}
		all = append(all, b)
	}
	return all
}

// frontChart draws what a user gets against what a GPU gives, and the front of it.
func frontChart(model string, setups []*setup.Setup, l lang.Lang) draw.TextChart {
	c := draw.TextChart{Title: drawFront.In(l, model), X: drawPerUser.In(l), Y: drawPerGPU.In(l), FrontName: drawFrontLine.In(l)}
	spot := func(p choose.FrontPoint) draw.Spot { return draw.Spot{X: p.PerUser, Y: p.PerGPU, Title: p.Where} }
	for _, s := range setups {
		line := draw.TextSeries{Name: shortName(s)}
		for _, p := range choose.SpeedPoints(s) {
			line.Spots = append(line.Spots, spot(p))
		}
		c.Series = append(c.Series, line)
	}
	for _, p := range choose.FrontSpeed(setups) {
		c.Front = append(c.Front, spot(p))
	}
	return c
}

// costChart draws the cost of a million tokens against the time to the first, each setup as in the other drawings; ok is
// false where fewer than two have a price.
func costChart(c *choose.Choice, setups []setup.Setup, l lang.Lang) (drawn draw.TextChart, ok bool) {
	drawn = draw.TextChart{Title: drawCost.In(l, c.Model), X: drawMillion.In(l), Y: drawTTFT.In(l), FrontName: drawFrontLine.In(l)}
	spots := 0
	for i := range setups {
		s := &setups[i]
		if setup.Model(s.Run) != c.Model {
			continue
		}
		series := draw.TextSeries{Name: shortName(s), Loose: true}
		for j := range c.Ranked {
			if k := &c.Ranked[j]; k.Name == s.Name && k.MillionSLO.Known() && k.TTFT.Known() {
				series.Spots = []draw.Spot{{X: k.MillionSLO.Value(), Y: k.TTFT.Value() * 1e3, Title: k.Where}}
				spots++
			}
		}
		drawn.Series = append(drawn.Series, series)
	}
	for _, name := range c.FrontCost {
		for i := range c.Ranked {
			if k := &c.Ranked[i]; k.Name == name {
				drawn.Front = append(drawn.Front, draw.Spot{X: k.MillionSLO.Value(), Y: k.TTFT.Value() * 1e3})
			}
		}
	}
	return drawn, spots > 1
}
