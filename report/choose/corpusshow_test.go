package choose

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestCorpusShow prints the damaged tables of a seed and what was found: CORPUS=12 go test -run CorpusShow -v.
func TestCorpusShow(t *testing.T) {
	for _, w := range strings.Fields(os.Getenv("CORPUS")) {
		seed, _ := strconv.ParseUint(w, 10, 64)
		c := corpusDocument(corpusBase(t), seed)
		rng := rand.New(rand.NewPCG(seed, 7))
		tables := clone(c.tables)
		var kinds []string
		for want := 1 + rng.IntN(3); len(kinds) < want; {
			if k := slipNames[rng.IntN(len(slipNames))]; damage(tables, k, rng) {
				kinds = append(kinds, k)
			}
		}
		fmt.Println("seed", seed, kinds, c.wish.Terms)
		setups := corpusSetups(t, text(tables), false)
		for i := range tables {
			if a, b := text(tables[i:i+1]), text(c.tables[i:i+1]); a != b {
				x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
				for j := range x {
					mark := "  "
					if x[j] != y[j] {
						mark = "* "
					}
					fmt.Println(mark + x[j])
					if x[j] != y[j] {
						fmt.Println("   was " + y[j])
					}
				}
				for _, o := range append(setups[i].LeftOut, setups[i].Marked...) {
					fmt.Println("  >>", o.Row, o.Rule, o.Grade, o.Why)
				}
				for _, st := range setups[i].Run.Stages {
					for _, d := range st.Doubts {
						fmt.Println("  ->", st.Name, d.Rule, d.Figures, d.Probably)
					}
				}
				l, no := setups[i].Within(c.wish.Terms)
				fmt.Println("  rate", l.Rate, no, "plateau", setups[i].Plateau)
			}
		}
	}
}
