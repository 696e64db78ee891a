package store

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client/testkit"
	"llmsweep/sweep/rundir"
)

func collect(t *testing.T, path string) []*rundir.Record {
	t.Helper()
	var all []*rundir.Record
	for r, err := range Records(path) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

func TestDir(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	d, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := d.Append(&rundir.Record{Stage: []string{"a", "b"}[i%2], Seq: i, Due: rundir.Exactly(float64(i)),
			Status: "ok"}); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for r, err := range d.Records("a") { // flushed for the reader, although not closed
		if err != nil || r.Stage != "a" {
			t.Fatal(r, err)
		}
		n++
	}
	if n != 2 {
		t.Errorf("%d records of stage a, want 2", n)
	}
	if err := d.Save(&rundir.Run{Schema: rundir.Schema, State: rundir.Running}); err != nil {
		t.Fatal(err)
	}
	if run, err := Open(path); err != nil || run.State != rundir.Running {
		t.Errorf("%+v, %v", run, err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(path); err == nil || !strings.Contains(err.Error(), "--out") {
		t.Errorf("a second run in %s: %v", path, err)
	}
	if got := Free(path); got != path+"-2" {
		t.Errorf("the next free directory is %s", got)
	}
}

func TestTruncatedLastLine(t *testing.T) {
	path := t.TempDir()
	whole := []string{`{"stage":"a","seq":0,"turn":0,"due":0,"status":"ok"}`,
		`{"stage":"a","seq":1,"turn":0,"due":1,"status":"ok"}`}
	half := `{"stage":"a","seq":2,"tu`
	if err := os.WriteFile(filepath.Join(path, rundir.RecordsFile), []byte(strings.Join(whole, "\n")+"\n"+half),
		0o644); err != nil {
		t.Fatal(err)
	}
	if got := collect(t, path); len(got) != 2 {
		t.Errorf("%d records, want the 2 whole ones", len(got))
	}
}

func TestDamagedFiles(t *testing.T) {
	path := t.TempDir()
	if err := os.WriteFile(filepath.Join(path, rundir.RecordsFile),
		[]byte("{\"stage\":\"a\",\"status\":\"ok\"}\nnonsense\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var last error
	for _, err := range Records(path) {
		last = err
	}
	if last == nil || !strings.Contains(last.Error(), rundir.RecordsFile+":2:") {
		t.Errorf("error %v does not name line 2", last)
	}
	for name, content := range map[string]string{"no JSON": "{", "another schema": `{"schema":"x/v9"}`,
		"a number for a string": `{"schema":7}`} {
		if err := os.WriteFile(filepath.Join(path, rundir.RunFile), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), rundir.RunFile) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "not a run directory") {
		t.Errorf("an empty directory: %v", err)
	}
}

func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	d := start(OS{}, t.TempDir(), full, nil)
	defer d.Close()
	if err := d.Append(&rundir.Record{Stage: strings.Repeat("x", 1<<17), Status: "ok"}); err != nil {
		t.Fatal(err) // not written yet
	}
	for what, err := range map[string]error{"flush": d.Flush(), "append": d.Append(&rundir.Record{}), "close": d.Close()} {
		if err == nil || !strings.Contains(err.Error(), rundir.RecordsFile) || !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s on a full disk: %v", what, err)
		}
	}
}

// TestPartsOfStages checks that a stage's records are read from its own part of the file.
func TestPartsOfStages(t *testing.T) {
	d, err := Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for i, stage := range []string{"a", "a", "b", "a", "c"} {
		if err := d.Append(&rundir.Record{Stage: stage, Seq: i, Due: rundir.Exactly(0), Status: "ok"}); err != nil {
			t.Fatal(err)
		}
	}
	for stage, want := range map[string][]int{"a": {0, 1, 3}, "b": {2}, "c": {4}, "d": nil} {
		var got []int
		for r, err := range d.Records(stage) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, r.Seq)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has the records %v, want %v", stage, got, want)
		}
	}
	if p := d.parts["b"]; p.line != 2 || p.to-p.from != d.at.to/5 {
		t.Errorf("b has %+v of %d bytes", p, d.at.to)
	}
}

// TestFlushEachSecond checks that records are written within a second, without a further call.
func TestFlushEachSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := &kept{}
		d := start(unchecked{}, "x", file, nil)
		if err := d.Append(&rundir.Record{Stage: "a", Due: rundir.Exactly(0), Status: "ok"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := file.len(); n != 0 {
			t.Errorf("%d bytes were written at once", n)
		}
		time.Sleep(flushEvery)
		synctest.Wait()
		if file.len() == 0 {
			t.Error("nothing is written after a second")
		}
		if err := d.Close(); err != nil || !file.shut {
			t.Errorf("not closed: %v", err)
		}
		if err := d.Append(&rundir.Record{}); err == nil {
			t.Error("a closed directory takes records")
		}
	})
}

// unchecked is a disk for files that are on none.
type unchecked struct{ OS }

func (unchecked) Check(File, string) error { return nil }

// kept is a file in memory.
type kept struct {
	mu   sync.Mutex
	b    []byte
	shut bool
}

func (k *kept) Write(b []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.b = append(k.b, b...)
	return len(b), nil
}

func (k *kept) len() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.b)
}

func (k *kept) Sync() error { return nil }

func (k *kept) Close() error {
	k.shut = true
	return nil
}

func FuzzRecords(f *testing.F) {
	f.Add([]byte(`{"stage":"a","seq":1,"turn":0,"due":1.5,"status":"ok","gaps_us":[1,2]}` + "\n"))
	f.Add([]byte("{}\n{\"due\":{\"over\":3}}\nnull\n"))
	path := f.TempDir()
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, b []byte) {
		if err := os.WriteFile(filepath.Join(path, rundir.RecordsFile), b, 0o644); err != nil {
			t.Fatal(err)
		}
		for r, err := range Records(path) {
			if err == nil && r == nil {
				t.Fatal("neither a record nor an error")
			}
		}
	}))
}

func FuzzOpen(f *testing.F) {
	b, err := json.Marshal(rundir.Run{Schema: rundir.Schema,
		Stages: []rundir.Stage{{Name: "x", Latency: rundir.Dist{N: 1, P50: rundir.Over(2)}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	path := f.TempDir()
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, b []byte) {
		if err := os.WriteFile(filepath.Join(path, rundir.RunFile), b, 0o644); err != nil {
			t.Fatal(err)
		}
		if run, err := Open(path); err == nil && run == nil {
			t.Fatal("neither a run nor an error")
		}
	}))
}

func TestMemoryKeepsCopies(t *testing.T) {
	m := &Memory{}
	r := &rundir.Record{Stage: "a", GapsUS: []int64{1, 2}, Status: "ok"}
	if err := m.Append(r); err != nil {
		t.Fatal(err)
	}
	r.GapsUS[0] = 99
	for kept := range m.Records("a") {
		if !slices.Equal(kept.GapsUS, []int64{1, 2}) {
			t.Errorf("the record was not copied: %v", kept.GapsUS)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	d, err := Create(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	r := busy()
	b.ReportAllocs()
	for b.Loop() {
		if err := d.Append(r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRecords(b *testing.B) {
	path := b.TempDir()
	d, err := Create(path)
	if err != nil {
		b.Fatal(err)
	}
	r := busy()
	for range b.N {
		if err := d.Append(r); err != nil {
			b.Fatal(err)
		}
	}
	if err := d.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	n := 0
	for _, err := range Records(path) {
		if err != nil {
			b.Fatal(err)
		}
		n++
	}
	if n != b.N {
		b.Fatalf("%d records of %d", n, b.N)
	}
}

// busy returns the record of an answer of 128 tokens.
func busy() *rundir.Record {
	return &rundir.Record{
		Stage: "poisson@10.00", Due: rundir.Exactly(12.5), Sent: rundir.Exactly(12.500012), FirstToken: rundir.Exactly(12.6),
		LastToken: rundir.Exactly(14),
		End:       rundir.Exactly(14.0001), Status: "ok", AskedTokens: 128, PromptTokens: rundir.Exactly(512),
		OutputTokens: rundir.Exactly(128),
		TokenSource:  "server", GapsUS: slices.Repeat([]int64{11023}, 127),
	}
}
