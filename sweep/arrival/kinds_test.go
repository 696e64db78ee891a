package arrival

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"llmsweep/client/testkit"
)

// Every type of this package that has a schedule is in the table of kinds, or beside it in Kinds.
func TestKindsAreComplete(t *testing.T) {
	var known []string
	for _, l := range Kinds() {
		name := strings.TrimSuffix(reflect.TypeOf(l).Name(), "]")
		known = append(known, name[strings.LastIndexAny(name, ".[")+1:]) // Ramp, and exponential of Rated[exponential]
	}
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && strings.EqualFold(f.Name.Name, "Schedule") {
				if id, ok := f.Recv.List[0].Type.(*ast.Ident); ok { // Rated[G] is known by its gaps
					found = append(found, id.Name)
				}
			}
		}
	}
	slices.Sort(known)
	if slices.Sort(found); !slices.Equal(known, found) {
		t.Errorf("these have schedules: %v\nKinds has %v", found, known)
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
		a, err := parse(s)
		if err != nil {
			return
		}
		o := Options{Arrivals: s, Rate: 5, Duration: time.Minute}
		switch a.(type) {
		case Trace:
			return
		case Ramp:
			o.Rate = 0
		}
		loads, err := o.Loads()
		if err != nil || len(loads) != 1 || loads[0].Kind() != a.Kind() {
			t.Fatalf("%d loads, %v", len(loads), err)
		}
		schedule := loads[0].Schedule(1, "stage")
		for last, i := time.Duration(0), 0; i < 20; i++ {
			due, ok := schedule.Next()
			if ok && due < last {
				t.Fatalf("%v goes back from %v to %v", a, last, due)
			}
			last = due
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
		want []Load // nil: refused
	}{
		"closed loops": {Options{Concurrency: []int{2, 8}}, []Load{Closed{2}, Closed{8}}},
		"a rate":       {Options{Rate: 3, MaxConcurrency: 4}, []Load{Poisson{Rate: 3, MaxConcurrency: 4}}},
		"gamma":        {Options{Rate: 3, Arrivals: "gamma:2"}, []Load{Gamma{Rate: 3, Gaps: 2}}},
		"a ramp": {Options{Arrivals: "ramp:1-5", Duration: time.Second},
			[]Load{Ramp{From: 1, To: 5, Over: time.Second}}},
		"a ramp of some minutes": {Options{Arrivals: "ramp:1-5"}, []Load{Ramp{From: 1, To: 5, Over: defaultDuration}}},
		"a trace":                {Options{Arrivals: "trace:x", TimeScale: 2}, []Load{Trace{File: "x", Speed: 2}}},
		"nothing":                {Options{}, nil},
		"both loops":             {Options{Concurrency: []int{2}, Rate: 3}, nil},
		"no rate":                {Options{Arrivals: "constant"}, nil},
		"a rate below 0":         {Options{Rate: -1}, nil},
		"a ramp with a rate":     {Options{Arrivals: "ramp:1-5", Rate: 2}, nil},
		"a scale without trace":  {Options{Rate: 2, TimeScale: 2}, nil},
		"a scale, closed":        {Options{Concurrency: []int{2}, TimeScale: 2}, nil},
		"a scale and a rate":     {Options{Arrivals: "trace:x", Rate: 2, TimeScale: 2}, nil},
		"none in flight":         {Options{Concurrency: []int{0}}, nil},
		"twice":                  {Options{Concurrency: []int{4, 4}}, nil},
		"a limit, closed":        {Options{Concurrency: []int{4}, MaxConcurrency: 2}, nil},
		"requests and duration":  {Options{Rate: 1, Requests: 2, Duration: 3}, nil},
		"requests below 0":       {Options{Rate: 1, Requests: -2}, nil},
	} {
		got, err := c.o.Loads()
		if (err != nil) != (c.want == nil) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
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
