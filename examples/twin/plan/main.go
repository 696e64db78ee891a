// Program plan makes the trace of a day in five minutes, and the table of a plan for it beside what was measured.
//
//	go run ./examples/twin/plan -trace examples/twin/plan/trace.jsonl
//	go run ./examples/twin/plan -results examples/twin/plan/results -o examples/twin/plan/README.md
package main

import (
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"llmsweep/sweep/plan"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/slo"
)

func main() {
	trace := flag.String("trace", "", "write the trace to this file")
	results := flag.String("results", "", "directory with what check.sh measured")
	output := flag.String("o", "", "put the table into this document, between its marks")
	flag.Parse()
	var err error
	switch {
	case *trace != "":
		err = os.WriteFile(*trace, day(), 0o644)
	case *results != "" && *output != "":
		err = renew(*results, *output)
	default:
		flag.Usage()
		os.Exit(2)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// day draws the requests of a day in five minutes: quiet at night, busy at noon, with mixed lengths.
func day() []byte {
	const length, seed = 300.0, 16
	rng := rand.New(rand.NewPCG(seed, 0))
	var b strings.Builder
	rate := func(at float64) float64 { return 4 + 18*math.Pow(math.Sin(math.Pi*at/length), 2) } // requests per second
	for at := 0.0; ; {
		if at += rng.ExpFloat64() / rate(length/2); at >= length-1 {
			return []byte(b.String())
		}
		if rng.Float64()*rate(length/2) > rate(at) {
			continue
		}
		prompt := min(800, max(32, int(math.Exp(5+0.6*rng.NormFloat64()))))
		answer := min(120, max(8, int(math.Exp(3.2+0.5*rng.NormFloat64()))))
		fmt.Fprintf(&b, `{"timestamp": %d, "input_length": %d, "output_length": %d}`+"\n", int(at*1000), prompt, answer)
	}
}

// planned is what is read of a plan.
type planned struct {
	SLO    []string            `json:"slo"`
	Ranked []plan.CapacityPlan `json:"ranked"`
}

// renew writes the table between the marks of a document.
func renew(dir, doc string) error {
	text, err := table(dir)
	if err != nil {
		return err
	}
	old, err := os.ReadFile(doc)
	if err != nil {
		return err
	}
	const begin, end = "<!-- table -->\n", "<!-- end -->"
	before, rest, ok1 := strings.Cut(string(old), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		return fmt.Errorf("%s has no marks", doc)
	}
	return os.WriteFile(doc, []byte(before+begin+text+end+after), 0o644)
}

// table returns the table in Markdown.
func table(dir string) (string, error) {
	b, err := os.ReadFile(filepath.Join(dir, "plan.json"))
	if err != nil {
		return "", err
	}
	var r planned
	if err := json.Unmarshal(b, &r); err != nil {
		return "", err
	}
	if len(r.Ranked) == 0 {
		return "", fmt.Errorf("%s has no plan", dir)
	}
	terms, err := slo.ParseAll(r.SLO)
	if err != nil {
		return "", err
	}
	p := r.Ranked[0]
	minutes, killed, err := measure(dir, terms, len(p.OverLost))
	if err != nil {
		return "", err
	}
	var out strings.Builder
	held := 0
	for i := range minutes {
		if minutes[i].holds(terms) {
			held++
		}
	}
	fmt.Fprintf(&out, "\n%d replicas, one of which is lost after %.0f s (planned) and %.1f s (measured).\n", int(p.Replicas.Value), p.LostAt, killed)
	fmt.Fprintf(&out, "Minutes in which the objective holds: %d of %d predicted with the loss, %d measured (without a loss %d predicted). Answers cut off: %d predicted, %d measured.\n\n",
		int(math.Round(p.HeldLost.Value*float64(len(minutes)))), len(minutes), held, int(math.Round(p.Held.Value*float64(len(minutes)))), p.LostAnswers, failed(minutes))
	fmt.Fprint(&out, "| minute | requests, predicted | measured |")
	for _, t := range terms {
		fmt.Fprintf(&out, " %s predicted | measured | error |", t.Name())
	}
	fmt.Fprint(&out, " holds, predicted | measured |\n|---:|---:|---:|"+strings.Repeat("---:|---:|---:|", len(terms))+"---|---|\n")
	for i, m := range minutes {
		s := p.OverLost[i]
		fmt.Fprintf(&out, "| %d | %.0f | %d |", i+1, s.Rate*60, m.requests)
		for k := range terms {
			got := m.values(terms)[k]
			if s.Worst[k] == nil {
				fmt.Fprintf(&out, " n/a | %s | n/a |", milliseconds(got))
				continue
			}
			fmt.Fprintf(&out, " %s | %s | %+.0f %% |", milliseconds(*s.Worst[k]), milliseconds(got), 100*(*s.Worst[k]/got-1))
		}
		fmt.Fprintf(&out, " %s | %s |\n", word(s.Held == 1), word(m.holds(terms)))
	}
	out.WriteString("\n")
	return out.String(), nil
}

func word(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

func milliseconds(v float64) string { return strconv.FormatFloat(1000*v, 'f', 0, 64) + " ms" }

// minute is what was measured in a minute.
type minute struct {
	requests, failed int
	ttft, gaps       []float64
}

// measure reads the records. A request belongs to the minute in which it was due, a gap to the one in which it ended.
func measure(dir string, terms []slo.Term, n int) (all []minute, killed float64, err error) {
	whole, err := unpacked(dir)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = os.RemoveAll(whole) }()
	run, err := store.Open(whole)
	if err != nil {
		return nil, 0, err
	}
	if len(run.Stages) != 1 {
		return nil, 0, fmt.Errorf("%s has %d stages and not one", dir, len(run.Stages))
	}
	stage := run.Stages[0]
	if b, err := os.ReadFile(filepath.Join(dir, "killed")); err == nil {
		at, _ := strconv.ParseFloat(strings.TrimSpace(string(b)), 64)
		killed = at - float64(run.Started.UnixNano())/float64(time.Second) - stage.Started
	}
	all = make([]minute, n)
	for r, err := range store.Records(whole) {
		if err != nil {
			return nil, 0, err
		}
		if r.Stage != stage.Name || !r.Sent.Known() {
			continue
		}
		m := &all[min(n-1, int(r.Due.Value()/60))]
		m.requests++
		if r.Status != "ok" {
			m.failed++
			continue
		}
		m.ttft = append(m.ttft, r.FirstToken.Value()-r.Sent.Value())
		at := r.FirstToken.Value()
		for _, g := range r.GapsUS {
			at += float64(g) * 1e-6
			k := &all[min(n-1, int(at/60))]
			k.gaps = append(k.gaps, float64(g)*1e-6)
		}
	}
	return all, killed, nil
}

// unpacked returns a temporary copy of a run directory whose records are compressed.
func unpacked(dir string) (whole string, err error) {
	if whole, err = os.MkdirTemp("", "plan"); err != nil {
		return "", err
	}
	run, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(whole, "run.json"), run, 0o644); err != nil {
		return "", err
	}
	packed, err := os.Open(filepath.Join(dir, "records.jsonl.gz"))
	if err != nil {
		return "", err
	}
	defer func() { _ = packed.Close() }()
	z, err := gzip.NewReader(packed)
	if err != nil {
		return "", err
	}
	records, err := io.ReadAll(z)
	if err != nil {
		return "", err
	}
	return whole, os.WriteFile(filepath.Join(whole, "records.jsonl"), records, 0o644)
}

func failed(all []minute) (n int) {
	for _, m := range all {
		n += m.failed
	}
	return n
}

// values returns what each term is about.
func (m *minute) values(terms []slo.Term) (all []float64) {
	for _, t := range terms {
		v := m.ttft
		if t.Metric == slo.ITL {
			v = m.gaps
		}
		if len(v) == 0 {
			all = append(all, math.NaN())
			continue
		}
		v = slices.Sorted(slices.Values(v))
		all = append(all, v[max(1, int(math.Ceil(t.Quantile()*float64(len(v)))))-1])
	}
	return all
}

// holds reports whether the minute keeps the objective.
func (m *minute) holds(terms []slo.Term) bool {
	for i, v := range m.values(terms) {
		if !(v < terms[i].Limit) {
			return false
		}
	}
	return true
}
