// Turns the SVG files that package draw writes into PNG files, without a browser and without the system's fonts. It knows
// the part of SVG and of CSS that those files use, and nothing more: what it does not know is an error, not a gap in the picture.

package draw

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/srwiley/rasterx"
	"golang.org/x/image/math/fixed"
)

// Density is the number of pixels of a PNG for one pixel of its SVG, unless a width is asked for: that of most screens today.
const Density = 2

// The least and the largest width of a PNG, in pixels.
const (
	LeastWidth = 100
	MostWidth  = 10000
)

// PNG writes an SVG file of package draw as a PNG file, on a light ground. width is its width in pixels; 0 for [Density].
func PNG(w io.Writer, svg []byte, width int) error {
	if width != 0 && (width < LeastWidth || width > MostWidth) {
		return fmt.Errorf("--width %d: write pixels from %d to %d", width, LeastWidth, MostWidth)
	}
	root, err := parse(svg)
	if err != nil {
		return err
	}
	p, err := newPage(root, width)
	if err != nil {
		return err
	}
	if err := p.draw(root, initial()); err != nil {
		return err
	}
	return png.Encode(w, p.picture)
}

// node is an element of an SVG file.
type node struct {
	XMLName  xml.Name
	Class    string `xml:"class,attr"`
	D        string `xml:"d,attr"`
	X        string `xml:"x,attr"`
	Y        string `xml:"y,attr"`
	Width    string `xml:"width,attr"`
	ViewBox  string `xml:"viewBox,attr"`
	Anchor   string `xml:"text-anchor,attr"`
	Text     string `xml:",chardata"`
	Children []node `xml:",any"`
}

func parse(svg []byte) (*node, error) {
	var root node
	if err := xml.NewDecoder(bytes.NewReader(svg)).Decode(&root); err != nil {
		return nil, err
	}
	if root.XMLName.Local != "svg" {
		return nil, unknown(root.XMLName.Local)
	}
	return &root, nil
}

// page is a drawing while it is painted.
type page struct {
	picture *image.RGBA
	pen     *rasterx.Dasher
	scale   float64 // pixels for one unit of the drawing
	x, y    float64 // of the drawing's upper left corner, in its units
	rules   []rule
	fonts   fonts
}

// newPage makes an empty page of the size of a drawing.
func newPage(root *node, width int) (*page, error) {
	box, err := numbers(root.ViewBox)
	if err != nil || len(box) != 4 || box[2] <= 0 || box[3] <= 0 {
		return nil, unknown(root.ViewBox)
	}
	pixels := float64(width)
	if width == 0 {
		natural, err := strconv.ParseFloat(root.Width, 64)
		if err != nil {
			return nil, unknown(root.Width)
		}
		pixels = Density * natural
	}
	p := &page{x: box[0], y: box[1], scale: math.Round(pixels) / box[2]}
	w, h := int(math.Round(pixels)), int(math.Round(box[3]*p.scale))
	p.picture = image.NewRGBA(image.Rect(0, 0, w, h))
	p.pen = rasterx.NewDasher(w, h, &scanner{picture: p.picture})
	for i := range root.Children {
		if c := &root.Children[i]; c.XMLName.Local == "style" {
			if p.rules, err = parseStyle(c.Text); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}

// unknown is the error of a part of a file that cannot be painted.
func unknown(part string) error { return fmt.Errorf("%q is no part of the SVG that is painted", part) }

// at returns the pixel of a point of the drawing.
func (p *page) at(x, y float64) (float64, float64) { return (x - p.x) * p.scale, (y - p.y) * p.scale }

// draw paints an element and what is in it.
func (p *page) draw(n *node, inherited rasterStyle) error {
	s, err := resolve(p.rules, n.XMLName.Local, strings.Fields(n.Class), inherited)
	if err != nil {
		return err
	}
	switch n.XMLName.Local {
	case "svg", "g":
		for i := range n.Children {
			if err := p.draw(&n.Children[i], s); err != nil {
				return err
			}
		}
		return nil
	case "title", "style":
		return nil
	case "rect": // the ground: all of the page
		draw.Draw(p.picture, p.picture.Bounds(), image.NewUniform(s.fill), image.Point{}, draw.Src)
		return nil
	case "path":
		return p.path(n.D, s)
	case "text":
		return p.text(n, s)
	}
	return unknown(n.XMLName.Local)
}

// path fills and strokes a path.
func (p *page) path(d string, s rasterStyle) error {
	path, dots, err := p.trace(d)
	if err != nil {
		return err
	}
	if _, _, _, alpha := s.fill.RGBA(); alpha > 0 {
		path.AddTo(&p.pen.Filler)
		p.fill(s.fill)
	}
	if _, _, _, alpha := s.stroke.RGBA(); alpha == 0 {
		return nil
	}
	caps, joins := rasterx.ButtCap, rasterx.MiterClip
	if s.round {
		caps, joins = rasterx.RoundCap, rasterx.Round
	}
	dashes := make([]float64, len(s.dashes))
	for i, v := range s.dashes {
		dashes[i] = v * p.scale
	}
	const miter = 4 // the longest corner, in widths of the line: the default of SVG
	p.pen.SetStroke(p.length(s.width), fixed.I(miter), caps, caps, nil, joins, dashes, 0)
	path.AddTo(p.pen)
	p.fill(s.stroke)
	if s.round { // a line of no length with round ends is a dot
		for _, d := range dots {
			rasterx.AddCircle(d[0], d[1], s.width*p.scale/2, &p.pen.Filler)
		}
		p.fill(s.stroke)
	}
	return nil
}

// fill paints what the pen has outlined.
func (p *page) fill(c color.Color) {
	p.pen.SetColor(c)
	p.pen.Draw()
	p.pen.Clear()
}

// length returns a length of the drawing in 64ths of a pixel.
func (p *page) length(v float64) fixed.Int26_6 { return fixed.Int26_6(math.Round(v * p.scale * 64)) }
