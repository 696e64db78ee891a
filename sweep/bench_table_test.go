package sweep

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

// writeBench writes a line of JSON for each sweep, in an order that does not depend on which ended first.
func writeBench(t *testing.T, path string, lines []*benchLine) {
	slices.SortStableFunc(lines, func(a, b *benchLine) int {
		return cmp.Or(cmp.Compare(a.Set, b.Set), cmp.Compare(a.Budget, b.Budget), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Seed, b.Seed))
	})
	var text bytes.Buffer
	for _, l := range lines {
		if err := json.NewEncoder(&text).Encode(l); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readBench(t *testing.T, path string) (lines []*benchLine) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		l := &benchLine{}
		if err := json.Unmarshal(line, l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}

const benchHead = "| set | budget | | located | hold | bounds true | worst miss | rows | minutes | needed / announced " +
	"| run it at: TTFT | measured | TTFT | TTFT, marked | done | done, marked | paired |\n" +
	"|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"

// benchTable returns a table of a row for each set and budget, or for each name in a set. Where there are lines of
// another revision, theirs come first, and what both swept is compared.
func benchTable(before, after []*benchLine, each bool) string {
	group := func(l *benchLine) string {
		name := l.Set
		if each {
			name += ": " + l.Name
		}
		return name + " | " + l.Budget
	}
	var order []string
	groups := [2]map[string][]*benchLine{{}, {}}
	for i, lines := range [][]*benchLine{after, before} {
		for _, l := range lines {
			key := group(l)
			if !slices.Contains(order, key) {
				order = append(order, key)
			}
			groups[i][key] = append(groups[i][key], l)
		}
	}
	slices.SortStableFunc(order, func(a, b string) int { // budgets by their length, none last
		setA, budgetA, _ := strings.Cut(a, " | ")
		setB, budgetB, _ := strings.Cut(b, " | ")
		return cmp.Or(cmp.Compare(setA, setB), cmp.Compare(minutesOf(budgetA), minutesOf(budgetB)))
	})
	if len(order) > 1 {
		const all = "all | "
		order = append(order, all)
		groups[0][all], groups[1][all] = after, before
	}
	text := benchHead
	for _, key := range order {
		was, is := groups[1][key], groups[0][key]
		if len(was) > 0 {
			text += fmt.Sprintf("| %s | before | %s | |\n", key, benchCells(was))
		}
		if len(is) > 0 {
			text += fmt.Sprintf("| %s | after | %s | %s |\n", key, benchCells(is), paired(was, is))
		}
	}
	return text
}

func minutesOf(budget string) float64 {
	var minutes float64
	if _, err := fmt.Sscanf(budget, "%fm", &minutes); err != nil {
		return math.Inf(1)
	}
	return minutes
}

// benchCells returns what bench.md says of each column.
func benchCells(lines []*benchLine) string {
	located, held, bounds, measured, at := 0, 0, 0, 0, 0
	worst, rows, means, minutes := 0.0, 0.0, 0.0, 0.0
	var ratios, times []float64
	var ttft, done [2][]float64 // of rows without and with a mark
	for _, l := range lines {
		switch {
		case l.located():
			located++
			if l.holds() {
				held++
			}
		case l.holds():
			bounds++
		}
		worst, minutes = max(worst, l.miss()), minutes+l.Minutes
		rows, means = rows+float64(l.Rows), means+float64(l.Means)
		if l.Announced > 0 {
			ratios = append(ratios, l.Minutes/l.Announced)
		}
		if l.At != nil {
			at++
			times = append(times, l.At.ttftError())
			if l.Measured {
				measured++
			}
		}
		for _, r := range l.Loads {
			i := 0
			if r.Marked {
				i = 1
			}
			ttft[i], done[i] = append(ttft[i], r.ttftError()), append(done[i], math.Abs(r.Done/r.Rate-1))
		}
	}
	n := len(lines)
	return strings.Join([]string{
		fmt.Sprintf("%d of %d", located, n), fmt.Sprintf("%d", held), fmt.Sprintf("%d of %d", bounds, n-located),
		fmt.Sprintf("%.1f %%", 100*worst), fmt.Sprintf("%.1f (%.1f)", rows/float64(n), means/float64(n)), fmt.Sprintf("%.1f", minutes/float64(n)),
		fmt.Sprintf("%.2f/%.2f", quantile(ratios, 0.5), quantile(ratios, 0.9)), errorCell(times),
		fmt.Sprintf("%d of %d", measured, at), errorCell(ttft[0]), errorCell(ttft[1]), errorCell(done[0]), errorCell(done[1]),
	}, " | ")
}

func (r *benchRow) ttftError() float64 {
	if r.TrueTTFT == 0 {
		return 1
	}
	return math.Abs(r.TTFT/r.TrueTTFT - 1)
}

// errorCell returns the median and the 90 % quantile of relative errors in percent, and how many there are.
func errorCell(errs []float64) string {
	if len(errs) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f/%.0f (%d)", 100*quantile(errs, 0.5), 100*quantile(errs, 0.9), len(errs))
}

// paired counts the sweeps whose answer became a rate that holds, and those whose answer is none any more.
func paired(before, after []*benchLine) string {
	type key struct {
		set, name, budget string
		seed              uint64
	}
	good := map[key]bool{}
	for _, l := range before {
		good[key{l.Set, l.Name, l.Budget, l.Seed}] = l.located() && l.holds()
	}
	gained, lost := 0, 0
	for _, l := range after {
		was, ok := good[key{l.Set, l.Name, l.Budget, l.Seed}]
		switch is := l.located() && l.holds(); {
		case ok && is && !was:
			gained++
		case ok && was && !is:
			lost++
		}
	}
	if len(before) == 0 {
		return ""
	}
	return fmt.Sprintf("+%d -%d", gained, lost)
}
