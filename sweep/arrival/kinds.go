package arrival

import (
	"fmt"
	"slices"
	"strings"
)

type kind struct {
	help string                              // its form in --help; empty for the default
	form string                              // its form where another text was given
	zero openLoad                            // of its type
	read func(value string) (openLoad, bool) // reads what follows the colon; nil where nothing does
}

// kinds are the open loops that --arrivals names. The first is the default.
var kinds = []kind{
	{"", "poisson", Poisson{}, nil},
	{"constant", "constant", Constant{}, nil},
	{"gamma:S", "gamma:SHAPE (gamma:0.5)", Gamma{}, readGamma},
	{"ramp:A-B", "ramp:FROM-TO in requests per second (ramp:2-20)", Ramp{}, readRamp},
	{"trace:FILE", "trace:FILE", Trace{}, readTrace},
}

type openLoad interface {
	Load
	// withOptions returns the load with the rate, duration and limit of the options, or what is wrong with them.
	withOptions(Options) (Load, error)
}

// KindsHelp names the kinds of open loops other than the default.
func KindsHelp() string { return strings.Join(forms(func(k kind) string { return k.help })[1:], ", ") }

func forms(of func(kind) string) (all []string) {
	for _, k := range kinds {
		all = append(all, of(k))
	}
	return all
}

// parse reads poisson, constant, gamma:0.5, ramp:2-20 or trace:FILE; an empty text is the default.
func parse(text string) (openLoad, error) {
	if text == "" {
		return kinds[0].zero, nil
	}
	name, value, hasValue := strings.Cut(text, ":")
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.zero.Kind() == name })
	switch {
	case i < 0:
	case kinds[i].read == nil && !hasValue:
		return kinds[i].zero, nil
	case kinds[i].read != nil && value != "":
		if l, ok := kinds[i].read(value); ok {
			return l, nil
		}
	}
	all := forms(func(k kind) string { return k.form })
	n := len(all) - 1
	return nil, fmt.Errorf("%q is not a kind of arrivals: write %s, or %s", text, strings.Join(all[:n], ", "), all[n])
}
