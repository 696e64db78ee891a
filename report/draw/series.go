package draw

import (
	"fmt"
	"math"
	"strings"
)

func (c *canvas) series(s *Series) {
	if len(s.Points) == 0 {
		return
	}
	fmt.Fprintf(&c.b, `<g class="sr %s" data-k="%s">`, colourClass(s.Colour), Escape(s.Key))
	dash := ""
	if s.Dashed {
		dash = " dash"
	}
	switch s.Style {
	case Line:
		c.intervals(s.Points)
		fmt.Fprintf(&c.b, `<path class="line%s" d="%s"/>`, dash, c.polyline(s.Points))
		c.markers(s)
	case MarkersOnly:
		c.intervals(s.Points)
		c.markers(s)
	case Path:
		fmt.Fprintf(&c.b, `<path class="line thin%s" d="%s"/>`, dash, c.polyline(s.Points))
	case Area:
		first, line := s.Points[0], c.polyline(s.Points)
		fmt.Fprintf(&c.b, `<path class="area" d="%sV%sH%sz"/>`, line, px(c.bottom), px(c.x.clamp(first.X)))
	case Steps:
		c.steps(s.Points)
	case Dots:
		c.dots(s.Points)
	case Front:
		fmt.Fprintf(&c.b, `<path class="front" d="%s"/>`, c.polyline(s.Points))
	}
	c.b.WriteString("</g>")
}

// polyline breaks the path at values that are absent.
func (c *canvas) polyline(points []Point) string {
	var b strings.Builder
	pen := byte('M')
	for _, p := range points {
		if math.IsNaN(p.Y) {
			pen = 'M'
			continue
		}
		b.WriteByte(pen)
		b.WriteString(px(c.x.clamp(p.X)) + " " + px(c.y.clamp(p.Y)))
		pen = 'L'
	}
	return b.String()
}

func (c *canvas) steps(points []Point) {
	var b strings.Builder
	for i, p := range points {
		if i == 0 {
			fmt.Fprintf(&b, "M%s %s", px(c.x.clamp(p.X)), px(c.bottom))
		}
		fmt.Fprintf(&b, "V%s", px(c.y.clamp(p.Y)))
		if i+1 < len(points) {
			fmt.Fprintf(&b, "H%s", px(c.x.clamp(points[i+1].X)))
		}
	}
	fmt.Fprintf(&c.b, `<path class="area bars" d="%sV%sz"/>`, b.String(), px(c.bottom))
}

// dots draws all points in two paths: they are too many for an element each.
func (c *canvas) dots(points []Point) {
	var dots, open strings.Builder
	for _, p := range points {
		x, y := c.x.clamp(p.X), c.y.clamp(p.Y)
		c.spots = append(c.spots, [2]float64{roundTo(x, 4), roundTo(y, 4)})
		switch {
		case p.Shape == Cross:
			fmt.Fprintf(&open, "M%s %sl4 4m0-4l-4 4", px(x-2), px(y-2))
		case p.Bound:
			fmt.Fprintf(&open, "M%s %sl2-3l2 3m-2-3v6", px(x-2), px(y))
		default:
			fmt.Fprintf(&dots, "M%s %sh0", px(x), px(y))
		}
	}
	if dots.Len() > 0 {
		fmt.Fprintf(&c.b, `<path class="dots" d="%s"/>`, dots.String())
	}
	if open.Len() > 0 {
		fmt.Fprintf(&c.b, `<path class="crosses" d="%s"/>`, open.String())
	}
}

// intervals leaves an end beyond the axis open.
func (c *canvas) intervals(points []Point) {
	const half = 3 // of the line at an end
	for _, p := range points {
		if !(p.High > p.Low) || p.Bound {
			continue
		}
		x, low, high := c.x.clamp(p.X), c.y.clamp(p.Low), c.y.clamp(p.High)
		d := fmt.Sprintf("M%s %sV%s", px(x), px(high), px(low))
		if p.High <= c.y.high {
			d += fmt.Sprintf("M%s %sh%d", px(x-half), px(high), 2*half)
		}
		if p.Low >= c.y.low {
			d += fmt.Sprintf("M%s %sh%d", px(x-half), px(low), 2*half)
		}
		fmt.Fprintf(&c.b, `<path class="bar" d="%s"/>`, d)
	}
}

func (c *canvas) markers(s *Series) {
	for _, p := range s.Points {
		if math.IsNaN(p.Y) {
			continue
		}
		x, y := c.x.clamp(p.X), c.y.clamp(p.Y)
		class := "pt"
		if s.Colour >= Colours {
			class += " again"
		}
		if p.Faint {
			class += " faint"
		}
		row := ""
		if p.Row > 0 {
			row = fmt.Sprintf(` data-r="%d" data-x="%s" data-y="%s"`, p.Row, px(x), px(y))
		}
		d := p.Shape.path(x, y)
		if p.Bound { // an arrow: the value is somewhere above
			d += fmt.Sprintf("M%s %sV%sm-3 4l3-4l3 4", px(x), px(y-5), px(y-15))
		}
		fmt.Fprintf(&c.b, `<path class="%s%s"%s d="%s"`, class, p.Shape.openClass(), row, d)
		if c.standalone && p.Title != "" {
			fmt.Fprintf(&c.b, `><title>%s</title></path>`, Escape(p.Title))
			continue
		}
		c.b.WriteString("/>")
	}
}

func (s Shape) openClass() string {
	if s == Ring || s == Square || s == Cross {
		return " open"
	}
	return ""
}

func (s Shape) path(x, y float64) string {
	switch s {
	case Triangle:
		return fmt.Sprintf("M%s %sl5 8.6h-10z", px(x), px(y-5.4))
	case Diamond:
		return fmt.Sprintf("M%s %sl4.8 4.8l-4.8 4.8l-4.8-4.8z", px(x), px(y-4.8))
	case Square:
		return fmt.Sprintf("M%s %sh7v7h-7z", px(x-3.5), px(y-3.5))
	case Cross:
		return fmt.Sprintf("M%s %sl7 7m0-7l-7 7", px(x-3.5), px(y-3.5))
	}
	return fmt.Sprintf("M%s %sa3.7 3.7 0 1 0 7.4 0a3.7 3.7 0 1 0-7.4 0z", px(x-3.7), px(y))
}
