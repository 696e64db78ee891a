package store

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"llmsweep/sweep/rundir"
)

// TestGradesMayBeCompressed: run directories that are kept are smaller.
func TestGradesMayBeCompressed(t *testing.T) {
	const lines = `{"stage":"a","item":"x","seq":0,"said":"a"}
{"stage":"a","item":"y","seq":1,"said":"b"}
`
	read := func(dir string) (texts string, err error) {
		for a, e := range Grades(dir) {
			if e != nil {
				return texts, e
			}
			texts += a.Said
		}
		return texts, nil
	}
	plain, packed, broken := t.TempDir(), t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(plain, rundir.GradesFile), []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(packed, rundir.GradesFile+".gz"))
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	z.Write([]byte(lines))
	if z.Close() != nil || f.Close() != nil {
		t.Fatal("not written")
	}
	if err := os.WriteFile(filepath.Join(broken, rundir.GradesFile+".gz"), []byte(lines), 0o644); err != nil {
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
