package draw

import (
	"cmp"
	"image/color"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// rule is a rule of a style sheet.
type rule struct {
	tag      string   // empty for any
	classes  []string // all of them
	rank     int      // of two rules that both say something of an element, the higher one holds
	property map[string]string
}

// rasterStyle is how an element is painted.
type rasterStyle struct {
	property     map[string]string // as the element and those around it have them
	fill, stroke color.Color
	width        float64
	dashes       []float64
	round        bool // ends of lines
	size         float64
	bold, halo   bool
}

// initial is the style of a file without a style sheet.
func initial() rasterStyle {
	return rasterStyle{property: map[string]string{"fill": "#000", "stroke": "none", "stroke-width": "1", "font-size": "16"}}
}

var (
	media    = regexp.MustCompile(`@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}`)
	block    = regexp.MustCompile(`([^{}]+)\{([^{}]*)\}`)
	selector = regexp.MustCompile(`^(?:svg )?([a-z]*)((?:\.[a-z0-9]+)*)$`)
	variable = regexp.MustCompile(`var\((--[a-z0-9]+)\)`)
	hex      = regexp.MustCompile(`^#(?:[0-9a-f]{3}|[0-9a-f]{6})$`)
)

// parseStyle reads a style sheet. Rules for a dark screen are left out.
func parseStyle(sheet string) ([]rule, error) {
	var rules []rule
	sheet = media.ReplaceAllString(sheet, "")
	for _, b := range block.FindAllStringSubmatch(sheet, -1) {
		m := selector.FindStringSubmatch(strings.TrimSpace(b[1]))
		if m == nil {
			return nil, unknown(strings.TrimSpace(b[1]))
		}
		const perClass = 10 // a class outranks names of elements
		r := rule{tag: m[1], rank: perClass * strings.Count(m[2], "."), property: map[string]string{}}
		if r.tag != "" {
			r.rank++
		}
		if m[2] != "" {
			r.classes = strings.Split(m[2][1:], ".")
		}
		for _, p := range strings.Split(b[2], ";") {
			if name, value, ok := strings.Cut(p, ":"); ok {
				r.property[strings.TrimSpace(name)] = strings.TrimSpace(value)
			}
		}
		rules = append(rules, r)
	}
	slices.SortStableFunc(rules, func(a, b rule) int { return cmp.Compare(a.rank, b.rank) })
	return rules, nil
}

// matches reports whether a rule is about an element.
func (r *rule) matches(tag string, classes []string) bool {
	if r.tag != "" && r.tag != tag {
		return false
	}
	return !slices.ContainsFunc(r.classes, func(c string) bool { return !slices.Contains(classes, c) })
}

// resolve returns the style of an element. Every property is inherited.
func resolve(rules []rule, tag string, classes []string, inherited rasterStyle) (rasterStyle, error) {
	s := rasterStyle{property: maps.Clone(inherited.property)}
	for i := range rules {
		if r := &rules[i]; r.matches(tag, classes) {
			maps.Copy(s.property, r.property)
			if font, ok := r.property["font"]; ok { // such as 600 14px sans-serif
				if f := strings.Fields(font); len(f) > 2 {
					s.property["font-weight"], s.property["font-size"] = f[0], f[1]
				}
			}
		}
	}
	var err error
	if s.fill, err = s.paint("fill"); err != nil {
		return s, err
	}
	if s.stroke, err = s.paint("stroke"); err != nil {
		return s, err
	}
	if s.width, err = s.number("stroke-width"); err != nil {
		return s, err
	}
	if s.size, err = s.number("font-size"); err != nil {
		return s, err
	}
	if dashes := s.property["stroke-dasharray"]; dashes != "" && dashes != "none" {
		if s.dashes, err = numbers(dashes); err != nil {
			return s, err
		}
	}
	s.round = s.property["stroke-linecap"] == "round"
	s.bold = s.property["font-weight"] == "600"
	s.halo = s.property["paint-order"] == "stroke"
	return s, nil
}

// number returns a property that is a number, or a length in pixels.
func (s *rasterStyle) number(name string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSuffix(s.property[name], "px"), 64)
	if err != nil {
		return 0, unknown(name + ":" + s.property[name])
	}
	return v, nil
}

// paint returns the colour of a property with its opacity.
func (s *rasterStyle) paint(name string) (color.Color, error) {
	value := s.property[name]
	for range 3 { // a variable may name another one
		value = variable.ReplaceAllStringFunc(value, func(v string) string { return s.property[variable.FindStringSubmatch(v)[1]] })
	}
	if value == "none" || value == "" && s.property[name] == "var(--c)" { // outside a series there is no colour of one
		return color.Transparent, nil
	}
	if !hex.MatchString(value) {
		return nil, unknown(name + ":" + s.property[name])
	}
	digits := value[1:]
	if len(digits) == 3 {
		digits = string([]byte{digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]})
	}
	rgb, err := strconv.ParseUint(digits, 16, 32)
	if err != nil {
		return nil, err
	}
	opacity := 1.0
	if text, ok := s.property[name+"-opacity"]; ok {
		if opacity, err = strconv.ParseFloat(text, 64); err != nil {
			return nil, err
		}
	}
	return color.NRGBA{R: uint8(rgb >> 16), G: uint8(rgb >> 8), B: uint8(rgb), A: uint8(opacity*255 + 0.5)}, nil
}
