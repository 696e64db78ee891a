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
	"llmsweep/sweep/rundir"
)

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

// GPUHour returns the price of the GPU of a configuration: by its own name, else by the longest name that it begins
// with, else the one that the run was labelled with. It reports false where none was given.
func (p Prices) GPUHour(l rundir.Labels) (float64, bool) {
	name, ok := p.key(l.GPU)
	if !ok {
		return l.Price, l.Price > 0
	}
	return p[name], true
}

func (p Prices) key(gpu string) (string, bool) {
	best, found := "", false
	for name := range p {
		if matches(gpu, name) && (!found || len(name) > len(best)) {
			best, found = name, true
		}
	}
	return best, found
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
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if !slices.ContainsFunc(configurations, LabelFilter{Key: "gpu", Value: name}.Matches) {
			lines = append(lines, priceUnused.In(l, name, known))
		}
	}
	return lines
}
