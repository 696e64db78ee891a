package draw

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// Labels stand at least a line apart, within their bounds, in the order of what they name; one alone stands where it
// wants.
func TestLabelsDoNotOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const top, bottom = 20.0, 220.0
		wants := rapid.SliceOfN(rapid.Float64Range(0, 240), 1, 12).Draw(t, "wants")
		var all []label
		for _, y := range wants {
			all = append(all, label{y: y})
		}
		placed := spreadLabels(all, top, bottom)
		for i, l := range placed {
			if l.at < top-1e-6 || l.at > bottom+1e-6 ||
				i > 0 && (l.at-placed[i-1].at < lineHeight-1e-6 || l.y < placed[i-1].y) {
				t.Fatalf("label %d of %v stands at %v within %v to %v: %+v", i, wants, l.at, top, bottom, placed)
			}
		}
		if len(wants) == 1 && math.Abs(placed[0].at-min(max(wants[0], top), bottom)) > 1e-9 {
			t.Fatalf("a label alone wants %v and stands at %v", wants[0], placed[0].at)
		}
	})
}

// Tags above a drawing that are in one row do not cover each other, and stand within the drawing.
func TestTagsDoNotOverlap(t *testing.T) {
	texts := []string{"p99 1.27 s", "saturation 146 (95 %: 141 to 150)", "measured window", "p50 3 ms"}
	rapid.Check(t, func(t *rapid.T) {
		const left, right = 2.0, 438.0
		var all []tag
		for range rapid.IntRange(1, 7).Draw(t, "n") {
			all = append(all, tag{text: lang.Same(rapid.SampledFrom(texts).Draw(t, "text")),
				x: rapid.Float64Range(2, 438).Draw(t, "x"), flag: rapid.Bool().Draw(t, "flag")})
		}
		placed := stackTags(all, left, right)
		for i, a := range placed {
			if a.left < left-1e-9 || a.left+textWidth(a.text) > right+1e-9 && !a.flag {
				t.Fatalf("%q stands from %v to %v", a.text.EN, a.left, a.left+textWidth(a.text))
			}
			for _, b := range placed[i+1:] {
				crossed := a.flag && b.flag && b.row < a.row && b.left < a.x-1e-9 && a.x < b.left+textWidth(b.text)
				covered := a.row == b.row && a.left < b.left+textWidth(b.text) && b.left < a.left+textWidth(a.text)
				if crossed || covered {
					t.Fatalf("%+v and %+v", a, b)
				}
			}
		}
	})
}

// The numbers beneath a forest plot do not touch, however wide they are.
func TestForestTicksDoNotTouch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		end := func(name string) float64 { return math.Pow(10, rapid.Float64Range(-3, 2).Draw(t, name)) }
		s := scale{low: -end("low"), high: end("high"), from: 185, to: rapid.Float64Range(250, 380).Draw(t, "to")}
		last := math.Inf(-1)
		for _, v := range forestTicks(s) {
			w := textWidth(lang.Same(forestTick(v)))
			if s.at(v)-w/2 <= last {
				t.Fatalf("from %v to %v, %s touches the one before", s.low, s.high, forestTick(v))
			}
			last = s.at(v) + w/2
		}
	})
}

// panel is a figure with one panel.
func panel(p Panel) *Figure {
	p.Height = 200
	return &Figure{Name: "f", Panels: []Panel{p}}
}

// lineOf is a series through points.
func lineOf(name string, points ...Point) Series {
	return Series{Key: name, Name: lang.Same(name), Points: points}
}

// numbers are those that a pattern finds first in a drawing.
func numbers(t *testing.T, svg, pattern string) (v []float64) {
	t.Helper()
	m := regexp.MustCompile(strings.ReplaceAll(pattern, "N", `([\d.]+)`)).FindStringSubmatch(svg)
	if m == nil {
		t.Fatalf("no %s in %s", pattern, svg)
	}
	for _, s := range m[1:] {
		x, _ := strconv.ParseFloat(s, 64)
		v = append(v, x)
	}
	return v
}

// A drawing is well-formed, has both languages or one, and escapes every text. What a point rests on is shown by the
// script of a page, and by a file itself.
func TestDrawingIsWellFormed(t *testing.T) {
	line := Series{Key: "p99", Name: lang.Text{EN: "p99 <b>", ZH: "p99"}, Points: []Point{
		{X: 1, Y: 0.1, Low: 0.05, High: 0.2, Row: 1},
		{X: 2, Y: 1, Low: 0.5, High: 2, Shape: Triangle, Row: 2, Title: "run <2>"},
		{X: 3, Y: 5, Bound: true, Faint: true, Shape: Square, Row: 3},
	}}
	f := panel(Panel{Y: Axis{Label: lang.Same("TTFT"), Format: Seconds, Log: true},
		Series: []Series{line, {Style: Dots, Points: []Point{{X: 1, Y: 0.3}, {X: 2, Y: 0.3, Shape: Cross}}}},
		Rules:  []Rule{{Text: lang.Same("SLO ttft:p99<500ms"), At: 0.5}, {Text: lang.Same("SLO far"), At: 50}}})
	for _, style := range []Style{Steps, Area, Front} {
		f.Panels[0].Series = append(f.Panels[0].Series, Series{Style: style, Points: line.Points})
	}
	f.Title, f.X = lang.Text{EN: "A & B", ZH: "甲"}, Axis{Label: lang.Same("req/s")}
	f.Spans = []Span{{Text: lang.Same("saturation 2"), Class: "sat", Low: 1.5, High: 2.5, Mark: 2}}
	f.Marks = []Mark{{Text: lang.Same("p50"), At: 1.2}}
	both, spots := f.SVG()
	if len(spots) != 2 {
		t.Errorf("%d dots have places, want 2", len(spots))
	}
	var file strings.Builder
	if err := (&File{Figures: []*Figure{f}}).Write(&file, lang.Chinese); err != nil {
		t.Fatal(err)
	}
	for svg, holds := range map[string]map[string]bool{
		both: {`<tspan class="en" lang="en">p99 &lt;b&gt;</tspan><tspan class="zh" lang="zh">p99</tspan>`: true,
			"<title>": false, "NaN": false, "Inf": false},
		file.String(): {"<title>run &lt;2&gt;</title>": true, ">甲</text>": true, "tspan": false,
			"prefers-color-scheme": true, "NaN": false, "Inf": false},
	} {
		for d := xml.NewDecoder(strings.NewReader(svg)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%v in %s", err, svg)
			}
		}
		for part, want := range holds {
			if strings.Contains(svg, part) != want {
				t.Errorf("%q is there: %v, in %.600s", part, !want, svg)
			}
		}
	}
}

// Rows of bars stand on the x axis of the curves above them; a bound has an arrow, and what is absent is not drawn, but
// for its name.
func TestBarsShareTheAxis(t *testing.T) {
	none := math.NaN()
	f := panel(Panel{Series: []Series{{Points: []Point{{X: 4, Y: 1, Row: 9}}}}})
	f.Panels = append(f.Panels, Panel{Bars: []Bar{
		{Name: lang.Same("#1"), At: 4, Low: 2, High: 8}, {Name: lang.Same("#2"), At: 4, Low: none, High: none, Bound: true},
		{Name: lang.Same("#3"), At: none, Low: none, High: none},
	}})
	svg, _ := f.SVG()
	place := regexp.MustCompile(`data-r="9" (data-x="[0-9.]+")`).FindStringSubmatch(svg)
	for part, want := range map[string]int{`data-r="0" ` + place[1]: 2, `class="bar"`: 1, "h10m-4-3": 1, "NaN": 0,
		">#3</text>": 1} {
		if n := strings.Count(svg, part); n != want {
			t.Errorf("%d times %s, want %d, in %s", n, part, want, svg)
		}
	}
}

// Values stand where the axis says: those of a line are read back from its path.
func TestPointPositions(t *testing.T) {
	line := Series{Style: Path, Points: []Point{{X: 0, Y: 0}, {X: 5, Y: 50}, {X: 10, Y: 100}}}
	svg, _ := panel(Panel{Series: []Series{line}}).SVG()
	v := numbers(t, svg, `class="line thin" d="MN NLN NLN N"`)
	if math.Abs(v[2]-(v[0]+v[4])/2) > 0.11 || math.Abs(v[3]-(v[1]+v[5])/2) > 0.11 || v[1] <= v[5] || v[0] != leftMargin {
		t.Errorf("a straight line is drawn through %v", v)
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		s     scale
		about int
		want  []float64
	}{
		{scale{low: 0, high: 106}, 4, []float64{0, 50, 100}},
		{scale{low: 0, high: 0.53}, 5, []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5}},
		{scale{low: 0.008, high: 1.2, log: true}, 6, []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1}},
		{scale{low: 1e-6, high: 1e3, log: true}, 5, []float64{1e-6, 1e-4, 1e-2, 1, 100}},
	} {
		if got := c.s.ticks(c.about); !slices.Equal(got, c.want) {
			t.Errorf("ticks from %v to %v: %v, want %v", c.s.low, c.s.high, got, c.want)
		}
	}
	for v, want := range map[float64]string{0: "0", 0.0005: "500 µs", 0.02: "20 ms", 1.5: "1.5 s", 20: "20 s"} {
		if got := Seconds(v); got != want {
			t.Errorf("%v s is %q, want %q", v, got, want)
		}
	}
}

// The text of a limit stands on the side where no curve crosses it; that of one above the panel stands over it.
func TestLimitLabelsNotCrossed(t *testing.T) {
	for _, c := range []struct{ low, high, limit, fromX, toX, toY float64 }{
		{3, 0, 2.9, 200, 440, 300}, {0, 3, 2.9, 0, 200, 300}, {0.06, 0.07, 3, 400, 440, 17},
	} {
		svg, _ := panel(Panel{Series: []Series{{Style: Path, Points: []Point{{X: 0, Y: c.low}, {X: 10, Y: c.high}}}},
			Rules: []Rule{{Text: lang.Same("SLO ttft:p99<3s"), At: c.limit}}}).SVG()
		if v := numbers(t, svg, `<text class="rule"[^>]* x="N" y="N"`); v[0] < c.fromX || v[0] > c.toX || v[1] > c.toY {
			t.Errorf("the text of %v beside a curve from %v to %v stands at %v", c.limit, c.low, c.high, v)
		}
	}
}

// A name stands beside the end of its line, without a line to it, where nothing is in its way; many that have no room
// are left out.
func TestSeriesLabels(t *testing.T) {
	fig := panel(Panel{Series: []Series{lineOf("short", Point{X: 0, Y: 1}, Point{X: 10, Y: 2}),
		{Key: "apart", Style: MarkersOnly, Points: []Point{{X: 100, Y: 9}}}}})
	svg, _ := fig.SVG()
	if x := numbers(t, svg, `class="end[^>]* x="N"`)[0]; x > 150 || strings.Contains(svg, `class="lead`) {
		t.Errorf("the name stands at %v, or has a dotted line", x)
	}
	fig.Panels[0].Series = nil
	for i := range Colours + 1 {
		fig.Panels[0].Series = append(fig.Panels[0].Series, lineOf(strconv.Itoa(i), Point{X: float64(i), Y: 1},
			Point{X: 10, Y: 1 + float64(i)/100}, Point{X: float64(5 + i%3), Y: 1}))
	}
	svg, _ = fig.SVG()
	if strings.Contains(svg, `class="lead`) || strings.Contains(svg, `class="end`) {
		t.Error("more names than there are colours are drawn without room")
	}
}

// An interval is a bar at its point, never a wedge between points; an end beyond the axis is open, and a bound has
// none. One that is far wider than the values are high is clipped: the values stay in sight.
func TestIntervals(t *testing.T) {
	svg, _ := panel(Panel{Series: []Series{{Points: []Point{{X: 1, Y: 5, Low: 4, High: 6}, {X: 2, Y: 5},
		{X: 3, Y: 5, Low: 4, High: 500}, {X: 4, Y: 5, Low: 4, High: 6, Bound: true}}}}}).SVG()
	bars := regexp.MustCompile(`class="bar" d="([^"]*)"`).FindAllStringSubmatch(svg, -1)
	if len(bars) != 2 || strings.Count(bars[0][1], "h") != 2 || strings.Count(bars[1][1], "h") != 1 {
		t.Errorf("bars %v", bars)
	}
	wide := lineOf("p99", Point{X: 1, Y: 10, Low: 8, High: 120}, Point{X: 2, Y: 12, Low: 11, High: 13})
	p := Panel{Series: []Series{wide}}
	if e := p.extent(); e.high != 18 || e.low != 8 {
		t.Errorf("the axis holds %v to %v", e.low, e.high)
	}
}

// One colour has one meaning; the range of an answer has that of none.
func TestColours(t *testing.T) {
	seen := map[string]string{}
	for _, m := range regexp.MustCompile(`--(c\d|sat|slo|ink):(#\w+)`).FindAllStringSubmatch(LightColours, -1) {
		if seen[m[2]] != "" {
			t.Errorf("%s and %s are both %s", seen[m[2]], m[1], m[2])
		}
		seen[m[2]] = m[1]
	}
}

// A sweep by users is drawn against their number, with two rows of one number joined. The number at the foot of a
// terminal's drawing is that of the answer.
func TestChartOfUsers(t *testing.T) {
	run := &rundir.Run{Answer: &rundir.Answer{Carried: &rundir.UserCapacity{Users: rundir.Exactly(2)}}}
	for _, row := range []struct {
		users        int
		done, output float64
	}{{1, 5, 10}, {2, 4, 30}, {2, 9, 50}} {
		s := rundir.Stage{Kind: rundir.KindOfUsers, Role: rundir.Grid, MaxConcurrency: row.users}
		s.Rates.Completed, s.TokensPerS.Output = rundir.Exactly(row.done), rundir.Exactly(row.output)
		run.Stages = append(run.Stages, s)
	}
	f := OutputByRate(run)
	points := f.Panels[0].Series[0].Points
	if len(points) != 2 || points[0].X != 1 || points[0].Y != 10 || points[1].X != 2 || points[1].Y != 40 ||
		len(f.Spans) != 1 || f.Spans[0].Mark != 2 {
		t.Errorf("points %+v, marks %+v", points, f.Spans)
	}
	ruler := func(f *Figure) []string {
		lines := f.Terminal(lang.English, 20, false)
		return strings.Fields(lines[len(lines)-1])
	}
	if got := ruler(f); !slices.Equal(got, []string{"0", "2"}) {
		t.Errorf("numbers of users %q", got)
	}
	rates := panel(Panel{Y: Axis{Format: Number}, Series: []Series{{Points: []Point{{X: 1, Y: 1}, {X: 9, Y: 2}}}}})
	rates.Spans = []Span{{Mark: 8.5266, Text: lang.Same("8.53")}}
	if got := ruler(rates); !slices.Contains(got, "8.53") {
		t.Errorf("%q", got)
	}
}
