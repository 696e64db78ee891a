package draw

import (
	"html"
	"strings"
	"unicode"

	"llmsweep/report/lang"
	"llmsweep/report/table"
)

// HTML returns the text as HTML, escaped: once where both languages say the same, else each in a span of its language.
func HTML(t lang.Text) string {
	if t.EN == t.ZH {
		return Escape(t.EN)
	}
	return `<span class="en" lang="en">` + Escape(t.EN) + `</span><span class="zh" lang="zh">` + Escape(t.ZH) + `</span>`
}

// svgText returns the text as the content of an SVG text element.
func svgText(t lang.Text, l lang.Lang) string {
	switch {
	case l != "":
		return Escape(t.In(l))
	case t.EN == t.ZH:
		return Escape(t.EN)
	}
	return `<tspan class="en" lang="en">` + Escape(t.EN) + `</tspan>` +
		`<tspan class="zh" lang="zh">` + Escape(t.ZH) + `</tspan>`
}

// textWidth returns the width of the text in pixels, in the wider language. It rather says too much.
func textWidth(t lang.Text) float64 { return max(stringWidth(t.EN), stringWidth(t.ZH)) }

// Escape returns text that is safe in HTML and SVG, and in an attribute. Control characters and signs that turn the
// direction of text around are left out: names and messages come from servers and files.
func Escape(s string) string { return html.EscapeString(table.Clean(s)) }

// The size of text in pixels of the drawing. On a narrow screen, where a drawing is made smaller, its text is larger
// ([fontNarrow]): labels keep that distance.
const (
	fontWide   = 11.5
	fontNarrow = 14
	lineHeight = 15
)

// stringWidth estimates the width of a text at the larger size.
func stringWidth(s string) float64 {
	const wide, capital, small, thin = 1.0, 0.68, 0.56, 0.3 // of the size; measured on common fonts, and rounded up
	w := 0.0
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r >= 0x3000 && r < 0x3040 ||
			r >= 0xff00 && r < 0xfff0:
			w += wide
		case strings.ContainsRune(" .,:;il|'()", r):
			w += thin
		case unicode.IsUpper(r) || r == '%' || r == 'm' || r == 'w' || r == '@':
			w += capital
		default:
			w += small
		}
	}
	return w * fontNarrow
}
