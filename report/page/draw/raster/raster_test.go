package raster

import (
	"bytes"
	"html"
	"image"
	"image/color"
	"image/png"
	"math"
	"strings"
	"testing"

	"golang.org/x/image/font/sfnt"

	"llmsweep/report/lang"
	pages "llmsweep/report/page"
	"llmsweep/report/page/draw"
	"llmsweep/sweep/rundir/store"
)

// figure is a drawing with one of everything.
func figure() *draw.Figure {
	points := []draw.Point{{X: 1, Y: 10, Low: 8, High: 12}, {X: 2, Y: 20, Low: 15, High: 26}, {X: 4, Y: 35, Shape: draw.Triangle}, {X: 5, Y: 36, Bound: true, Faint: true}}
	both := func(en, zh string) lang.Text { return lang.Text{EN: en, ZH: zh} }
	return &draw.Figure{
		Name: "f", Title: both("Output of the server", "服务的输出"), X: draw.Axis{Label: both("arrival rate", "到达率"), Format: draw.Number},
		Panels: []draw.Panel{
			{Y: draw.Axis{Label: both("output", "输出"), Format: draw.Number}, Height: 150, Rules: []draw.Rule{{Key: "a", Text: both("limit", "饱和"), At: 30}}, Series: []draw.Series{
				{Key: "a", Name: both("finished", "完成"), Points: points}, {Key: "b", Name: both("waiting", "排队"), Colour: 1, Dashed: true, Style: draw.Path, Points: points[:3]},
			}},
			{Y: draw.Axis{Label: lang.Same("TTFT"), Format: draw.Seconds}, Height: 80, Series: []draw.Series{
				{Key: "c", Style: draw.Dots, Points: points}, {Key: "d", Style: draw.Front, Points: points}, {Key: "e", Colour: 2, Style: draw.Steps, Points: points},
				{Key: "g", Colour: 3, Style: draw.Area, Points: points}, {Key: "h", Style: draw.Loose, Points: []draw.Point{{X: 3, Y: 9, Shape: draw.Diamond}, {X: 3, Y: 20, Shape: draw.Ring}, {X: 2, Y: 30, Shape: draw.Square}, {X: 2, Y: 5, Shape: draw.Cross}}},
			}},
		},
		Spans: []draw.Span{{Text: both("window", "测量窗口"), Class: "window", Low: 1.5, High: 4, Mark: math.NaN()}, {Text: both("saturation 3", "饱和 3"), Class: "sat", Low: 2.8, High: 3.4, Mark: 3}},
		Marks: []draw.Mark{{Text: both("p99", "p99"), At: 4.5}},
	}
}

func drawn(t *testing.T, l lang.Lang) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := draw.Alone(&b, figure(), l); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func rendered(t *testing.T, svg []byte, width int) (image.Image, []byte) {
	t.Helper()
	var b bytes.Buffer
	if err := PNG(&b, svg, width); err != nil {
		t.Fatal(err)
	}
	m, err := png.Decode(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return m, b.Bytes()
}

// share returns the share of the pixels of a rectangle of the SVG that are nearly of a colour.
func share(m image.Image, x, y, w, h float64, want color.NRGBA) float64 {
	scale := float64(m.Bounds().Dx()) / 440
	r := image.Rect(int(x*scale), int((y+24)*scale), int((x+w)*scale), int((y+h+24)*scale))
	n, all := 0, 0
	near := func(a, b uint8) bool { return max(a, b)-min(a, b) < 40 }
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			c := color.NRGBAModel.Convert(m.At(x, y)).(color.NRGBA)
			all++
			if near(c.R, want.R) && near(c.G, want.G) && near(c.B, want.B) {
				n++
			}
		}
	}
	return float64(n) / float64(all)
}

// TestPNG: a picture has the size that was asked for, is the same each time, and shows its texts, lines and shades in their colours.
func TestPNG(t *testing.T) {
	ink, blue := color.NRGBA{R: 0x1c, G: 0x24, B: 0x30, A: 255}, color.NRGBA{R: 0x00, G: 0x60, B: 0xa8, A: 255}
	white := color.NRGBA{R: 255, G: 255, B: 255, A: 255}
	for _, l := range []lang.Lang{lang.English, lang.Chinese} {
		svg := drawn(t, l)
		m, first := rendered(t, svg, 0)
		if m.Bounds().Dx() != 1320 {
			t.Errorf("%s: %v", l, m.Bounds())
		}
		if narrow, _ := rendered(t, svg, 600); narrow.Bounds().Dx() != 600 || math.Abs(float64(narrow.Bounds().Dy())/600-float64(m.Bounds().Dy())/1320) > 0.002 {
			t.Errorf("%s: --width 600 gives %v, without %v", l, narrow.Bounds(), m.Bounds())
		}
		if _, again := rendered(t, svg, 0); !bytes.Equal(first, again) {
			t.Errorf("%s: two pictures of one drawing differ", l)
		}
		for _, c := range []struct {
			what       string
			x, y, w, h float64
			colour     color.NRGBA
			low, high  float64
		}{
			{"title", 60, -18, 70, 14, ink, 0.08, 0.6},
			{"label of y", 4, 38, 24, 10, ink, 0.04, 0.5},
			{"right of the title", 300, -18, 100, 14, white, 1, 1},
			{"right of the first series", 382, 51, 40, 14, blue, 0.05, 0.6},
		} {
			if got := share(m, c.x, c.y, c.w, c.h, c.colour); got < c.low || got > c.high {
				t.Errorf("%s: %s: a share of %.3f has the colour %v, want %v to %v", l, c.what, got, c.colour, c.low, c.high)
			}
		}
	}
	en, _ := rendered(t, drawn(t, lang.English), 0)
	zh, _ := rendered(t, drawn(t, lang.Chinese), 0)
	if a, b := share(en, 60, -18, 150, 14, ink), share(zh, 60, -18, 150, 14, ink); math.Abs(a-b) < 0.005 {
		t.Errorf("the title looks alike in both languages: %v and %v of its place is ink", a, b)
	}
}

// TestUnknownIsAnError: what the painter does not know is not left out of the picture.
func TestUnknownIsAnError(t *testing.T) {
	svg := string(drawn(t, lang.English))
	for old, other := range map[string]string{
		`class="axis" d="M`: `class="axis" d="Q1 2 3 4M`, `<path class="grid"`: `<circle class="grid"`, "svg .tick{": "svg > .tick{", `--ink:#1c2430`: `--ink:navy`,
		`text-anchor="end"`: `text-anchor="inherit"`, "<svg ": "<html ", "a3.7 3.7 0 1 0 7.4 0": "a9 9 0 1 0 7.4 0",
	} {
		bad := strings.Replace(svg, old, other, 1)
		if bad == svg {
			t.Errorf("the drawing has no %q", old)
		}
		if err := PNG(&bytes.Buffer{}, []byte(bad), LeastWidth); err == nil {
			t.Errorf("%q is painted", other)
		}
	}
	for _, width := range []int{-1, LeastWidth - 1, MostWidth + 1} {
		if err := PNG(&bytes.Buffer{}, []byte(svg), width); err == nil {
			t.Errorf("a width of %d is taken", width)
		}
	}
}

// TestFont: the fonts have every character of the drawings of a run, in both languages. Where this fails, run font/subset.sh.
func TestFont(t *testing.T) {
	const most = 300_000 // bytes: they are part of the program
	if n := len(regular) + len(bold); n > most {
		t.Errorf("the fonts take %d bytes, more than %d", n, most)
	}
	const dir = "../../../../examples/real/vllm-cpu"
	run, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var words strings.Builder
	for _, name := range pages.Drawings(run, dir) {
		for _, l := range []lang.Lang{lang.English, lang.Chinese} {
			if err := pages.Drawing(&words, name, run, dir, l); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !strings.Contains(words.String(), "饱和") {
		t.Error("no Chinese in the drawings")
	}
	for name, data := range map[string][]byte{"regular.otf": regular, "bold.otf": bold} {
		font, err := sfnt.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		var buffer sfnt.Buffer
		missing := map[rune]bool{}
		for _, r := range html.UnescapeString(words.String()) {
			if i, err := font.GlyphIndex(&buffer, r); r > ' ' && (err != nil || i == 0) {
				missing[r] = true
			}
		}
		for r := range missing {
			t.Errorf("%s lacks %q", name, r)
		}
	}
}
