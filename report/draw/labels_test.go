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
			if l.at < top-1e-6 || l.at > bottom+1e-6 {
				t.Fatalf("label %d of %v stands at %v, beyond %v to %v", i, wants, l.at, top, bottom)
			}
			if i > 0 && (l.at-placed[i-1].at < lineHeight-1e-6 || l.y < placed[i-1].y) {
				t.Fatalf("labels of %v stand at %v and %v", wants, placed[i-1].at, l.at)
			}
		}
		if len(wants) == 1 && math.Abs(placed[0].at-min(max(wants[0], top), bottom)) > 1e-9 {
			t.Fatalf("a label alone wants %v and stands at %v", wants[0], placed[0].at)
		}
	})
}

// Tags above a drawing that are in one row do not cover each other, and stand within the drawing.
func TestTagsDoNotOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const left, right = 2.0, 438.0
		var all []tag
		for range rapid.IntRange(1, 7).Draw(t, "n") {
			text := rapid.SampledFrom([]string{"p99 1.27 s", "saturation 146 (95 %: 141 to 150)", "measured window",
				"p50 3 ms"}).
				Draw(t, "text")
			all = append(all, tag{
				text: lang.Same(text),
				x:    rapid.Float64Range(2, 438).Draw(t, "x"),
				flag: rapid.Bool().Draw(t, "flag"),
			})
		}
		placed := stackTags(all, left, right)
		for i, a := range placed {
			if a.left < left-1e-9 || a.left+textWidth(a.text) > right+1e-9 && !a.flag {
				t.Fatalf("%q stands from %v to %v", a.text.EN, a.left, a.left+textWidth(a.text))
			}
			for _, b := range placed[i+1:] {
				if a.flag && b.flag && b.row < a.row && b.left < a.x-1e-9 && a.x < b.left+textWidth(b.text) {
					t.Fatalf("the line of %q at %v crosses %q at %v", a.text.EN, a.x, b.text.EN, b.left)
				}
				if a.row == b.row && a.left < b.left+textWidth(b.text) && b.left < a.left+textWidth(a.text) {
					t.Fatalf("%q at %v and %q at %v are in one row", a.text.EN, a.left, b.text.EN, b.left)
				}
			}
		}
	})
}

// sample is a figure with all there is.
func sample() *Figure {
	line := Series{
		Key:  "p99",
		Name: lang.Text{EN: "p99 <b>", ZH: "p99"},
		Points: []Point{
			{X: 1, Y: 0.1, Low: 0.05, High: 0.2, Row: 1},
			{X: 2, Y: 1, Low: 0.5, High: 2, Shape: Triangle, Row: 2, Title: "run <2>"},
			{X: 3, Y: 5, Bound: true, Faint: true, Shape: Square, Row: 3},
		},
	}
	return &Figure{
		Name:  "f",
		Title: lang.Text{EN: "A & B", ZH: "甲"},
		X:     Axis{Label: lang.Same("req/s")},
		Spans: []Span{
			{Text: lang.Same("saturation 2"), Class: "sat", Low: 1.5, High: 2.5, Mark: 2},
		},
		Marks: []Mark{{Text: lang.Same("p50"), At: 1.2}},
		Panels: []Panel{
			{
				Y:      Axis{Label: lang.Same("TTFT"), Format: Seconds, Log: true},
				Height: 200,
				Series: []Series{
					line,
					{Style: Dots, Points: []Point{{X: 1, Y: 0.3}, {X: 2, Y: 0.3, Shape: Cross}}},
					{Style: Steps, Points: line.Points},
					{Style: Area, Points: line.Points},
					{Style: Front, Points: line.Points},
				},
				Rules: []Rule{{Text: lang.Same("SLO ttft:p99<500ms"), At: 0.5}, {Text: lang.Same("SLO far"), At: 50}},
			},
		},
	}
}

// A drawing is well-formed, has both languages or one, and escapes every text.
func TestDrawingIsWellFormed(t *testing.T) {
	both, spots := sample().SVG("")
	if len(spots) != 2 {
		t.Errorf("%d dots have places, want 2", len(spots))
	}
	var alone strings.Builder
	if err := (&File{Figures: []*Figure{sample()}}).Write(&alone, lang.Chinese); err != nil {
		t.Fatal(err)
	}
	for what, svg := range map[string]string{"page": both, "file": alone.String()} {
		for d := xml.NewDecoder(strings.NewReader(svg)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v in %s", what, err, svg)
			}
		}
		if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
			t.Errorf("%s: a place is not a number: %s", what, svg)
		}
	}
	if !strings.Contains(both,
		`<tspan class="en" lang="en">p99 &lt;b&gt;</tspan><tspan class="zh" lang="zh">p99</tspan>`) {
		t.Error("a label is not in both languages, escaped")
	}
	if file := alone.String(); !strings.Contains(file, "<title>run &lt;2&gt;</title>") ||
		strings.Contains(both, "<title>") {
		t.Error("what a point rests on is shown by the script of a page, and by a file itself")
	}
	if file := alone.String(); !strings.Contains(file, ">甲</text>") || strings.Contains(file, "tspan") ||
		!strings.Contains(file, "prefers-color-scheme") {
		t.Errorf("the file is not in Chinese alone, light and dark: %.600s", file)
	}
}

// TestBarsShareTheAxis: rows of bars stand on the x axis of the curves above them; a bound has an arrow, and what is
// absent is not drawn.
func TestBarsShareTheAxis(t *testing.T) {
	none := math.NaN()
	bars := []Bar{
		{Name: lang.Same("#1"), At: 4, Low: 2, High: 8},
		{Name: lang.Same("#2"), At: 4, Low: none, High: none, Bound: true},
		{Name: lang.Same("#3"), At: none, Low: none, High: none},
	}
	f := &Figure{
		Panels: []Panel{{Height: 100, Series: []Series{{Points: []Point{{X: 4, Y: 1, Row: 9}}}}}, {Bars: bars}},
	}
	svg, _ := f.SVG(lang.English)
	x := regexp.MustCompile(`data-r="9" data-x="([0-9.]+)"`).FindStringSubmatch(svg)
	if x == nil || strings.Count(svg, `data-r="0" data-x="`+x[1]+`"`) != 2 {
		t.Errorf("not both values stand beneath the point with the same x: %s", svg)
	}
	intervals, arrows := strings.Count(svg, `class="bar"`), strings.Count(svg, "h10m-4-3")
	if intervals != 1 || arrows != 1 ||
		strings.Contains(svg, "NaN") {
		t.Errorf("%d intervals and %d arrows, want one each: %s", intervals, arrows, svg)
	}
	if !(strings.Contains(svg, ">#3</text>")) {
		t.Error("a row without a value has no name")
	}
}

// Values stand where the axis says: those of a line are read back from its path.
func TestPointPositions(t *testing.T) {
	f := &Figure{
		Name: "f",
		Panels: []Panel{
			{
				Height: 200,
				Y:      Axis{},
				Series: []Series{{Style: Path, Points: []Point{{X: 0, Y: 0}, {X: 5, Y: 50}, {X: 10, Y: 100}}}},
			},
		},
	}
	svg, _ := f.SVG("")
	m := regexp.MustCompile(`class="line thin" d="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)"`).
		FindStringSubmatch(svg)
	if m == nil {
		t.Fatal(svg)
	}
	var v []float64
	for _, s := range m[1:] {
		x, _ := strconv.ParseFloat(s, 64)
		v = append(v, x)
	}
	if math.Abs(v[2]-(v[0]+v[4])/2) > 0.11 || math.Abs(v[3]-(v[1]+v[5])/2) > 0.11 || v[1] <= v[5] ||
		v[0] != leftMargin {
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

// The numbers beneath a forest plot do not touch, however wide they are.
func TestForestTicksDoNotTouch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := scale{
			low:  -math.Pow(10, rapid.Float64Range(-3, 2).Draw(t, "low")),
			high: math.Pow(10, rapid.Float64Range(-3, 2).Draw(t, "high")),
			from: 185,
			to:   rapid.Float64Range(250, 380).Draw(t, "to"),
		}
		end := math.Inf(-1)
		for _, v := range forestTicks(s) {
			w := textWidth(lang.Same(forestTick(v)))
			if s.at(v)-w/2 <= end {
				t.Fatalf("from %v to %v, %s touches the one before", s.low, s.high, forestTick(v))
			}
			end = s.at(v) + w/2
		}
	})
}

// The text of a limit stands on the side where no curve crosses it; that of one above the panel stands over it.
func TestLimitLabelsNotCrossed(t *testing.T) {
	text := func(low, high, limit float64) (x, y float64) {
		f := &Figure{
			Name: "f",
			Panels: []Panel{
				{
					Height: 200,
					Series: []Series{{Style: Path, Points: []Point{{X: 0, Y: low}, {X: 10, Y: high}}}},
					Rules:  []Rule{{Text: lang.Same("SLO ttft:p99<3s"), At: limit}},
				},
			},
		}
		svg, _ := f.SVG(lang.English)
		m := regexp.MustCompile(`<text class="rule"[^>]* x="([0-9.]+)" y="([0-9.]+)"`).FindStringSubmatch(svg)
		if m == nil {
			t.Fatalf("no text of the limit in %s", svg)
		}
		x, _ = strconv.ParseFloat(m[1], 64)
		y, _ = strconv.ParseFloat(m[2], 64)
		return x, y
	}
	if x, _ := text(3, 0, 2.9); x < 200 {
		t.Errorf("the curve begins at the limit, and its text stands at %v", x)
	}
	if x, _ := text(0, 3, 2.9); x > 200 {
		t.Errorf("the curve ends at the limit, and its text stands at %v", x)
	}
	if x, y := text(0.06, 0.07, 3); x < 400 || y > 17 {
		t.Errorf("the text of a limit far above stands at %v, %v", x, y)
	}
}

// lineOf is a series through points.
func lineOf(name string, points ...Point) Series {
	return Series{Key: name, Name: lang.Same(name), Points: points}
}

// A name stands beside the end of its line, without a line to it, where nothing is in its way; many that have no room
// are left out.
func TestSeriesLabels(t *testing.T) {
	fig := Figure{Name: "f", Panels: []Panel{{Height: 200, Series: []Series{
		lineOf("short", Point{X: 0, Y: 1}, Point{X: 10, Y: 2}),
		{Key: "apart", Style: MarkersOnly, Points: []Point{{X: 100, Y: 9}}},
	}}}}
	svg, _ := fig.SVG("")
	if strings.Contains(svg, `class="lead`) {
		t.Error("a dotted line goes to the name")
	}
	end := regexp.MustCompile(`class="end[^>]* x="([0-9.]+)"`).FindStringSubmatch(svg)
	if end == nil {
		t.Fatal("no name")
	}
	if x, _ := strconv.ParseFloat(end[1], 64); x > 150 {
		t.Errorf("the name stands at %v", x)
	}
	fig.Panels[0].Series = nil
	for i := range Colours + 1 {
		fig.Panels[0].Series = append(
			fig.Panels[0].Series,
			lineOf(strconv.Itoa(i), Point{X: float64(i), Y: 1}, Point{X: 10, Y: 1 + float64(i)/100},
				Point{X: float64(5 + i%3), Y: 1}),
		)
	}
	svg, _ = fig.SVG("")
	if strings.Contains(svg, `class="lead`) || strings.Contains(svg, `class="end`) {
		t.Error("more names than there are colours are drawn without room")
	}
}

// An interval that is far wider than the values are high is clipped: the values stay in sight.
func TestWideIntervalsAreClipped(t *testing.T) {
	p := Panel{
		Series: []Series{lineOf("p99", Point{X: 1, Y: 10, Low: 8, High: 120}, Point{X: 2, Y: 12, Low: 11, High: 13})},
	}
	if e := p.extent(); e.high != 18 || e.low != 8 {
		t.Errorf("the axis holds %v to %v", e.low, e.high)
	}
}

// An interval is a bar at its point, never a wedge between points; an end beyond the axis is open, and a bound has
// none.
func TestIntervals(t *testing.T) {
	f := &Figure{Panels: []Panel{{Height: 100, Series: []Series{{Points: []Point{
		{
			X:    1,
			Y:    5,
			Low:  4,
			High: 6,
		},
		{X: 2, Y: 5},
		{X: 3, Y: 5, Low: 4, High: 500},
		{X: 4, Y: 5, Low: 4, High: 6, Bound: true},
	}}}}}}
	svg, _ := f.SVG(lang.English)
	bars := regexp.MustCompile(`class="bar" d="([^"]*)"`).FindAllStringSubmatch(svg, -1)
	if len(bars) != 2 || strings.Count(bars[0][1], "h") != 2 || strings.Count(bars[1][1], "h") != 1 {
		t.Errorf("bars %v", bars)
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

// The number at the foot of a terminal's drawing is that of the answer.
func TestMarkOfTheTerminal(t *testing.T) {
	f := &Figure{
		Panels: []Panel{{Y: Axis{Format: Number}, Series: []Series{{Points: []Point{{X: 1, Y: 1}, {X: 9, Y: 2}}}}}},
	}
	f.Spans = []Span{{Mark: 8.5266, Text: lang.Same("8.53")}}
	lines := f.Terminal(lang.English, 20, 0, false)
	if !strings.Contains(lines[len(lines)-1], "8.53") {
		t.Errorf("%q", lines[len(lines)-1])
	}
}
