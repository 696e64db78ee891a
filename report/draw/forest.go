package draw

import (
	"fmt"
	"math"

	"llmsweep/report/lang"
)

// Bar is a row of a forest plot: a value with its interval.
type Bar struct {
	Name      lang.Text
	Value     lang.Text // at the right
	At        float64   // NaN where there is an interval alone
	Low, High float64   // NaN for no interval
	Bound     bool      // the value is at least At
	Colour    int
	Shape     Shape
	Row       int
}

func forestTick(v float64) string {
	if v > 0 {
		return "+" + Share(v)
	}
	return Share(v)
}

// forestTicks returns as many ticks as have room beside each other.
func forestTicks(s scale) []float64 {
	const most, gap = 5, 10
	var all []float64
	for about := most; about > 0; about-- {
		all = s.ticks(about)
		widest := 0.0
		for i, v := range all {
			if math.Abs(v) < 1e-9*(s.high-s.low) {
				all[i] = 0 // what is left of a sum would be written -0
			}
			widest = max(widest, textWidth(lang.Same(forestTick(all[i]))))
		}
		if len(all) < 2 || s.at(all[1])-s.at(all[0]) >= widest+gap {
			break
		}
	}
	return all
}

// Forest returns a forest plot: shares with their intervals around 0, on an axis in per cent.
func Forest(name string, axis lang.Text, bars []Bar) string {
	const row, least, most = 22, 60, 185
	left, right := float64(least), float64(least)
	e := newExtent()
	e.add(0)
	for _, b := range bars {
		left, right = max(left, min(textWidth(b.Name)+14, most)), max(right, min(textWidth(b.Value)+12, most))
		e.add(b.At, b.Low, b.High)
	}
	c := &canvas{Figure: &Figure{Name: name}}
	reach := max(math.Abs(e.low), math.Abs(e.high), 0.01) * 1.05
	c.x = scale{low: min(e.low*1.05, -0.1*reach), high: max(e.high*1.05, 0.1*reach), from: left, to: figureWidth - right}
	top, bottom := 10.0, 10+row*float64(len(bars))
	c.open(bottom + 40)
	for _, v := range forestTicks(c.x) {
		fmt.Fprintf(&c.b, `<path class="grid" d="M%s %sV%s"/>`, px(c.x.at(v)), px(top), px(bottom))
		c.text(c.x.at(v), bottom+16, "tick", "middle", lang.Same(forestTick(v)))
	}
	fmt.Fprintf(&c.b, `<path class="axis" d="M%s %sV%s"/>`, px(c.x.at(0)), px(top), px(bottom))
	c.text((left+c.x.to)/2, bottom+33, "name", "middle", axis)
	for i, b := range bars {
		y := top + row*(float64(i)+0.5)
		c.text(left-10, y+4, "name", "end", b.Name)
		c.drawBar(b, y, 4)
		c.text(c.x.to+10, y+4, "tick", "start", b.Value)
	}
	c.b.WriteString(`<path class="cross" d=""/></svg>`)
	return c.b.String()
}

func (c *canvas) bars(all []Bar) {
	for i, b := range all {
		y := c.top + (c.bottom-c.top)*(float64(i)+0.5)/float64(len(all))
		c.text(c.x.from-6, y+4, "tick", "end", b.Name)
		c.drawBar(b, y, 3)
	}
}

func (c *canvas) drawBar(b Bar, y, halfEnd float64) {
	fmt.Fprintf(&c.b, `<g class="sr %s">`, colourClass(b.Colour))
	if b.High > b.Low {
		low, high := c.x.clamp(b.Low), c.x.clamp(b.High)
		fmt.Fprintf(&c.b, `<path class="line" d="M%s %sH%s"/><path class="bar" d="M%s %sv%sm%s-%sv%s"/>`, px(low), px(y),
			px(high), px(low), px(y-halfEnd), px(2*halfEnd), px(high-low), px(2*halfEnd), px(2*halfEnd))
	}
	if !math.IsNaN(b.At) {
		x := c.x.clamp(b.At)
		d := b.Shape.path(x, y)
		if b.Bound { // an arrow: the value is somewhere to the right
			d += fmt.Sprintf("M%s %sh10m-4-3l4 3l-4 3", px(x+4), px(y))
		}
		fmt.Fprintf(&c.b, `<path class="pt%s" data-r="%d" data-x="%s" data-y="%s" d="%s"/>`, b.Shape.openClass(), b.Row,
			px(x), px(y), d)
	}
	c.b.WriteString("</g>")
}
