package store

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"llmsweep/client/testkit"
	"llmsweep/sweep/rundir"
)

// put writes a file into a directory.
func put(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// record returns the record of a request that succeeded.
func record(stage string, seq int) *rundir.Record {
	return &rundir.Record{Stage: stage, Seq: seq, Due: rundir.Exactly(float64(seq)), Status: "ok"}
}

// Records are read from the part of the file that is their stage's, while the directory is written, which no other run
// takes.
func TestDir(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	d, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, stage := range []string{"a", "a", "b", "a", "c"} {
		if err := d.Append(record(stage, i)); err != nil {
			t.Fatal(err)
		}
	}
	for stage, want := range map[string][]int{"a": {0, 1, 3}, "b": {2}, "c": {4}, "d": nil} {
		var got []int
		for r, err := range d.Records(stage) { // flushed for the reader, although not closed
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

// The line that a killed process leaves is skipped, and one that is damaged is named.
func TestRecordsOfDamagedFiles(t *testing.T) {
	const first, second = `{"stage":"a","seq":0,"due":0,"status":"ok"}`, `{"stage":"a","seq":1,"due":1,"status":"ok"}`
	for name, c := range map[string]struct {
		content, fault string
		records        int
	}{
		"half a line": {first + "\n" + second + "\n" + `{"stage":"a","seq":2,"tu`, "", 2},
		"no record":   {first + "\nnonsense\n", rundir.RecordsFile + ":2:", 1},
		"nothing":     {"", "", 0},
		"a long line": {first[:len(first)-1] + strings.Repeat(" ", 2*readAhead) + "}\n" + second + "\n", "", 2},
	} {
		path, n := t.TempDir(), 0
		put(t, path, rundir.RecordsFile, c.content)
		var fault error
		for _, err := range Records(path) {
			if fault = err; err == nil {
				n++
			}
		}
		if n != c.records || (fault != nil) != (c.fault != "") || fault != nil && !strings.Contains(fault.Error(), c.fault) {
			t.Errorf("%s: %d records, want %d; %v, want %q", name, n, c.records, fault, c.fault)
		}
	}
}

func TestDamagedRuns(t *testing.T) {
	path := t.TempDir()
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "not a run directory") {
		t.Errorf("an empty directory: %v", err)
	}
	for _, content := range []string{"{", `{"schema":"x/v9"}`, `{"schema":7}`} {
		put(t, path, rundir.RunFile, content)
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), rundir.RunFile) {
			t.Errorf("%s: %v", content, err)
		}
	}
}

func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	d := newDir(OS{}, t.TempDir(), full, nil)
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

// Records are written within a second, without a further call.
func TestFlushEachSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, err := Create(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Append(record("a", 0)); err != nil {
			t.Fatal(err)
		}
		for after, want := range []bool{false, true} {
			time.Sleep(time.Duration(after) * flushEvery)
			synctest.Wait()
			info, err := os.Stat(filepath.Join(d.Path, rundir.RecordsFile))
			if err != nil || (info.Size() > 0) != want {
				t.Errorf("after %d of %v: %d bytes, %v", after, flushEvery, info.Size(), err)
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if err := d.Append(&rundir.Record{}); err == nil {
			t.Error("a closed directory takes records")
		}
	})
}

// fuzzFile tests that a file of any content gives a value or an error.
func fuzzFile(f *testing.F, name string, read func(path string) (ok bool), seeds ...string) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	path := f.TempDir()
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, b []byte) {
		put(t, path, name, string(b))
		if !read(path) {
			t.Fatal("neither a value nor an error")
		}
	}))
}

func FuzzRecords(f *testing.F) {
	fuzzFile(f, rundir.RecordsFile, func(path string) (ok bool) {
		ok = true
		for r, err := range Records(path) {
			ok = ok && (err != nil || r != nil)
		}
		return ok
	}, `{"stage":"a","seq":1,"turn":0,"due":1.5,"status":"ok","gaps_us":[1,2]}`+"\n", "{}\n{\"due\":{\"over\":3}}\nnull\n")
}

func FuzzOpen(f *testing.F) {
	b, err := json.Marshal(rundir.Run{Schema: rundir.Schema,
		Stages: []rundir.Stage{{Name: "x", Latency: rundir.Dist{N: 1, P50: rundir.Over(2)}}}})
	if err != nil {
		f.Fatal(err)
	}
	fuzzFile(f, rundir.RunFile, func(path string) bool {
		run, err := Open(path)
		return err != nil || run != nil
	}, string(b))
}

// Readings are read back as they were written, and what the server does not tell stays absent.
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
}

// Lines that are appended may be compressed afterwards. The one that a killed process leaves is skipped.
func TestAppendedFiles(t *testing.T) {
	const lines = `{"stage":"a","item":"x","seq":0,"said":"a"}
{"stage":"a","item":"y","seq":1,"said":"b"}
`
	var b strings.Builder
	z := gzip.NewWriter(&b)
	z.Write([]byte(lines))
	z.Close()
	const file, packed = rundir.GradesFile, rundir.GradesFile + ".gz"
	for _, c := range []struct {
		name, content, want string
		broken              bool
	}{
		{file, lines, "ab", false}, {file, lines + `{"stage":"a","sa`, "ab", false}, {file, lines + "not JSON\n", "ab", true},
		{packed, b.String(), "ab", false}, {packed, lines, "", true}, {"another", "", "", false},
	} {
		dir, texts, broken := t.TempDir(), "", false
		put(t, dir, c.name, c.content)
		for g, err := range Grades(dir) {
			if broken = err != nil; !broken {
				texts += g.Said
			}
		}
		if texts != c.want || broken != c.broken {
			t.Errorf("%s, %q: %q, a fault: %v", c.name, c.content, texts, broken)
		}
	}
}

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
