package arrival

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"llmsweep/client/testkit"
)

// Every type of this package that has a schedule is in the table of kinds, or is no open loop.
func TestKindsAreComplete(t *testing.T) {
	var known, found []string
	loads := []Load{Closed{}, Sessions{}, Counted{}}
	for _, k := range kinds {
		loads = append(loads, k.zero)
	}
	for _, l := range loads {
		name := strings.TrimSuffix(reflect.TypeOf(l).Name(), "]")
		known = append(known, name[strings.LastIndexAny(name, ".[")+1:]) // Ramp, and exponential of Rated[exponential]
	}
	method := regexp.MustCompile(`(?m)^func \((?:\w+ )?(\w+)\) [sS]chedule\(`) // that of Rated[G] is not one
	names, err := filepath.Glob("*.go")
	for _, name := range names {
		b, failed := os.ReadFile(name)
		err = errors.Join(err, failed)
		for _, m := range method.FindAllSubmatch(b, -1) {
			found = append(found, string(m[1]))
		}
	}
	slices.Sort(known)
	if slices.Sort(found); err != nil || !slices.Equal(known, found) {
		t.Errorf("these have schedules: %v, %v\nkinds has %v", found, err, known)
	}
}

func TestParse(t *testing.T) {
	for in, want := range map[string]Load{
		"": Poisson{}, "poisson": Poisson{}, "constant": Constant{}, "gamma:0.5": Gamma{Gaps: 0.5},
		"ramp:2-20": Ramp{From: 2, To: 20}, "ramp:0-1e1": Ramp{To: 10}, "ramp:1e-3-2.5e-1": Ramp{From: 0.001, To: 0.25},
		"ramp:20-2": Ramp{From: 20, To: 2}, "trace:a:b.jsonl": Trace{File: "a:b.jsonl"},
	} {
		got, err := parse(in)
		if diff := cmp.Diff(want, Load(got)); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", in, err, diff)
		}
	}
	for in := range strings.FieldsSeq(`poison poisson:1 constant: clients gamma gamma: gamma:0 gamma:-1 gamma:NaN gamma:Inf
		gamma:1e9 ramp ramp:5 ramp:-5-3 ramp:0-0 ramp:5-Inf ramp:NaN-1 ramp:a-b trace trace: Poisson :`) {
		if got, err := parse(in); err == nil {
			t.Errorf("%q is read as %v", in, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"poisson", "gamma:0.5", "ramp:2-20", "ramp:1e-3-5", "trace:a:b"} {
		f.Add(s)
	}
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, s string) {
		l, err := parse(s)
		if err != nil || l.Kind() == (Trace{}).Kind() {
			return
		}
		o := Options{Arrivals: s, Rate: 5, Duration: time.Minute}
		if l.Ends() {
			o.Rate = 0
		}
		loads, err := o.Loads()
		if err != nil || len(loads) != 1 || loads[0].Kind() != l.Kind() {
			t.Fatalf("%d loads, %v", len(loads), err)
		}
		if due := first(t, loads[0], 1); !slices.IsSorted(due) {
			t.Fatalf("%v goes back: %v", l, due)
		}
	}))
}

func TestValidate(t *testing.T) {
	for _, l := range []Load{
		Closed{1}, Closed{100_000}, Constant{Rate: 1}, Poisson{Rate: 1e6}, Gamma{Rate: 1, Gaps: 0.5},
		Gamma{Rate: 1, Gaps: 1e-3}, Gamma{Rate: 1, Gaps: 1e6}, Ramp{To: 1, Over: 1}, Ramp{From: 1e6, Over: 1},
		Trace{File: "x", Speed: 2}, Trace{File: "x"}, Trace{File: "x", Speed: 1e9},
	} {
		if err := l.Validate(); err != nil {
			t.Errorf("%#v: %v", l, err)
		}
	}
	for _, l := range []Load{
		Closed{}, Closed{-1}, Closed{100_001}, Constant{}, Constant{Rate: -1}, Poisson{Rate: math.NaN()},
		Poisson{Rate: math.Inf(1)}, Poisson{Rate: 1, MaxConcurrency: -1}, Poisson{Rate: 1.1e6},
		Gamma{Rate: 1e8, Gaps: 1}, Gamma{Rate: 1}, Gamma{Rate: 1, Gaps: 1.1e6},
		Ramp{To: 1}, Ramp{Over: 1}, Ramp{From: -1, To: 3, Over: 1}, Ramp{To: 1, Over: 1, Finite: Finite{-1}},
		Trace{}, Trace{File: "x", Speed: -1}, Trace{File: "x", Speed: 1.1e9}, Trace{File: "x", Finite: Finite{-1}},
	} {
		if l.Validate() == nil {
			t.Errorf("%#v is taken", l)
		}
	}
}

func TestOptions(t *testing.T) {
	for name, c := range map[string]struct {
		o    Options
		want []Load
	}{
		"closed loops":  {Options{Concurrency: []int{2, 8}}, []Load{Closed{2}, Closed{8}}},
		"a rate":        {Options{Rate: 3, MaxConcurrency: 4}, []Load{Poisson{Rate: 3, MaxConcurrency: 4}}},
		"gamma":         {Options{Rate: 3, Arrivals: "gamma:2"}, []Load{Gamma{Rate: 3, Gaps: 2}}},
		"a ramp":        {Options{Arrivals: "ramp:1-5", Duration: 9}, []Load{Ramp{From: 1, To: 5, Over: 9}}},
		"a minute":      {Options{Arrivals: "ramp:1-5"}, []Load{Ramp{From: 1, To: 5, Over: time.Minute}}},
		"ramp and both": {Options{Arrivals: "ramp:1-5", Requests: 2, Duration: 3}, []Load{Ramp{From: 1, To: 5, Over: 3}}},
		"a trace":       {Options{Arrivals: "trace:x", TimeScale: 2}, []Load{Trace{File: "x", Speed: 2}}},
		"a trace at a rate, limited": {Options{Arrivals: "trace:x", Rate: 2, MaxConcurrency: 3},
			[]Load{Trace{File: "x", Finite: Finite{3}}}},
	} {
		got, err := c.o.Loads()
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	for name, o := range map[string]Options{
		"nothing": {}, "both loops": {Concurrency: []int{2}, Rate: 3}, "no rate": {Arrivals: "constant"},
		"a rate below 0": {Rate: -1}, "a ramp with a rate": {Arrivals: "ramp:1-5", Rate: 2},
		"a ramp of requests": {Arrivals: "ramp:1-5", Requests: 2}, "a scale without trace": {Rate: 2, TimeScale: 2},
		"a scale, closed": {Concurrency: []int{2}, TimeScale: 2}, "a scaled ramp": {Arrivals: "ramp:1-5", TimeScale: 2},
		"a scale and a rate": {Arrivals: "trace:x", Rate: 2, TimeScale: 2}, "none in flight": {Concurrency: []int{0}},
		"a trace at a rate below 0": {Arrivals: "trace:x", Rate: -1}, "twice": {Concurrency: []int{4, 4}},
		"a limit, closed": {Concurrency: []int{4}, MaxConcurrency: 2}, "a limit alone": {MaxConcurrency: 2},
		"requests and duration": {Rate: 1, Requests: 2, Duration: 3}, "requests below 0": {Rate: 1, Requests: -2},
		"both, closed": {Concurrency: []int{4}, Requests: 2, Duration: 3}, "a scale below 0": {Rate: 1, TimeScale: -1},
	} {
		if got, err := o.Loads(); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestRateNames(t *testing.T) {
	for rate, want := range map[float64]string{1.567: "1.57", 10: "10.00", 0.512: "0.512", 0.0123: "0.0123",
		1234.5: "1234.50"} {
		if got := RateName(rate); got != want {
			t.Errorf("%v is called %s, want %s", rate, got, want)
		}
	}
}
