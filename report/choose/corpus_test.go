package choose

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"llmsweep/report/compare"
	"llmsweep/report/published"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/slo"
)

// The corpus: documents made of sweeps of known truth, damaged as people damage tables when they copy them by hand. What is concluded from a damaged
// document is held against what is concluded from the clean one.

// cells is a row of a table as it is printed.
type cells struct {
	name, rate string // rate: as printed behind asynchronous@
	v          [5]string
}

// The columns of a table, in the order of cells.v.
const (
	colDone = iota
	colLatency
	colTTFT
	colGap
	colOutput
)

// printedTable is a table of a document.
type printedTable struct {
	base baseSweep
	rows []cells
}

// print prints a sweep. Rows are in the order of what they completed, as in many published tables, or in that of their rates.
func (s baseSweep) print(byDone bool) printedTable {
	t := printedTable{base: s}
	rows := slices.Clone(s.Rows)
	if byDone {
		slices.SortStableFunc(rows[1:len(rows)-1], func(a, b baseRow) int { return cmpFloat(a.Done, b.Done) })
	}
	for _, r := range rows {
		c := cells{name: "asynchronous", rate: fmt.Sprintf("%.2f", r.Rate)}
		switch {
		case r.Rate == 0:
			c.name, c.rate = "synchronous", ""
		case r.Rate < 0:
			c.name, c.rate = "throughput", ""
		}
		for i, v := range []float64{r.Done, r.Latency, r.TTFT * 1e3, r.Gap * 1e3, r.Output} {
			c.v[i] = fmt.Sprintf("%.2f %s", v, []string{"req/sec", "sec", "ms", "ms", "tokens/sec"}[i])
		}
		t.rows = append(t.rows, c)
	}
	return t
}

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// text returns tables as a document.
func text(tables []printedTable) string {
	var b strings.Builder
	for _, t := range tables {
		s := t.base
		model := s.Model
		if s.Quant != "" {
			model += "-" + s.Quant
		}
		fmt.Fprintf(&b, "- **%s**, **%d** x **%s**, **%s**, prompt_tokens=512,generated_tokens=128\n\n", model, s.GPUs, s.GPU, s.Engine)
		b.WriteString("| Benchmark | Requests per Second | Request Latency | Time to First Token | Inter Token Latency | Output Token Throughput |\n|---|---|---|---|---|---|\n")
		for _, r := range t.rows {
			name := r.name
			if r.rate != "" {
				name += "@" + r.rate + " req/sec"
			}
			fmt.Fprintf(&b, "| %s | %s |\n", name, strings.Join(r.v[:], " | "))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// corpusCase is a document and what is asked of it.
type corpusCase struct {
	seed   uint64
	tables []printedTable
	wish   Options
}

// corpusDocument returns the clean document of a seed: four to eight configurations of one model, with an SLO that some of them keep up to a part of
// their rates.
func corpusDocument(base []baseSweep, seed uint64) corpusCase {
	rng := rand.New(rand.NewPCG(seed, 24))
	models := []string{"Qwen2-7B-Instruct", "Qwen2.5-14B-Instruct", "Qwen2-72B-Instruct"}
	model := models[rng.IntN(len(models))]
	var all []baseSweep
	for _, s := range base {
		if s.Model == model {
			all = append(all, s)
		}
	}
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	c := corpusCase{seed: seed}
	var gaps, ttfts []float64
	byDone := rng.IntN(2) == 0
	for _, s := range all[:4+rng.IntN(5)] {
		c.tables = append(c.tables, s.print(byDone))
		for _, r := range s.Rows[1:10] {
			gaps, ttfts = append(gaps, r.Gap), append(ttfts, r.TTFT)
		}
	}
	slices.Sort(gaps)
	slices.Sort(ttfts)
	at := func(all []float64, low, high float64) float64 {
		return all[int(float64(len(all)-1)*(low+(high-low)*rng.Float64()))]
	}
	c.wish.Terms, _ = slo.ParseAll([]string{
		fmt.Sprintf("ttft:mean<%.0fms", 1e3*at(ttfts, 0.6, 1)), fmt.Sprintf("itl:mean<%.1fms", 1e3*at(gaps, 0.4, 0.95)),
	})
	c.wish.Demand = Demand{Amount: math.Round(5 + 60*rng.Float64())}
	c.wish.Prices = Prices{"L20": 1 + rng.Float64(), "A100": 2.5 + 2*rng.Float64(), "A10": 0.5 + 0.5*rng.Float64()}
	return c
}

// number returns the number and the unit of a cell.
func number(cell string) (v float64, digits, unit string) {
	digits, unit, _ = strings.Cut(cell, " ")
	v, _ = strconv.ParseFloat(digits, 64)
	return v, digits, unit
}

// slipNames are the kinds of slips, in the order of damage.
var slipNames = []string{"digits", "decimal", "unit", "copied cell", "copied row", "shift", "interchanged", "swapped rows", "zero and backlog", "rate", "backlog", "digit"}

// damage makes a slip of a kind in one of the tables. It returns false where the place chosen does not show it.
func damage(tables []printedTable, kind string, rng *rand.Rand) bool {
	t := &tables[rng.IntN(len(tables))]
	last := len(t.rows) - 1
	i := 1 + rng.IntN(last-1) // a rate in between
	if rng.IntN(8) == 0 {
		i = 0
	}
	r, col := &t.rows[i], rng.IntN(5)
	v, digits, unit := number(r.v[col])
	before := r.v[col]
	switch kind {
	case "digits": // two digits change places
		k := rng.IntN(len(digits) - 1)
		if digits[k] == '.' || digits[k+1] == '.' {
			return false
		}
		r.v[col] = digits[:k] + digits[k+1:k+2] + digits[k:k+1] + digits[k+2:] + " " + unit
	case "digit": // one is another
		k := rng.IntN(len(digits))
		if digits[k] == '.' {
			return false
		}
		r.v[col] = digits[:k] + string(rune('0'+rng.IntN(10))) + digits[k+1:] + " " + unit
	case "decimal":
		r.v[col] = fmt.Sprintf("%.2f %s", v*[]float64{0.1, 10, 100}[rng.IntN(3)], unit)
	case "unit":
		other := map[string]string{"sec": "ms", "ms": "sec"}[unit]
		if other == "" {
			return false
		}
		r.v[col] = digits + " " + other
	case "copied cell":
		if i < 2 {
			return false
		}
		r.v[col] = t.rows[i-1].v[col]
	case "copied row":
		if i < 2 {
			return false
		}
		r.v = t.rows[i-1].v
		return true
	case "shift": // a part of a column moves up by one row
		n := 3 + rng.IntN(4)
		if i < 1 || i+n > last {
			return false
		}
		for k := i; k < i+n; k++ {
			t.rows[k].v[col] = t.rows[k+1].v[col]
		}
		return true
	case "interchanged": // two values of a column
		j := 1 + rng.IntN(last-1)
		if i < 1 || i == j {
			return false
		}
		r.v[col], t.rows[j].v[col] = t.rows[j].v[col], r.v[col]
	case "swapped rows":
		if i < 2 {
			return false
		}
		r.rate, t.rows[i-1].rate = t.rows[i-1].rate, r.rate
		return true
	case "zero and backlog":
		return backlog(t, rng, true)
	case "backlog":
		return backlog(t, rng, false)
	case "rate":
		if r.rate == "" {
			return false
		}
		k := rng.IntN(len(r.rate))
		if r.rate[k] == '.' {
			return false
		}
		old := r.rate
		r.rate = r.rate[:k] + string(rune('0'+rng.IntN(10))) + r.rate[k+1:]
		rate, _ := strconv.ParseFloat(r.rate, 64)
		return r.rate != old && rate > 0
	}
	return r.v[col] != before
}

// backlog lets requests of one stage wait into the next ones: it completed nothing, or little, and those after it have times in a queue and more
// completed than was offered.
func backlog(t *printedTable, rng *rand.Rand, zero bool) bool {
	var byRate []*cells
	for i := range t.rows {
		if t.rows[i].rate != "" {
			byRate = append(byRate, &t.rows[i])
		}
	}
	slices.SortStableFunc(byRate, func(a, b *cells) int {
		x, _, _ := number(a.rate)
		y, _, _ := number(b.rate)
		return cmpFloat(x, y)
	})
	i := rng.IntN(3)
	if zero {
		byRate[i].v = [5]string{"0.00 req/sec", "0.00 sec", "0.00 ms", "0.00 ms", "0.00 tokens/sec"}
		i++
	}
	wait := 20 + 40*rng.Float64()
	for n := 1 + rng.IntN(3); n > 0; n, i = n-1, i+1 {
		r := byRate[i]
		ttft, _, _ := number(r.v[colTTFT])
		latency, _, _ := number(r.v[colLatency])
		done, _, _ := number(r.v[colDone])
		output, _, _ := number(r.v[colOutput])
		more := 1.0
		if rng.IntN(2) == 0 {
			more = 1.1 + 0.8*rng.Float64()
		}
		r.v[colTTFT] = fmt.Sprintf("%.2f ms", ttft+1e3*wait)
		r.v[colLatency] = fmt.Sprintf("%.2f sec", latency+wait)
		r.v[colDone] = fmt.Sprintf("%.2f req/sec", done*more)
		r.v[colOutput] = fmt.Sprintf("%.2f tokens/sec", output*more)
		wait *= 0.3 + 0.4*rng.Float64()
	}
	return true
}

// clone copies tables.
func clone(tables []printedTable) []printedTable {
	all := slices.Clone(tables)
	for i := range all {
		all[i].rows = slices.Clone(all[i].rows)
	}
	return all
}

// corpusSetups reads a document.
func corpusSetups(t *testing.T, doc string, repaired bool) []setup.Setup {
	t.Helper()
	d, err := published.ParseText("doc.md", strings.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	var all []setup.Input
	for i := range d.Runs {
		all = append(all, setup.Input{Path: "doc.md", Run: &d.Runs[i]})
	}
	return setup.LoadWith(all, setup.Options{Repaired: repaired})
}

// tally counts what is concluded from damaged documents.
type tally struct {
	documents, first int // first: the configuration ranked first costs at most 10 % more than the best
	rates, near      int // near: within 10 %, or n/a with the reason
	absent           int // of near: n/a or a bound, with the reason
	headlines, wrong int
}

func (a *tally) String() string {
	share := func(n, of int) string {
		return fmt.Sprintf("%d of %d (%.1f %%)", n, of, 100*float64(n)/float64(max(of, 1)))
	}
	return fmt.Sprintf("first within 10 %% %s, rates %s (of them n/a or a bound with the reason %d), wrong headlines %s",
		share(a.first, a.documents), share(a.near, a.rates), a.absent, share(a.wrong, a.headlines))
}

// judge holds what is concluded from a damaged document against the clean one.
func (a *tally) judge(t *testing.T, c corpusCase, tables []printedTable, clean, damaged []setup.Setup) (bad []string) {
	a.documents++
	truth, got := ranked(clean, c.wish), ranked(damaged, c.wish)
	switch {
	case len(truth) == 0 && len(got) == 0:
		a.first++
	case len(truth) > 0 && len(got) > 0:
		i := slices.IndexFunc(truth, func(k Candidate) bool { return k.Name == got[0].Name })
		if i >= 0 && truth[i].Hour.Value() <= 1.1*truth[0].Hour.Value() {
			a.first++
		} else {
			bad = append(bad, fmt.Sprintf("first is %s at %.2f (%.2f/s), truly %s at %.2f (%.2f/s)", got[0].Name, got[0].Hour.Value(), got[0].Rate, truth[0].Name, truth[0].Hour.Value(), truth[0].Rate))
		}
	default:
		bad = append(bad, fmt.Sprintf("%d ranked, truly %d", len(got), len(truth)))
	}
	for i := range clean {
		if text(c.tables[i:i+1]) == text(tables[i:i+1]) {
			continue
		}
		a.rates++
		x, no1 := clean[i].Within(c.wish.Terms)
		y, no2 := damaged[i].Within(c.wish.Terms)
		doubted := len(damaged[i].LeftOut)+len(damaged[i].Marked) > 0
		switch {
		case no1 == nil && no2 == nil && math.Abs(y.Rate/x.Rate-1) <= 0.1, no1 != nil && no2 != nil:
			a.near++
		case doubted && (no2 != nil && (no2.Unknown || no2.Undecided || no2.Row == nil) || no2 == nil && no1 == nil && y.Doubted && y.Low.Value() <= 1.1*x.Rate && (!y.High.Known() || y.High.Value() >= 0.9*x.Rate)):
			a.near, a.absent = a.near+1, a.absent+1
		default:
			bad = append(bad, fmt.Sprintf("%s: rate %.2f (refused %v), truly %.2f (refused %v)", clean[i].Name, y.Rate, no2 != nil, x.Rate, no1 != nil))
		}
	}
	return append(bad, a.headlinesOf(t, clean, damaged)...)
}

func ranked(setups []setup.Setup, o Options) []Candidate {
	return Rank(setups, o)
}

// headlinesOf counts the ratios of outputs that a comparison states, and those that are off by more than a quarter.
func (a *tally) headlinesOf(t *testing.T, clean, damaged []setup.Setup) (bad []string) {
	t.Helper()
	truth := map[string]rundir.Number{}
	for i := range clean {
		truth[damaged[i].Name] = clean[i].Plateau.Output
		if clean[i].Plateau.MostOutput.Known() {
			truth[damaged[i].Name] = rundir.Exactly(math.Sqrt(clean[i].Plateau.Output.Value() * clean[i].Plateau.MostOutput.Value()))
		}
	}
	result, err := compare.Of(damaged, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range result.Factors {
		f := &result.Factors[i]
		names := map[string]string{}
		for _, m := range f.Members {
			names[m.Value] = m.Setup
		}
		for _, r := range f.Ratios {
			of, to := truth[names[r.Of]], truth[names[r.To]]
			if !of.Known() || !to.Known() || !r.Ratio.Known() && r.Bound == "" {
				continue
			}
			a.headlines++
			true := of.Value() / to.Value()
			low, high := r.Ratio.Value(), r.Ratio.Value()
			switch r.Bound {
			case compare.BoundLow:
				low, high = r.Low.Value(), math.Inf(1)
			case compare.BoundHigh:
				low, high = 0, r.High.Value()
			case compare.BoundRange:
				low, high = r.Low.Value(), r.High.Value()
			}
			if true*1.25 < low || true/1.25 > high {
				a.wrong++
				bad = append(bad, fmt.Sprintf("%s, %s: %s over %s is %.2f..%.2f, truly %.2f = %.2f / %.2f", f.What, f.Equal, r.Of, r.To, low, high, true, of.Value(), to.Value()))
			}
		}
	}
	return bad
}

// corpusFrom is the first seed of the corpus: `-corpus-from 100000 -statistics` measures documents that no rule was made for.
var corpusFrom = flag.Uint64("corpus-from", 0, "first seed of the documents of the corpus")

// TestCorpus measures what is concluded from damaged documents, and that clean ones have no findings.
func TestCorpus(t *testing.T) {
	base := corpusBase(t)
	n := simtest.SampleSize(25, 500)
	var plain, repaired tally
	byKind := map[string]*tally{}
	for seed := *corpusFrom; seed < *corpusFrom+uint64(n); seed++ {
		c := corpusDocument(base, seed)
		rng := rand.New(rand.NewPCG(seed, 7))
		tables := clone(c.tables)
		var kinds []string
		for want := 1 + rng.IntN(3); len(kinds) < want; {
			if k := slipNames[rng.IntN(len(slipNames))]; damage(tables, k, rng) {
				kinds = append(kinds, k)
			}
		}
		clean := corpusSetups(t, text(c.tables), false)
		found := plain.judge(t, c, tables, clean, corpusSetups(t, text(tables), false))
		repaired.judge(t, c, tables, clean, corpusSetups(t, text(tables), true))
		for _, k := range kinds {
			if byKind[k] == nil {
				byKind[k] = &tally{}
			}
			byKind[k].documents++
			if len(found) > 0 {
				byKind[k].wrong++
			}
		}
		if len(found) > 0 {
			t.Logf("%d (%s): %s", seed, strings.Join(kinds, ", "), strings.Join(found, "; "))
		}
	}
	for name, a := range map[string]*tally{"plain": &plain, "repaired": &repaired} {
		if 100*a.first < 98*a.documents || 100*a.near < 98*a.rates || 1000*a.wrong > a.headlines {
			t.Errorf("%s: %s", name, a)
		}
	}
	t.Logf("plain:    %s", &plain)
	t.Logf("repaired: %s", &repaired)
	for _, k := range slipNames {
		if a := byKind[k]; a != nil {
			t.Logf("%-18s %d documents, %d with a mistake", k, a.documents, a.wrong)
		}
	}
}

// TestCorpusClean: nothing is found in documents without slips.
func TestCorpusClean(t *testing.T) {
	base := corpusBase(t)
	for seed := *corpusFrom; seed < *corpusFrom+uint64(simtest.SampleSize(15, 100)); seed++ {
		setups := corpusSetups(t, text(corpusDocument(base, seed).tables), false)
		for i := range setups {
			for _, st := range setups[i].Run.Stages {
				for _, d := range st.Doubts {
					t.Errorf("%d: %s: %s: %s: %v", seed, setups[i].Name, st.Name, d.Rule, d.Note)
				}
			}
		}
	}
}
