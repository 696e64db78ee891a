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

	"llmsweep/client/mutated"
	"llmsweep/sweep/rundir/disk"
)

var numbers = cmp.AllowUnexported(Number{})

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
		if diff := cmp.Diff(in, out, numbers); diff != "" {
			t.Fatalf("%s\n%s", diff, b)
		}
	})
}

func TestLowerBoundInJSON(t *testing.T) {
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

// TestRecordSurvivesJSON reads what is written, by the generated code and by encoding/json.
func TestRecordSurvivesJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyRecord(t)
		b, err := in.appendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		out, err := parseRecord(b)
		if err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		if diff := cmp.Diff(&in, out, numbers); diff != "" {
			t.Fatalf("%s\n%s", diff, b)
		}
		var standard Record
		if err := json.Unmarshal(b, &standard); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		if diff := cmp.Diff(in, standard, numbers); diff != "" {
			t.Fatalf("%s\n%s", diff, b)
		}
	})
}

// TestRecordFormat fixes the bytes of two lines: readers in other languages depend on them.
func TestRecordFormat(t *testing.T) {
	for want, r := range map[string]Record{
		`{"stage":"a","seq":0,"turn":0,"due":0,"status":"error","error":"timeout"}`: {Stage: "a", Due: Exactly(0), Status: "error", Error: "timeout"},
		`{"stage":"poisson@1.00","seq":3,"turn":1,"due":1.25,"queued":0.5,"sent":1.750000001,"headers":2,"first_token":2.1,"first_answer":2.2,` +
			`"last_token":3,"end":3.5,"dial":0.001,"resent":1,"status":"ok","error":"e","message":"\"\\\n中","http":200,"asked_tokens":8,` +
			`"prompt_tokens":512,"output_tokens":8,"reasoning_tokens":2,"cached_tokens":256,"token_source":"server","finish":"stop",` +
			`"gaps_us":[1,-2,3],"counts":[1,2],"shared":[0],"read_delay":0.000001}`: {
			Stage: "poisson@1.00", Seq: 3, Turn: 1, Due: Exactly(1.25), Queued: Exactly(0.5), Sent: Exactly(1.7500000012), Headers: Exactly(2),
			FirstToken: Exactly(2.1), FirstAnswer: Exactly(2.2), LastToken: Exactly(3), End: Exactly(3.5), Dial: Exactly(0.001), Resent: 1,
			Status: "ok", Error: "e", Message: "\"\\\n中", HTTP: 200, AskedTokens: 8, PromptTokens: Exactly(512), OutputTokens: Exactly(8),
			ReasoningTokens: Exactly(2), CachedTokens: Exactly(256), TokenSource: "server", Finish: "stop",
			GapsUS: []int64{1, -2, 3}, Counts: []int32{1, 2}, Shared: []int32{0}, ReadDelay: Exactly(0.000001),
		},
	} {
		got, err := r.appendJSON(nil)
		if err != nil || string(got) != want {
			t.Errorf("%v\n%s\n%s", err, got, want)
		}
	}
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

func TestDir(t *testing.T) {
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
	for r, err := range d.Records("a") { // flushed for the reader, although not closed
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

func TestTruncatedLastLine(t *testing.T) {
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

func TestDamagedFiles(t *testing.T) {
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
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "not a run directory") {
		t.Errorf("an empty directory: %v", err)
	}
}

func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	d := start(disk.OS{}, t.TempDir(), full, nil)
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

// FuzzParse checks that a line that can be read can be written, and then reads the same.
func FuzzParse(f *testing.F) {
	for _, line := range []string{
		`{"stage":"a","seq":1,"turn":0,"due":1.5,"sent":-0.25,"status":"ok","gaps_us":[1,-2],"counts":[1,2,3]}`,
		`{"due":00}`, `{"due":1.}`, `{"due":1e3}`, `{"due":{"over":3}}`, `{"seq":1.0}`, `{"gaps_us":[]}`, `{"gaps_us":[01]}`,
		`{"counts":[4294967296]}`, `{"due":9007199254740993.5}`, `{"stage":"\u0041"}`, `{"seq":1,"seq":2}`, `{} `, `{"Seq":3}`,
		`{"gaps_us":[1,2],"gaps_us":[3]}`, `{"status":"ok","due":0.000000001}`, `{"seq":-0}`, `null`, `{"seq":1}}`, `{"due":-0}`, `{"due":0.12345678901}`,
		`{"due":"1.5"}`, `{"due":null,"sent":true}`, `{"later":{"a":[1,{"b":null}]},"seq":4}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(mutated.With(func(t *testing.T, line []byte) {
		first, err := parseRecord(line)
		if err != nil {
			return
		}
		written, err := first.appendJSON(nil)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		again, err := parseRecord(written)
		if err != nil {
			t.Fatalf("%s: %s: %v", line, written, err)
		}
		if written, err = again.appendJSON(nil); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		third, err := parseRecord(written)
		if diff := cmp.Diff(again, third, numbers); err != nil || diff != "" {
			t.Fatalf("%s: %s: %v\n%s", line, written, err, diff) // a first reading may repair invalid UTF-8
		}
	}))
}

// TestParseRefuses has lines that are not records.
func TestParseRefuses(t *testing.T) {
	for _, line := range []string{``, `nonsense`, `{`, `{"seq":1`, `{"seq":1}}`, `{"due":"1.5"}`, `{"due":true}`, `{"seq":1.5}`, `{"stage":7}`, `{"counts":[4294967296]}`, `[1]`} {
		if r, err := parseRecord([]byte(line)); err == nil {
			t.Errorf("%q is read as %+v", line, r)
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

// TestFlushEachSecond checks that records are written within a second, without a further call.
func TestFlushEachSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := &kept{}
		d := start(unchecked{}, "x", file, nil)
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

// unchecked is a disk for files that are on none.
type unchecked struct{ disk.OS }

func (unchecked) Check(disk.File, string) error { return nil }

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
	f.Fuzz(mutated.With(func(t *testing.T, b []byte) {
		if err := os.WriteFile(filepath.Join(path, RecordsFile), b, 0o644); err != nil {
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
	b, err := json.Marshal(Run{Schema: Schema, Stages: []Stage{{Name: "x", Latency: Dist{N: 1, P50: Over(2)}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	path := f.TempDir()
	f.Fuzz(mutated.With(func(t *testing.T, b []byte) {
		if err := os.WriteFile(filepath.Join(path, RunFile), b, 0o644); err != nil {
			t.Fatal(err)
		}
		if run, err := Open(path); err == nil && run == nil {
			t.Fatal("neither a run nor an error")
		}
	}))
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
	r := busy()
	b.ReportAllocs()
	for b.Loop() {
		if err := d.Append(r); err != nil {
			b.Fatal(err)
		}
	}
}

// busy is a record of a usual size: 128 tokens in chunks of one.
func busy() *Record {
	return &Record{
		Stage: "poisson@10.00", Due: Exactly(12.5), Sent: Exactly(12.500012), FirstToken: Exactly(12.6), LastToken: Exactly(14),
		End: Exactly(14.0001), Status: "ok", AskedTokens: 128, PromptTokens: Exactly(512), OutputTokens: Exactly(128),
		TokenSource: "server", GapsUS: slices.Repeat([]int64{11023}, 127),
	}
}

func BenchmarkEncode(b *testing.B) {
	r := busy()
	line := make([]byte, 0, 4096)
	var err error
	b.ReportAllocs()
	for b.Loop() {
		if line, err = r.appendJSON(line[:0]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	line, err := busy().appendJSON(nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("easyjson", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := parseRecord(line); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("standard", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var r Record
			if err := json.Unmarshal(line, &r); err != nil {
				b.Fatal(err)
			}
		}
	})
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
