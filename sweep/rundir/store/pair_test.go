package store

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"llmsweep/sweep/rundir"
)

func TestPairFile(t *testing.T) {
	dir := t.TempDir()
	if _, ok, err := OpenPair(dir); ok || err != nil {
		t.Errorf("nothing is a pair: %v, %v", ok, err)
	}
	want := &rundir.Pair{
		Schema: rundir.PairSchema, State: rundir.Complete, Orders: []string{"ABBA", "BAAB"},
		Loads: []rundir.PairLoad{{Key: "50", Name: "poisson@4.00", Kind: "poisson", Rate: rundir.Exactly(4), Opening: 2.5,
			Window: 10}},
	}
	if err := SavePair(dir, want); err != nil {
		t.Fatal(err)
	}
	got, ok, err := OpenPair(dir)
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(rundir.Number{})); !ok || err != nil || diff != "" {
		t.Errorf("%v, (-written +read):\n%s", err, diff)
	}
	for text, says := range map[string]string{"{": "damaged", `{"schema":"llmsweep.pair/v9"}`: "v9"} {
		put(t, dir, rundir.PairFile, text)
		if _, _, err := OpenPair(dir); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if FreePair(filepath.Join(dir, "x")) != filepath.Join(dir, "x") || FreePair(dir) != dir+"-2" {
		t.Error("a free name is not free")
	}
}
