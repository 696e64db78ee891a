package store

import (
	"os"
	"path/filepath"
	"testing"

	"llmsweep/sweep/rundir"

	"github.com/google/go-cmp/cmp"
)

// Readings are read back as they were written, what the server does not tell stays absent, and the line that a killed
// process leaves is skipped.
func TestReadings(t *testing.T) {
	d, err := Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	first := []rundir.Reading{{Stage: "a", At: 0.5, Running: rundir.Exactly(3), Waiting: rundir.Exactly(0)},
		{Stage: "a", At: 1.5, Running: rundir.Exactly(4), KVUsage: rundir.Exactly(0.25)}}
	second := []rundir.Reading{{Stage: "b", At: 0.1, Preemptions: rundir.Exactly(7)}}
	for _, some := range [][]rundir.Reading{first, nil, second} {
		if err := d.AppendReadings(some); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(d.Path, rundir.ReadingsFile)
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, append(b, `{"stage":"b","at`...), 0o644); err != nil {
		t.Fatal(err)
	}
	var got []rundir.Reading
	for r, err := range Readings(d.Path) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, *r)
	}
	if diff := cmp.Diff(append(first, second...), got, cmp.AllowUnexported(rundir.Number{})); diff != "" {
		t.Error(diff)
	}
	if err := os.WriteFile(name, []byte("not JSON\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, err := range Readings(d.Path) {
		if err == nil {
			t.Error("a damaged line is no error")
		}
	}
	for range Readings(t.TempDir()) {
		t.Error("a directory without readings has one")
	}
}
