package choose

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
)

// Demand is the load that has to be served.
type Demand struct {
	Amount float64 // requests or output tokens per second, or users
	Of     Unit
}

// Unit is what a demand counts.
type Unit uint8

// The units of demands.
const (
	Requests Unit = iota
	Tokens
	Users
)

// ParseDemand reads 20req/s, 20rps, 5000tok/s or 500users.
func ParseDemand(text string) (Demand, error) {
	t := strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(text, " ", ""), ",", ""))
	for _, u := range []struct {
		suffix string
		of     Unit
	}{{"rps", Requests}, {"req/s", Requests}, {"req/sec", Requests}, {"tok/s", Tokens}, {"tokens/s", Tokens},
		{"tps", Tokens}, {"users", Users}, {"user", Users}} {
		digits, ok := strings.CutSuffix(t, u.suffix)
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(digits, 64)
		if err != nil || !(v > 0) || math.IsInf(v, 0) {
			break
		}
		return Demand{v, u.of}, nil
	}
	return Demand{}, fmt.Errorf("--demand %q: write requests or output tokens per second, or users, such as 20req/s, 5000tok/s or 500users", text)
}

// String returns the demand as ParseDemand reads it.
func (d Demand) String() string {
	return strconv.FormatFloat(d.Amount, 'f', -1, 64) + [...]string{"rps", "tok/s", "users"}[d.Of]
}

// UnitText returns the unit of the demand in words.
func (d Demand) UnitText() lang.Text {
	return [...]lang.Text{reqPerS, lang.Same("tok/s"), unitUsers.Text()}[d.Of]
}

// Text returns the demand in words.
func (d Demand) Text() lang.Text {
	if d.Of == Users {
		return d.amountText(d.Amount)
	}
	return lang.Same(lang.Shortest(d.Amount) + " ").Plus(d.UnitText())
}

// amountText returns an amount in the unit of the demand, in words.
func (d Demand) amountText(v float64) lang.Text {
	if d.Of == Users { // half a user is none
		return sayUsers.Text(lang.Shortest(math.Floor(v + 1e-9)))
	}
	return lang.Same(fmt.Sprintf("%.2f ", v)).Plus(d.UnitText())
}

// floorText is the amount, or the next lower one that is printed: what holds up to v holds there.
func (d Demand) floorText(v float64) lang.Text { return d.amountText(math.Floor(v*100+1e-6) / 100) }

// capacity returns what one replica delivers, in the unit of the demand.
func (d Demand) capacity(l *setup.Limit) (float64, bool) {
	n := [...]rundir.Number{rundir.Exactly(l.Rate), l.Output, l.Users}[d.Of]
	return n.Value(), n.Known() && n.Value() > 0
}

// Prices are the prices of GPUs per hour, by name. "L20" is also the price of an "L20 48GB".
type Prices map[string]float64

// Add adds prices written as L20=1.2,A100=3.6. Later ones win.
func (p Prices) Add(texts []string) error {
	for _, text := range texts {
		more, err := ParsePrices(text)
		if err != nil {
			return err
		}
		maps.Copy(p, more)
	}
	return nil
}

// Texts returns the prices as [Prices.Add] reads them, by name.
func (p Prices) Texts() (all []string) {
	for _, name := range slices.Sorted(maps.Keys(p)) {
		all = append(all, name+"="+lang.Shortest(p[name]))
	}
	return all
}

// ParsePrices reads L20=1.2,A100=3.6.
func ParsePrices(text string) (Prices, error) {
	p := Prices{}
	for _, part := range strings.Split(text, ",") {
		name, digits, ok := strings.Cut(part, "=")
		v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		if name = strings.TrimSpace(name); !ok || err != nil || name == "" {
			return nil, fmt.Errorf("--price %q: write GPU=PRICE per GPU-hour, such as L20=1.2,A100=3.6", part)
		}
		if err := p.set(name, v); err != nil {
			return nil, fmt.Errorf("--price %q: %w", part, err)
		}
	}
	return p, nil
}

// ReadPrices reads a YAML file of them: one "L20: 1.2" a line.
func ReadPrices(name string, r io.Reader) (Prices, error) {
	var in map[string]float64
	if err := yaml.NewDecoder(r).Decode(&in); err != nil {
		why, _, _ := strings.Cut(err.Error(), "\n")
		return nil, fmt.Errorf("%s: not a list of prices, one \"L20: 1.2\" a line: %s", name, why)
	}
	p := Prices{}
	for _, gpu := range slices.Sorted(maps.Keys(in)) {
		if err := p.set(gpu, in[gpu]); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", name, gpu, err)
		}
	}
	if len(p) == 0 {
		return nil, fmt.Errorf("%s: holds no price; write one \"L20: 1.2\" a line", name)
	}
	return p, nil
}

func (p Prices) set(name string, v float64) error {
	if !(v > 0) || math.IsInf(v, 0) {
		return fmt.Errorf("%v is no price per GPU-hour", v)
	}
	if _, twice := p[name]; twice {
		return fmt.Errorf("a price for it was given before; leave one")
	}
	p[name] = v
	return nil
}

// Of returns the price of the GPU of a configuration: by its own name, else by the longest name that it begins with,
// else the one that the run was labelled with. It reports false where none was given.
func (p Prices) Of(l rundir.Labels) (float64, bool) {
	name, ok := p.key(l.GPU)
	if !ok {
		return l.Price, l.Price > 0
	}
	return p[name], true
}

// key returns the name under which the price of a GPU is listed.
func (p Prices) key(gpu string) (string, bool) {
	best, found := "", false
	for name := range p {
		if matches(gpu, name) && (!found || len(name) > len(best)) {
			best, found = name, true
		}
	}
	return best, found
}

// matches reports whether a name is the other, or the beginning of it in whole words: L4 is no L40.
func matches(whole, name string) bool {
	words := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return r == ' ' || r == '-' || r == '_' })
	}
	w, n := words(whole), words(name)
	return len(n) > 0 && len(n) <= len(w) && slices.Equal(w[:len(n)], n)
}

// LabelFilter is a filter of configurations: gpu=L20.
type LabelFilter struct{ Key, Value string }

// ParseLabelFilter reads one.
func ParseLabelFilter(text string) (LabelFilter, error) {
	key, value, ok := strings.Cut(text, "=")
	o := LabelFilter{strings.TrimSpace(key), strings.TrimSpace(value)}
	if !ok || o.Key == "" {
		return o, fmt.Errorf("--only %q: write model, gpu, gpus, engine, quant or a label of your own, an equals sign and a value, such as gpu=L20", text)
	}
	return o, nil
}

// Matches reports whether a configuration is wanted. Names may be beginnings in whole words: model=Qwen2-7B takes
// Qwen2-7B-Instruct; quant= takes what is not quantized.
func (o LabelFilter) Matches(l rundir.Labels) bool {
	switch o.Key {
	case "model":
		return matches(l.Model, o.Value)
	case "gpu":
		return matches(l.GPU, o.Value)
	case "gpus":
		return strconv.Itoa(l.GPUs) == o.Value
	case "engine":
		return strings.EqualFold(l.Engine, o.Value)
	case "quant":
		return o.Value == "" && l.Quant == "" || matches(l.Quant, o.Value)
	}
	return strings.EqualFold(l.Free[o.Key], o.Value)
}

// UnusedLines returns a line for each price of a GPU that no configuration has.
func (p Prices) UnusedLines(configurations []rundir.Labels, l lang.Lang) []string {
	gpus := map[string]bool{}
	for _, c := range configurations {
		if c.GPU != "" {
			gpus[c.GPU] = true
		}
	}
	known := knownGPUs.In(l, strings.Join(slices.Sorted(maps.Keys(gpus)), lang.ListComma.In(l)))
	if len(gpus) == 0 {
		known = knownNoGPU.In(l)
	}
	var lines []string
	for _, name := range p.UnusedGPUs(configurations) {
		lines = append(lines, priceUnused.In(l, name, known))
	}
	return lines
}

// UnusedGPUs returns the GPUs that have a price and that no configuration has, in the order of their names.
func (p Prices) UnusedGPUs(configurations []rundir.Labels) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(p)), func(name string) bool {
		return slices.ContainsFunc(configurations, LabelFilter{Key: "gpu", Value: name}.Matches)
	})
}
