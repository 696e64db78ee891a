package page

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"llmsweep/report/choose"
	"llmsweep/report/curve"
	"llmsweep/report/lang"
	"llmsweep/report/page/draw"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// Sliders let a reader choose again in the page: with another demand, other prices, other limits.
type Sliders struct {
	Name string // in Document.Data
	All  []Slider
}

// Slider is a quantity that can be changed. Limits go in steps, since what a server does at each was worked out before; others do not.
type Slider struct {
	Name        string
	Text        draw.Text
	Min, Max    float64
	Now, Step   float64
	Value       string // as text
	Logarithmic bool   // Min, Max and Now are powers of two of what they stand for
}

// steps is how many values of a limit there are, from a quarter to four times the one that was asked for.
const steps = 13

// stepped returns a limit at a step; that in the middle is the limit itself.
func stepped(limit float64, step int) float64 {
	return limit * math.Pow(4, float64(step-steps/2)/float64(steps/2))
}

// mostTerms is how many terms have a slider: what is worked out grows with the power of it.
const mostTerms = 2

// choosing is what the script needs to choose again; its keys are those that the script reads.
type choosing struct {
	Setups   []choosingSetup `json:"setups"`
	Terms    []choosingTerm  `json:"terms"`
	Demand   float64         `json:"demand"`
	Tokens   bool            `json:"tokens"`
	Unit     string          `json:"unit"`
	Headroom float64         `json:"headroom"`
	MaxGPUs  int             `json:"maxGPUs"`
	Prices   []choosingPrice `json:"prices"`
}

type choosingSetup struct {
	Name  string `json:"name"`
	GPUs  int    `json:"gpus"`
	Price int    `json:"price"` // index of the price; -1 for none
	// Limits are what one replica does within the terms, at each step of the first term and, within that, of the second: requests and output
	// tokens per second, and TTFT in seconds; null where it does not meet them.
	Limits []*[3]*float64 `json:"limits"`
}

type choosingTerm struct {
	Values []string `json:"values"` // of the limit, at each step
}

type choosingPrice struct {
	GPU string  `json:"gpu"`
	Now float64 `json:"now"`
}

// choosingOf works out what each setup does within all values of the limits.
func choosingOf(model string, setups []curve.Setup, o choose.Options) choosing {
	c := choosing{Demand: o.Demand.Amount, Tokens: o.Demand.Tokens, Unit: strings.TrimLeft(o.Demand.String(), "0123456789."), Headroom: o.Headroom, MaxGPUs: o.MaxGPUs}
	sliding := o.Terms[:min(len(o.Terms), mostTerms)]
	for _, t := range sliding {
		var term choosingTerm
		for i := range steps {
			term.Values = append(term.Values, t.Amount(stepped(t.Limit, i)))
		}
		c.Terms = append(c.Terms, term)
	}
	for i := range setups {
		s := &setups[i]
		if curve.Model(s.Run) != model {
			continue
		}
		one := choosingSetup{Name: s.Name, GPUs: s.Run.Labels.GPUs, Price: -1}
		if price, ok := o.Prices.Of(s.Run.Labels); ok {
			gpu := s.Run.Labels.GPU
			at := slices.IndexFunc(c.Prices, func(p choosingPrice) bool { return p.GPU == gpu && p.Now == price })
			if at < 0 {
				at = len(c.Prices)
				c.Prices = append(c.Prices, choosingPrice{gpu, price})
			}
			one.Price = at
		}
		total := int(math.Pow(steps, float64(len(sliding))))
		for k := range total {
			one.Limits = append(one.Limits, limitAt(s, termsAt(o.Terms, k)))
		}
		c.Setups = append(c.Setups, one)
	}
	return c
}

// termsAt are the terms at a place of the grid of steps: that of the last slider changes fastest.
func termsAt(terms []slo.Term, place int) []slo.Term {
	all := slices.Clone(terms)
	for i := min(len(terms), mostTerms) - 1; i >= 0; i-- {
		all[i].Limit = stepped(all[i].Limit, place%steps)
		place /= steps
	}
	return all
}

// limitAt is what a setup does within terms; nil where it does not meet them.
func limitAt(s *curve.Setup, terms []slo.Term) *[3]*float64 {
	l, refusal := s.Within(terms)
	if refusal != nil {
		return nil
	}
	known := func(n rundir.Number) *float64 {
		if !n.Known() {
			return nil
		}
		v := n.Value()
		return &v
	}
	return &[3]*float64{&l.Rate, known(l.Output), known(l.Point.At(curve.TTFT).Number)}
}

// choiceSection is the choice among the setups of a model.
func choiceSection(i int, c *choose.Choice, setups []curve.Setup, o choose.Options, data map[string]any) Section {
	s := Section{ID: "choice-" + itoa(i+1), Title: say(titleChosen, c.Model)}
	if i == 0 {
		s.ID = "answer"
	}
	h := &Headline{Number: lang.Absent, Unit: say(unitNoChoice), Sentence: say(sentenceNoChoice, c.Demand, strings.Join(c.SLO, ", "))}
	if len(c.Ranked) > 0 {
		k := &c.Ranked[0]
		h.Number, h.Unit = itoa(k.GPUs), say(unitGPUs)
		if k.Hour.Known() {
			h.Number, h.Unit = fmt.Sprintf("%.2f", k.Hour.Value()), say(unitHour)
		}
		h.Sentence = say(sentenceChoice, k.Name, k.Replicas, k.GPUs, c.Demand, strings.Join(c.SLO, ", "))
		for _, also := range sentences(c.Beside) {
			h.Sentence = h.Sentence.Plus(draw.Text{EN: " "}).Plus(also)
		}
		h.add(lang.Number(k.MillionSLO, lang.Short), say(tileMillion), k.MillionSLO)
		if len(c.Ranked) > 1 && c.Ranked[1].Hour.Known() {
			h.add(lang.Number(c.Ranked[1].Hour, lang.Fixed(2)), say(tileSecond, c.Ranked[1].Name), c.Ranked[1].Hour)
		}
	}
	s.Blocks = append(s.Blocks, Block{Headline: h})
	name := "cost-" + itoa(i+1)
	if f, ok := costFigure(name, c, setups, o); ok {
		if i == 0 {
			s.Blocks = append(s.Blocks, numbered(namesOf(setups))...)
		}
		s.Blocks = append(s.Blocks, Block{Figures: []Figure{f}})
	}
	if len(setups) > 0 && len(o.Terms) > 0 {
		again := choosingOf(c.Model, setups, o)
		data["choose-"+itoa(i+1)] = again
		s.Blocks = append(s.Blocks, Block{Heading: say(titleAgain)}, Block{Sliders: slidersOf("choose-"+itoa(i+1), again, o)})
	}
	return s
}

// slidersOf are the sliders of a choice.
func slidersOf(name string, c choosing, o choose.Options) *Sliders {
	s := &Sliders{Name: name}
	const finer = 0.05 // of a doubling
	logarithmic := func(key string, text draw.Text, now, reach float64, value string) {
		s.All = append(s.All, Slider{Name: name + "-" + key, Text: text, Min: -reach, Max: reach, Step: finer, Value: value, Logarithmic: true})
	}
	logarithmic("demand", say(sliderDemand), c.Demand, 3, o.Demand.String())
	for i, p := range c.Prices {
		logarithmic("price"+itoa(i), say(sliderPrice, p.GPU), p.Now, 2, fmt.Sprintf("%.2f", p.Now))
	}
	for i, t := range c.Terms {
		s.All = append(s.All, Slider{Name: name + "-term" + itoa(i), Text: draw.Same(o.Terms[i].Name()), Max: steps - 1, Now: steps / 2, Step: 1, Value: t.Values[steps/2]})
	}
	return s
}

// costFigure draws what each configuration costs per hour, or how many GPUs it takes, against the demand: steps, since a replica is whole.
func costFigure(name string, c *choose.Choice, setups []curve.Setup, o choose.Options) (Figure, bool) {
	const reach, most = 2.5, 8
	if len(c.Ranked) == 0 {
		return Figure{}, false
	}
	label := say(axisGPUs)
	if c.Priced {
		label = say(axisHour)
	}
	title := say(titleCost)
	panel := draw.Panel{Y: draw.Axis{Label: label, Format: draw.Number}, Height: 220}
	t := &Table{Name: "t-" + name, Title: title, Columns: []Column{{Head: say(headRun), Left: true}, {Head: say(headUpTo, strings.TrimLeft(c.Demand, "0123456789."))}, {Head: say(headReplicas)}, {Head: label}}}
	var labels []string
	names := namesOf(setups)
	short := shortNames(names) // the numbers are those of the other drawings of the page
	var places []int           // of each that is drawn, which gives its label and its colour in all drawings of the page
	for i := range c.Ranked[:min(len(c.Ranked), most)] {
		at := slices.Index(names, c.Ranked[i].Name)
		places, labels = append(places, at), append(labels, short[at])
	}
	var missing []string
	for i := range setups {
		if curve.Model(setups[i].Run) == c.Model && !slices.Contains(places, i) {
			missing = append(missing, short[i])
		}
	}
	for i := range labels {
		k := &c.Ranked[i]
		supply := k.Carries / float64(k.Replicas) * (1 - o.Headroom)
		if !(supply > 0) {
			continue
		}
		s := draw.Series{Key: "k" + itoa(i), Name: draw.Same(labels[i]), Colour: places[i], Style: draw.Path, Dashed: places[i] >= draw.Colours}
		for n := 1; float64(n-1)*supply < reach*o.Demand.Amount && n <= 400; n++ {
			cost := float64(n * k.Labels.GPUs)
			if c.Priced {
				cost *= k.Price
			}
			end := min(float64(n)*supply, reach*o.Demand.Amount)
			s.Points = append(s.Points, draw.Point{X: float64(n-1) * supply, Y: cost}, draw.Point{X: end, Y: cost})
			if n <= 12 {
				t.Rows = append(t.Rows, Row{Cells: []Cell{plain(labels[i] + " " + k.Name), number(rundir.Exactly(float64(n)*supply), lang.Short), plain(itoa(n)), number(rundir.Exactly(cost), lang.Short)}})
			}
		}
		panel.Series = append(panel.Series, s)
	}
	fig := draw.Figure{Name: name, Title: title, X: draw.Axis{Label: say(axisDemand, strings.TrimLeft(c.Demand, "0123456789.")), Format: draw.Number}, Panels: []draw.Panel{panel}}
	fig.Marks = []draw.Mark{{Text: say(tagDemand, c.Demand), At: o.Demand.Amount}}
	if e := c.BreakEven; e != nil {
		for _, at := range []rundir.Number{e.Below, e.Above} {
			if at.Known() && at.Value() < reach*o.Demand.Amount {
				fig.Marks = append(fig.Marks, draw.Mark{Text: say(tagEven, lang.Short(at.Value(), false)), At: at.Value()})
			}
		}
	}
	f := Figure{Name: name, Title: title, Note: say(noteCost), Variants: variants(fig, false, false), Table: t}
	if len(missing) > 0 {
		f.Note = f.Note.Plus(say(noteCostMissing, strings.Join(missing, ", "), most))
	}
	for i := range labels {
		f.Switches = append(f.Switches, Switch{"k" + itoa(i), draw.Same(labels[i]), places[i] % draw.Colours})
	}
	return f, true
}
