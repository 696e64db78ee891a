package draw

import (
	"fmt"
	"llmsweep/report/lang"
	"math"
)

// Bar is a line of a forest plot: a value with its interval.
type Bar struct {
	Name      lang.Text
	Value     lang.Text // at the right
	At        float64
	Low, High float64 // NaN for no interval
	Colour    int
	Shape     Shape
	Row       int
}

// forestTick is a tick of a forest plot as text.
func forestTick(v float64) string {
	if v > 0 {
		return "+" + Share(v)
	}
	return Share(v)
}

// forestTicks are the ticks of a forest plot: as many as have room beside each other.
func forestTicks(s scale) []float64 {
	const most, gap = 5, 10
	var all []float64
	for about := most; about > 0; about-- {
		all = s.ticks(about)
		widest := 0.0
		for i, v := range all {
			if math.Abs(v) < 1e-9*(s.high-s.low) {
				all[i] = 0 // and not what is left of a sum, which would be written -0
			}
			widest = max(widest, textWidth(lang.Same(forestTick(all[i]))))
		}
		if len(all) < 2 || s.at(all[1])-s.at(all[0]) >= widest+gap {
			break
		}
	}
	return all
}

// Forest returns a forest plot: a line for each value, around a line at 0. Values are shares, and the axis is in per cent.
func Forest(name string, axis lang.Text, bars []Bar) string {
	const width, row, least, most = figureWidth, 22, 60, 185
	left, right := float64(least), float64(least)
	e := newExtent()
	e.add(0)
	for _, b := range bars {
		left, right = max(left, min(textWidth(b.Name)+14, most)), max(right, min(textWidth(b.Value)+12, most))
		for _, v := range []float64{b.At, b.Low, b.High} {
			e.add(v)
		}
	}
	c := &canvas{Figure: &Figure{Name: name, width: width}}
	reach := max(math.Abs(e.low), math.Abs(e.high), 0.01) * 1.05
	c.x = scale{low: min(e.low*1.05, -0.1*reach), high: max(e.high*1.05, 0.1*reach), from: left, to: width - right}
	top, bottom := 10.0, 10+row*float64(len(bars))
	fmt.Fprintf(&c.b, `<svg class="fig" viewBox="0 0 %d %s" role="img" aria-labelledby="%s-t" data-l="%s" data-r="%s">`, width, px(bottom+40), Escape(name), px(left), px(c.x.to))
	for _, v := range forestTicks(c.x) {
		fmt.Fprintf(&c.b, `<path class="grid" d="M%s %sV%s"/>`, px(c.x.at(v)), px(top), px(bottom))
		c.text(c.x.at(v), bottom+16, "tick", "middle", lang.Same(forestTick(v)))
	}
	fmt.Fprintf(&c.b, `<path class="axis" d="M%s %sV%s"/>`, px(c.x.at(0)), px(top), px(bottom))
	c.text((left+c.x.to)/2, bottom+33, "name", "middle", axis)
	for i, b := range bars {
		y := top + row*(float64(i)+0.5)
		c.text(left-10, y+4, "name", "end", b.Name)
		fmt.Fprintf(&c.b, `<g class="sr c%d">`, b.Colour%Colours)
		if b.High > b.Low {
			fmt.Fprintf(&c.b, `<path class="line" d="M%s %sH%s"/><path class="bar" d="M%s %sv8m%s-8v8"/>`, px(c.x.clamp(b.Low)), px(y), px(c.x.clamp(b.High)),
				px(c.x.clamp(b.Low)), px(y-4), px(c.x.clamp(b.High)-c.x.clamp(b.Low)))
		}
		x, open := c.x.clamp(b.At), ""
		if b.Shape == Ring || b.Shape == Square {
			open = " open"
		}
		fmt.Fprintf(&c.b, `<path class="pt%s" data-r="%d" data-x="%s" data-y="%s" d="%s"/></g>`, open, b.Row, px(x), px(y), b.Shape.path(x, y))
		c.text(c.x.to+10, y+4, "tick", "start", b.Value)
	}
	c.b.WriteString(`<path class="cross" d=""/></svg>`)
	return c.b.String()
}
