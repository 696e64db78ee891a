package store

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"llmsweep/sweep/rundir"
)

// TestCanariesMayBeCompressed: run directories that are kept are smaller.
func TestCanariesMayBeCompressed(t *testing.T) {
	const lines = `{"stage":"canaries","canary":0,"seq":0,"text":"a"}
{"stage":"canaries","canary":1,"seq":1,"text":"b"}
`
	read := func(dir string) (texts string, err error) {
		for a, e := range Canaries(dir) {
			if e != nil {
				return texts, e
			}
			texts += a.Text
		}
		return texts, nil
	}
	plain, packed, broken := t.TempDir(), t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(plain, rundir.CanariesFile), []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(packed, rundir.CanariesFile+".gz"))
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	z.Write([]byte(lines))
	if z.Close() != nil || f.Close() != nil {
		t.Fatal("not written")
	}
	if err := os.WriteFile(filepath.Join(broken, rundir.CanariesFile+".gz"), []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{plain, packed} {
		if texts, err := read(dir); texts != "ab" || err != nil {
			t.Errorf("%q, %v", texts, err)
		}
	}
	if texts, err := read(t.TempDir()); texts != "" || err != nil {
		t.Errorf("without a file: %q, %v", texts, err)
	}
	if _, err := read(broken); err == nil {
		t.Error("a file that is no gzip is read")
	}
}
