package page

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
)

// maxBars is the most bars of a cell: more cannot be told apart at its width.
const maxBars = 32

// bars draws values small, one bar a value, as high as the value is beside the largest. Where there are more values
// than bars, a bar is the largest of its values.
func bars(values []float64) template.HTML {
	const width, height = 144, 30
	largest := slices.Max(values)
	if largest <= 0 {
		return ""
	}
	var b strings.Builder
	n := min(len(values), maxBars)
	fmt.Fprintf(&b, "M0 %d", height)
	for i := range n {
		worst := slices.Max(values[i*len(values)/n : (i+1)*len(values)/n])
		fmt.Fprintf(&b, "V%dH%d", min(height-1, height-int(math.Round(worst/largest*height))), (i+1)*width/n)
	}
	return markup(
		fmt.Sprintf(
			`<svg class="strip" viewBox="0 0 %d %d" preserveAspectRatio="none" aria-hidden="true"><path d="%sV%dz"/></svg>`,
			width, height, b.String(), height),
	)
}
