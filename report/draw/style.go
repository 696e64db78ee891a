package draw

import (
	_ "embed"
	"strconv"
)

// Colours is how many colours there are; after them they repeat with dashed lines. Their hues are near those of Okabe
// and Ito (2008), which colour-blind people distinguish, with enough contrast for text on light and dark grounds.
const Colours = 8

// One colour has one meaning in all drawings of a run.
const (
	Median    = 0 // of a metric, and each of its values
	P99       = 1
	P90       = 2
	InFlight  = 3
	Completed = 4
	Output    = 5
	Offered   = 6
	Ink       = -1 // metrics of the server itself, and points that differ in shape
)

func colourClass(i int) string {
	if i == Ink {
		return "ck"
	}
	return "c" + strconv.Itoa(i%Colours)
}

//go:embed style.css
var style string

// StyleSheet returns the style sheet of drawings, which needs [LightColours] or [DarkColours].
func StyleSheet() string { return style }

func fileStyle() string {
	return `svg{` + LightColours + `}@media (prefers-color-scheme:dark){svg{` + DarkColours + `}}.title{font:600 14px ` +
		fonts + `;fill:var(--ink)}.ground{fill:var(--ground)}` + style
}

const fonts = `system-ui,-apple-system,"Segoe UI","Noto Sans","Noto Sans CJK SC","PingFang SC","Microsoft YaHei",sans-serif`

// The colours of drawings.
const (
	LightColours = `--ink:#1c2430;--soft:#5a6472;--grid:#e4e8ee;--ground:#fff;--sat:#3d4757;--slo:#a3192f;` +
		`--c0:#0060a8;--c1:#b84a00;--c2:#00714f;--c3:#9a3f76;--c4:#7d5a00;--c5:#1a7690;--c6:#4d4d4d;--c7:#5b3fb0;`
	DarkColours = `--ink:#e8ecf2;--soft:#a9b4c2;--grid:#333c49;--ground:#171c24;--sat:#c3ccd8;--slo:#ff8fa8;` +
		`--c0:#6cb8f5;--c1:#ff9a57;--c2:#45d6a5;--c3:#eba3cd;--c4:#f0c350;--c5:#7fd6ec;--c6:#c4c4c4;--c7:#b7a4ff;`
)
