package draw

import (
	_ "embed"
	"image"
	"math"
	"strconv"

	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// The fonts: the Latin letters and the Chinese characters of the drawings, from Noto Sans CJK (SIL Open Font License, font/OFL.txt). They
// are made by font/subset.sh. A character that they lack is painted as a box.
var (
	//go:embed font/regular.otf
	regular []byte
	//go:embed font/bold.otf
	bold []byte
)

// fonts are the fonts that were opened, by weight and size.
type fonts map[fontKey]font.Face

type fontKey struct {
	bold bool
	size float64
}

// face returns a font of a size in pixels of the picture.
func (f *fonts) face(bolder bool, size float64) (font.Face, error) {
	key := fontKey{bolder, size}
	if face, ok := (*f)[key]; ok {
		return face, nil
	}
	data := regular
	if bolder {
		data = bold
	}
	parsed, err := opentype.Parse(data)
	if err != nil {
		return nil, err
	}
	const pixelsPerInch = 72 // with which a point is a pixel
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: size, DPI: pixelsPerInch, Hinting: font.HintingNone})
	if err != nil {
		return nil, err
	}
	if *f == nil {
		*f = fonts{}
	}
	(*f)[key] = face
	return face, nil
}

// text paints a text.
func (p *page) text(n *node, s rasterStyle) error {
	x, errX := strconv.ParseFloat(n.X, 64)
	y, errY := strconv.ParseFloat(n.Y, 64)
	if errX != nil || errY != nil || len(n.Children) > 0 {
		return unknown(n.Text)
	}
	face, err := p.fonts.face(s.bold, s.size*p.scale)
	if err != nil {
		return err
	}
	left, base := p.at(x, y)
	switch width := float64(font.MeasureString(face, n.Text)) / 64; n.Anchor {
	case "", "start":
	case "middle":
		left -= width / 2
	case "end":
		left -= width
	default:
		return unknown(n.Anchor)
	}
	d := font.Drawer{Dst: p.picture, Face: face}
	if s.halo { // the text in the colour of its outline, moved in every direction by half of the outline's width
		d.Src = image.NewUniform(s.stroke)
		const directions = 16
		for i := range directions {
			sin, cos := math.Sincos(2 * math.Pi * float64(i) / directions)
			r := s.width * p.scale / 2
			d.Dot = point(left+r*cos, base+r*sin)
			d.DrawString(n.Text)
		}
	}
	d.Src, d.Dot = image.NewUniform(s.fill), point(left, base)
	d.DrawString(n.Text)
	return nil
}

// point returns a pixel in 64ths.
func point(x, y float64) fixed.Point26_6 {
	return fixed.Point26_6{X: fixed.Int26_6(math.Round(x * 64)), Y: fixed.Int26_6(math.Round(y * 64))}
}
