package rundir

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var figures = cmp.AllowUnexported(Figure{})

func anyFigure(t *rapid.T, name string) Figure {
	switch rapid.IntRange(0, 2).Draw(t, name+" kind") {
	case 0:
		return Figure{}
	case 1:
		return Over(rapid.Float64Range(0, 1e6).Draw(t, name))
	}
	return Exactly(rapid.Float64Range(-1e6, 1e6).Draw(t, name))
}

func TestFigureSurvivesJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := struct {
			F Figure `json:"f,omitzero"`
			G Figure `json:"g"`
			D Dist   `json:"d"`
		}{F: anyFigure(t, "f"), G: anyFigure(t, "g")}
		in.D.N = 3
		for _, f := range in.D.Figures() {
			*f.Figure = anyFigure(t, f.Name)
		}
		out := in
		out.F, out.G, out.D = Exactly(1), Exactly(2), Dist{P99: Exactly(3)} // must be overwritten
		b, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		if in.F.IsZero() {
			out.F = Figure{}
		}
		if err := json.Unmarshal(b, &out); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		if diff := cmp.Diff(in, out, figures); diff != "" {
			t.Fatalf("%s\n%s", diff, b)
		}
	})
}

func TestALowerBoundIsNoNumber(t *testing.T) {
	b, err := json.Marshal(Dist{N: 2, P99: Over(9.8), Mean: Exactly(1.5)})
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Mean float64  `json:"mean"`
		P99  *float64 `json:"p99"`
		Over map[string]float64
	}
	if err := json.Unmarshal(b, &d); err != nil || d.P99 != nil || d.Over["p99"] != 9.8 || d.Mean != 1.5 {
		t.Errorf("%s: %+v, %v", b, d, err)
	}
}

func anyRecord(t *rapid.T) Record {
	text := rapid.String()
	seconds := func(name string) Figure {
		if !rapid.Bool().Draw(t, name+" known") {
			return Figure{}
		}
		return Exactly(float64(rapid.Int64Range(0, 1e13).Draw(t, name)) / 1e9)
	}
	return Record{
		Stage: text.Draw(t, "stage"), Seq: rapid.IntRange(0, 1e9).Draw(t, "seq"), Turn: rapid.IntRange(0, 9).Draw(t, "turn"),
		Due: Exactly(1.25), Queued: seconds("queued"), Sent: seconds("sent"), Headers: seconds("headers"),
		FirstToken: seconds("first"), FirstAnswer: seconds("answer"), LastToken: seconds("last"), End: seconds("end"),
		Dial: seconds("dial"), Status: "ok", Error: text.Draw(t, "error"), Message: text.Draw(t, "message"),
		HTTP: rapid.IntRange(0, 599).Draw(t, "http"), AskedTokens: rapid.IntRange(0, 1e6).Draw(t, "asked"),
		PromptTokens: seconds("prompt"), OutputTokens: seconds("output"), TokenSource: text.Draw(t, "source"),
		GapsUS: rapid.SliceOfN(rapid.Int64Range(0, 1e9), 1, 50).Draw(t, "gaps"),
		Counts: rapid.SliceOfN(rapid.Int32Range(0, 99), 1, 5).Draw(t, "counts"),
	}
}

// The encoder of our own must write what encoding/json reads back the same.
func TestRecordSurvivesJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyRecord(t)
		b := in.appendJSON(nil)
		var out Record
		if err := json.Unmarshal(b, &out); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		if diff := cmp.Diff(in, out, figures); diff != "" {
			t.Fatalf("%s\n%s", diff, b)
		}
	})
}

func collect(t *testing.T, path string) []*Record {
	t.Helper()
	var all []*Record
	for r, err := range Records(path) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

func TestDirIsWrittenAsTheRunGoes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	d, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := d.Append(&Record{Stage: []string{"a", "b"}[i%2], Seq: i, Due: Exactly(float64(i)), Status: "ok"}); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for r, err := range d.Records("a") { // flushed for the reader, though nobody closed it
		if err != nil || r.Stage != "a" {
			t.Fatal(r, err)
		}
		n++
	}
	if n != 2 {
		t.Errorf("%d records of stage a, want 2", n)
	}
	if err := d.Save(&Run{Schema: Schema, State: Running}); err != nil {
		t.Fatal(err)
	}
	if run, err := Open(path); err != nil || run.State != Running {
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

func TestAKilledProcessLeavesAReadableFile(t *testing.T) {
	path := t.TempDir()
	whole := []string{`{"stage":"a","seq":0,"turn":0,"due":0,"status":"ok"}`, `{"stage":"a","seq":1,"turn":0,"due":1,"status":"ok"}`}
	half := `{"stage":"a","seq":2,"tu`
	if err := os.WriteFile(filepath.Join(path, RecordsFile), []byte(strings.Join(whole, "\n")+"\n"+half), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := collect(t, path); len(got) != 2 {
		t.Errorf("%d records, want the 2 whole ones", len(got))
	}
}

func TestADamagedFileIsNamedByItsLine(t *testing.T) {
	path := t.TempDir()
	if err := os.WriteFile(filepath.Join(path, RecordsFile), []byte("{\"stage\":\"a\",\"status\":\"ok\"}\nnonsense\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var last error
	for _, err := range Records(path) {
		last = err
	}
	if last == nil || !strings.Contains(last.Error(), RecordsFile+":2:") {
		t.Errorf("error %v does not name line 2", last)
	}
	for name, content := range map[string]string{"no JSON": "{", "another schema": `{"schema":"x/v9"}`, "a number for a string": `{"schema":7}`} {
		if err := os.WriteFile(filepath.Join(path, RunFile), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), RunFile) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "no run directory") {
		t.Errorf("an empty directory: %v", err)
	}
}

func TestAFullDiskIsSaidOnceAndForAll(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	d, err := Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d.file.Close()
	d.file = full
	d.buf.Reset(full)
	if err := d.Append(&Record{Stage: strings.Repeat("x", 1<<17), Status: "ok"}); err == nil {
		t.Error("a full disk went unnoticed")
	}
	if err := d.Append(&Record{}); err == nil || !strings.Contains(err.Error(), RecordsFile) {
		t.Errorf("the error is not kept: %v", err)
	}
}

func FuzzRecords(f *testing.F) {
	f.Add([]byte(`{"stage":"a","seq":1,"turn":0,"due":1.5,"status":"ok","gaps_us":[1,2]}` + "\n"))
	f.Add([]byte("{}\n{\"due\":{\"over\":3}}\nnull\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := t.TempDir()
		if err := os.WriteFile(filepath.Join(path, RecordsFile), b, 0o644); err != nil {
			t.Fatal(err)
		}
		for r, err := range Records(path) {
			if err == nil && r == nil {
				t.Fatal("neither a record nor an error")
			}
		}
	})
}

func FuzzOpen(f *testing.F) {
	b, err := json.Marshal(Run{Schema: Schema, Stages: []Stage{{Name: "x", Latency: Dist{N: 1, P50: Over(2)}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		path := t.TempDir()
		if err := os.WriteFile(filepath.Join(path, RunFile), b, 0o644); err != nil {
			t.Fatal(err)
		}
		if run, err := Open(path); err == nil && run == nil {
			t.Fatal("neither a run nor an error")
		}
	})
}

func TestMemoryKeepsCopies(t *testing.T) {
	m := &Memory{}
	r := &Record{Stage: "a", GapsUS: []int64{1, 2}, Status: "ok"}
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
	r := &Record{
		Stage: "poisson@10.00", Due: Exactly(12.5), Sent: Exactly(12.500012), FirstToken: Exactly(12.6), LastToken: Exactly(14),
		End: Exactly(14.0001), Status: "ok", AskedTokens: 128, PromptTokens: Exactly(512), OutputTokens: Exactly(128),
		TokenSource: "server", GapsUS: make([]int64, 127),
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := d.Append(r); err != nil {
			b.Fatal(err)
		}
	}
}
