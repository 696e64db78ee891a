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

// textWidth is that of the wider language.
func textWidth(t lang.Text) float64 { return max(stringWidth(t.EN), stringWidth(t.ZH)) }

// Escape returns text that is safe in HTML and SVG, and in an attribute. Control characters and signs that turn the
// direction of text around are left out: names and messages come from servers and files.
func Escape(s string) string { return html.EscapeString(table.Clean(s)) }

// On a narrow screen, where drawings are made smaller, their text is larger than the usual 11.5: labels keep the
// distance of the larger one.
const (
	fontNarrow = 14 // pixels of the drawing
	lineHeight = 15
)

// stringWidth estimates pixels at [fontNarrow], rather too many.
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
