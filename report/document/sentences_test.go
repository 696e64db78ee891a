package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"llmsweep/report/choose"
	"llmsweep/report/compare"
	"llmsweep/report/inputs"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/slo"
)

// plainNumber is a number of a sentence, and not one in a name, such as that of a model, a GPU or a file.
var plainNumber = regexp.MustCompile(`(?:^|[\s(~：，（、。至到对为]|-)(\d+(?:\.\d+)?)`)

// numbersOf returns the numbers of a text, smallest first, so that two languages, which differ in order, can be
// compared.
func numbersOf(text string) (all []string) {
	for _, m := range regexp.MustCompile(`\d+(?:\.\d+)?`).FindAllString(text, -1) {
		all = append(all, strings.TrimRight(m, "."))
	}
	slices.Sort(all)
	return slices.Compact(all) // a language may name one twice
}

// stands reports whether a printed number is one of those given, rounded as it is printed.
func stands(printed string, known []float64) bool {
	v, err := strconv.ParseFloat(printed, 64)
	_, decimals, _ := strings.Cut(printed, ".")
	half := 0.51 * math.Pow10(-len(decimals))
	return err == nil && slices.ContainsFunc(known, func(g float64) bool { return math.Abs(math.Abs(g)-v) <= half })
}

// knownNumbers returns the numbers of values in JSON and of the cells of tables, in their own units and as shares in
// per cent.
func knownNumbers(t *testing.T, sections []table.Section, values ...any) (all []float64) {
	t.Helper()
	var b bytes.Buffer
	for _, v := range values {
		if err := json.NewEncoder(&b).Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range sections {
		for _, row := range s.Table.Rows {
			for _, cell := range row {
				b.WriteString(" " + cell.In(lang.English))
			}
		}
	}
	for _, n := range regexp.MustCompile(`\d+(?:\.\d+)?(?:e-?\d+)?`).FindAllString(b.String(), -1) {
		v, err := strconv.ParseFloat(n, 64)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v, 1000*v, 100*v, 100*(v-1))
	}
	return all
}

// TestSentencesOfDocuments: of published documents, each number in a sentence of a comparison or a choice stands in its
// tables or its JSON, and the Chinese sentence has the numbers of the English one.
func TestSentencesOfDocuments(t *testing.T) {
	sentences, numbers := 0, 0
	check := func(file string, lines []lang.Text, known []float64) {
		for _, line := range lines {
			en, zh := line.In(lang.English), line.In(lang.Chinese)
			if sentences++; !slices.Equal(numbersOf(en), numbersOf(zh)) {
				t.Errorf("%s: numbers differ by language:\n%s\n%s", file, en, zh)
			}
			for _, m := range plainNumber.FindAllStringSubmatch(en, -1) {
				if numbers++; !stands(m[1], known) {
					t.Errorf("%s: %s stands nowhere: %s", file, m[1], en)
				}
			}
		}
	}
	for _, file := range []string{"guidellm-tables.md", "scaling-a10.txt", "serving-blocks.txt", "stress-tables.txt",
		"../../../examples/document/en/report.md"} {
		read, err := inputs.Read(&bytes.Buffer{}, []string{"../published/testdata/" + file})
		if err != nil {
			t.Fatal(err)
		}
		setups := setup.Load(read)
		c, err := compare.Of(setups, false)
		if err != nil {
			t.Fatal(err)
		}
		sections := c.Sections(1)
		known := knownNumbers(t, sections, c)
		check(file, c.Answer(), known)
		for _, s := range sections {
			check(file, s.Lines, known)
		}
		terms, err := slo.ParseAll([]string{"ttft:mean<200ms", "itl:mean<100ms"})
		if err != nil {
			t.Fatal(err)
		}
		all, err := choose.Of(setups, choose.Options{Terms: terms, Demand: choose.Demand{Amount: 10},
			Prices: choose.Prices{"L20": 1.2, "A100": 2.4, "A10": 0.8}, Headroom: 0.2})
		if err != nil {
			t.Log(fmt.Errorf("%s: no choice: %w", file, err))
			continue
		}
		for i := range all {
			sections := all[i].Sections(1)
			known := append(knownNumbers(t, sections, all), 20, 730, 10)
			for _, k := range all[i].Ranked { // what one replica fewer serves, with the headroom kept free
				known = append(known, math.Floor(float64(k.Replicas-1)*k.Rate*(1-0.2)*100)/100)
			}
			check(file, sections[0].Lines, known)
		}
	}
	t.Logf("%d sentences with %d numbers", sentences, numbers)
}
