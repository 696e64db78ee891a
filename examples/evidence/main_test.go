package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTable(t *testing.T) {
	e, err := read(strings.NewReader(`{"Action":"start","Package":"llmsweep/sweep"}
{"Action":"attr","Package":"llmsweep/sweep","Test":"TestCover","Key":"claim","Value":"intervals | 93 % | 95 %"}
{"Action":"attr","Package":"llmsweep/sweep","Test":"TestCover","Key":"other","Value":"x"}
{"Action":"output","Package":"llmsweep/sweep","Test":"TestCover","Output":"too few\n"}
{"Action":"fail","Package":"llmsweep/sweep","Test":"TestCover","Elapsed":90}
{"Action":"attr","Package":"llmsweep/pair","Test":"TestSame","Key":"claim","Value":"pairs | < 7 % | 5 %"}
{"Action":"pass","Package":"llmsweep/pair","Test":"TestSame","Elapsed":30}
`), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	earlier := e.earlierRows(columns + `| pair | pairs | < 7 % | 9 % | TestSame passed | 0.5 | old |
| sweep | budgets | 1 % | 0 % | TestBudgets passed | 3.0 | old |
`)
	var out bytes.Buffer
	if err := e.write(&out, "abcdef0123456789", earlier); err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(out.String(), columns)
	if diff := cmp.Diff(`| pair | pairs | < 7 % | 5 % | TestSame passed | 0.5 | abcdef012345 |
| sweep | budgets | 1 % | 0 % | TestBudgets passed | 3.0 | old |
| sweep | intervals | 93 % | 95 % | TestCover **failed** | 1.5 | abcdef012345 |
`, table); diff != "" {
		t.Error(diff)
	}
	if err := e.err(); err == nil || err.Error() != "failed: sweep TestCover" {
		t.Error(err)
	}
}
