package twin

import (
	"os"
	"path/filepath"
	"testing"

	"llmsweep/sweep/simtest"
)

// TestShow prints the twin of a random server.
func TestShow(t *testing.T) {
	k := simtest.Random(7001)
	tw, err := Fit(swept(t, k.Server, k.Work.Prompt, k.Work.Output))
	if err != nil {
		t.Fatal(err)
	}
	b, err := tw.Encode()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%v\n%s", k, b)
	path := filepath.Join(t.TempDir(), "twin.yaml")
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	again, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(again.Config())
}
