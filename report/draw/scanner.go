package draw

import (
	"image"
	"image/color"
	"math"

	"github.com/srwiley/rasterx"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// scanner is a [rasterx.Scanner] that paints only the rectangle around a path. Most paths are markers of a few pixels: with the scanner of
// package rasterx, which goes over the whole picture for each, a picture takes ten times as long.
type scanner struct {
	picture *image.RGBA
	colour  color.Color
	starts  []bool // of a point: it begins a line
	points  []fixed.Point26_6
}

var _ rasterx.Scanner = (*scanner)(nil)

// Start begins a line.
func (s *scanner) Start(a fixed.Point26_6) { s.add(a, true) }

// Line goes on to a point.
func (s *scanner) Line(b fixed.Point26_6) { s.add(b, false) }

func (s *scanner) add(p fixed.Point26_6, start bool) {
	s.points, s.starts = append(s.points, p), append(s.starts, start)
}

// Draw paints what the lines go around.
func (s *scanner) Draw() {
	extent := s.GetPathExtent()
	r := image.Rect(extent.Min.X.Floor(), extent.Min.Y.Floor(), extent.Max.X.Ceil(), extent.Max.Y.Ceil()).Intersect(s.picture.Bounds())
	if r.Empty() {
		return
	}
	v := vector.NewRasterizer(r.Dx(), r.Dy())
	for i, p := range s.points {
		x, y := float32(p.X)/64-float32(r.Min.X), float32(p.Y)/64-float32(r.Min.Y)
		if s.starts[i] {
			v.MoveTo(x, y)
		} else {
			v.LineTo(x, y)
		}
	}
	v.Draw(s.picture, r, image.NewUniform(s.colour), image.Point{})
}

// GetPathExtent returns the rectangle around the lines.
func (s *scanner) GetPathExtent() fixed.Rectangle26_6 {
	e := fixed.Rectangle26_6{Min: fixed.Point26_6{X: math.MaxInt32, Y: math.MaxInt32}, Max: fixed.Point26_6{X: math.MinInt32, Y: math.MinInt32}}
	for _, p := range s.points {
		e.Min.X, e.Min.Y = min(e.Min.X, p.X), min(e.Min.Y, p.Y)
		e.Max.X, e.Max.Y = max(e.Max.X, p.X), max(e.Max.Y, p.Y)
	}
	if len(s.points) == 0 {
		return fixed.Rectangle26_6{}
	}
	return e
}

// SetColor sets the colour of what is painted next.
func (s *scanner) SetColor(c any) {
	if c, ok := c.(color.Color); ok {
		s.colour = c
	}
}

// Clear forgets the lines.
func (s *scanner) Clear() { s.points, s.starts = s.points[:0], s.starts[:0] }

// SetBounds does nothing: the picture has its size.
func (s *scanner) SetBounds(_, _ int) {}

// SetWinding does nothing: what any line goes around is painted.
func (s *scanner) SetWinding(bool) {}

// SetClip does nothing: all of the picture is painted on.
func (s *scanner) SetClip(image.Rectangle) {}
