package rundir

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

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var figures = cmp.AllowUnexported(Number{})

func anyNumber(t *rapid.T, name string) Number {
	switch rapid.IntRange(0, 2).Draw(t, name+" kind") {
	case 0:
		return Number{}
	case 1:
		return Over(rapid.Float64Range(0, 1e6).Draw(t, name))
	}
	return Exactly(rapid.Float64Range(-1e6, 1e6).Draw(t, name))
}

func TestNumberSurvivesJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := struct {
			F Number `json:"f,omitzero"`
			G Number `json:"g"`
			D Dist   `json:"d"`
		}{F: anyNumber(t, "f"), G: anyNumber(t, "g")}
		in.D.N = 3
		for _, f := range in.D.Numbers() {
			*f.Number = anyNumber(t, f.Name)
		}
		out := in
		out.F, out.G, out.D = Exactly(1), Exactly(2), Dist{P99: Exactly(3)} // must be overwritten
		b, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		if in.F.IsZero() {
			out.F = Number{}
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
	seconds := func(name string) Number {
		if !rapid.Bool().Draw(t, name+" known") {
			return Number{}
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
	d := newDir(t.TempDir(), full)
	defer d.Close()
	if err := d.Append(&Record{Stage: strings.Repeat("x", 1<<17), Status: "ok"}); err != nil {
		t.Fatal(err) // not written yet
	}
	for what, err := range map[string]error{"flush": d.Flush(), "append": d.Append(&Record{}), "close": d.Close()} {
		if err == nil || !strings.Contains(err.Error(), RecordsFile) || !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s on a full disk: %v", what, err)
		}
	}
}

// Whatever the parser of our own makes of a line, encoding/json makes the same.
func FuzzParse(f *testing.F) {
	for _, line := range []string{
		`{"stage":"a","seq":1,"turn":0,"due":1.5,"sent":-0.25,"status":"ok","gaps_us":[1,-2],"counts":[1,2,3]}`,
		`{"due":00}`, `{"due":1.}`, `{"due":1e3}`, `{"due":{"over":3}}`, `{"seq":1.0}`, `{"gaps_us":[]}`, `{"gaps_us":[01]}`,
		`{"counts":[4294967296]}`, `{"due":9007199254740993.5}`, `{"stage":"\u0041"}`, `{"seq":1,"seq":2}`, `{} `, `{"Seq":3}`,
		`{"gaps_us":[1,2],"gaps_us":[3]}`, `{"status":"ok","due":0.000000001}`, `{"seq":-0}`, `null`, `{"seq":1}}`, `{"due":-0}`, `{"due":0.12345678901}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var p parser
		for range 2 { // the second time strings are known already
			got, err := p.record(line)
			want := &Record{}
			if wrong := json.Unmarshal(line, want); (err == nil) != (wrong == nil) {
				t.Fatalf("%s: %v, encoding/json says %v", line, err, wrong)
			}
			if diff := cmp.Diff(want, got, figures); err == nil && diff != "" {
				t.Fatalf("%s: %s", line, diff)
			}
		}
	})
}

// What is written is read by the parser of our own, and not left to encoding/json.
func TestTheParserKnowsWhatIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyRecord(t)
		in.Stage, in.Error, in.Message, in.TokenSource = "a", "timeout", "no answer", "server"
		in.Counts[0] = -1
		p := parser{line: in.appendJSON(nil)}
		var out Record
		if !p.object(&out) {
			t.Fatalf("stops at %s", p.line[p.at:])
		}
		if diff := cmp.Diff(in, out, figures); diff != "" {
			t.Fatal(diff)
		}
	})
}

// A stage's records are read from its part of the file, which a later stage does not lengthen.
func TestEachStageHasItsPart(t *testing.T) {
	d, err := Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for i, stage := range []string{"a", "a", "b", "a", "c"} {
		if err := d.Append(&Record{Stage: stage, Seq: i, Due: Exactly(0), Status: "ok"}); err != nil {
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

// What was appended is on disk within a second or so, though nobody asks and nothing follows.
func TestRecordsAreFlushedEachSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := &kept{}
		d := newDir("x", file)
		if err := d.Append(&Record{Stage: "a", Due: Exactly(0), Status: "ok"}); err != nil {
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
		if err := d.Append(&Record{}); err == nil {
			t.Error("a closed directory takes records")
		}
	})
}

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

func (k *kept) Close() error {
	k.shut = true
	return nil
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

func BenchmarkRecords(b *testing.B) {
	path := b.TempDir()
	d, err := Create(path)
	if err != nil {
		b.Fatal(err)
	}
	r := &Record{
		Stage: "poisson@10.00", Due: Exactly(12.5), Sent: Exactly(12.500012), FirstToken: Exactly(12.6), LastToken: Exactly(14),
		End: Exactly(14.0001), Status: "ok", AskedTokens: 128, PromptTokens: Exactly(512), OutputTokens: Exactly(128),
		TokenSource: "server", GapsUS: slices.Repeat([]int64{11023}, 127),
	}
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
