package draw

import (
	"fmt"
	"io"
	"strings"

	"llmsweep/report/lang"
)

// File is an SVG file of figures beside each other, which loads no script, font or address.
type File struct {
	Title   lang.Text // over all; empty where the titles of the figures say enough
	Figures []*Figure
	Legend  []Entry // beneath
}

// Entry is a line of a legend.
type Entry struct {
	Sign string // a piece of SVG, 26 by 10 pixels
	Text lang.Text
}

// The measures of a file, in pixels of the drawing.
const (
	fileTitle  = 24 // of a row of titles
	fileLegend = 18 // of a row of the legend
	fileScale  = 1.5
)

// Name returns what the file shows, in words.
func (f *File) Name(l lang.Lang) string {
	var all []string
	for _, fig := range f.Figures {
		words := fig.Caption
		if words.IsZero() {
			words = fig.Title
		}
		all = append(all, words.In(l))
	}
	name := strings.Join(all, " ")
	if f.Title.IsZero() {
		return name
	}
	return f.Title.In(l) + lang.Colon.In(l) + name
}

// Write writes the file in one language.
func (f *File) Write(w io.Writer, l lang.Lang) error {
	if l == "" {
		l = lang.English
	}
	var b strings.Builder
	top := fileTitle
	if !f.Title.IsZero() {
		top = 2 * fileTitle
		fmt.Fprintf(&b, `<text class="title" x="%d" y="%d">%s</text>`, leftMargin, -fileTitle-6, Escape(f.Title.In(l)))
	}
	width, height := float64(figureWidth*len(f.Figures)), 0.0
	for i, fig := range f.Figures {
		c := canvas{Figure: fig, l: l, standalone: true}
		c.draw()
		svg := c.b.String()
		fmt.Fprintf(&b, `<g transform="translate(%d 0)"><text class="title" x="%d" y="-6">%s</text>%s</g>`, figureWidth*i,
			leftMargin, Escape(fig.Title.In(l)), strings.TrimSuffix(svg[strings.Index(svg, ">")+1:], "</svg>"))
		height = max(height, c.bottom)
	}
	height += f.legend(&b, l, width, height)
	const file = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 %d %s %s" width="%s" height="%s" role="img">` +
		`<title>%s</title><style>%s</style><rect class="ground" x="0" y="%d" width="100%%" height="100%%"/>%s</svg>` + "\n"
	_, err := fmt.Fprintf(w, file, -top, px(width), px(height+float64(top)), px(fileScale*width),
		px(fileScale*(height+float64(top))), Escape(f.Name(l)), fileStyle(), -top, b.String())
	return err
}

// legend returns the height that it takes.
func (f *File) legend(b *strings.Builder, l lang.Lang, width, top float64) float64 {
	const sign, gap, left = 32, 16, leftMargin / 2 // room for a sign; distance of entries
	if len(f.Legend) == 0 {
		return 0
	}
	x, y := float64(left), 0.0
	for _, e := range f.Legend {
		w := sign + stringWidth(e.Text.In(l))
		if x > left && x+w > width {
			x, y = left, y+fileLegend
		}
		fmt.Fprintf(b, `<g transform="translate(%s %s)">%s<text x="%d" y="9">%s</text></g>`, px(x), px(top+y), e.Sign,
			sign, Escape(e.Text.In(l)))
		x += w + gap
	}
	return y + 1.5*fileLegend
}

// LineSign returns a piece of the line of the series at a place, for a legend. After the last colour, lines are dashed.
func LineSign(place int) string {
	dash := ""
	if place >= Colours {
		dash = " dash"
	}
	return fmt.Sprintf(`<g class="sr c%d"><path class="line%s" d="M0 5H26"/></g>`, place%Colours, dash)
}

// FrontSign returns a piece of a front, for a legend.
func FrontSign() string { return `<path class="front" d="M4 5H22"/>` }

// FaintSign returns a marker that too few requests support, for a legend.
func FaintSign() string {
	return `<g class="sr ck"><path class="pt faint" d="` + Circle.path(13, 5) + `"/></g>`
}

// Sign returns a marker alone, for a legend.
func (s Shape) Sign() string { return s.sign(13, 5) }

func (s Shape) sign(x, y float64) string {
	return fmt.Sprintf(`<g class="sr ck"><path class="pt%s" d="%s"/></g>`, s.openClass(), s.path(x, y))
}

// LineKey returns [LineSign] for HTML.
func LineKey(place int) string {
	return `<svg class="linekey" viewBox="0 0 26 10" aria-hidden="true">` + LineSign(place) + `</svg>`
}

// Key returns the marker for HTML.
func (s Shape) Key() string {
	return `<svg class="key" viewBox="0 0 14 14" aria-hidden="true">` + s.sign(7, 7) + `</svg>`
}
