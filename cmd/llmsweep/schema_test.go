package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// runFiles returns the states of the files below a directory that have a schema, by path.
func runFiles(dir string) map[string]fs.FileInfo {
	files := map[string]fs.FileInfo{}
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { // what vanishes meanwhile is passed over
		if err == nil && (d.Name() == rundir.RunFile || d.Name() == rundir.PairFile) {
			if info, err := d.Info(); err == nil {
				files[path] = info
			}
		}
		return nil
	})
	return files
}

// followSchemas fails the test if a file below dir that was written since before does not follow its schema.
func followSchemas(t testing.TB, dir string, before map[string]fs.FileInfo) {
	t.Helper()
	for path, now := range runFiles(dir) {
		if was, ok := before[path]; ok && was.ModTime().Equal(now.ModTime()) && was.Size() == now.Size() {
			continue
		}
		if filepath.Base(path) == rundir.RunFile {
			simtest.SchemaDir(t, filepath.Dir(path))
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
			continue
		}
		simtest.SchemaValue(t, "pair", b)
	}
}

// TestSchemaCommand tests that llmsweep help schema prints what the files of all other tests are checked with.
func TestSchemaCommand(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"help", "schema"}, {"help", "schema", "run"}, {"help", "schema", "records"},
		{"help", "schema", "pair"}, {"help", "schema", "verdict"}} {
		name := append(args, "run")[2]
		want, err := rundir.SchemaOf(name)
		if err != nil {
			t.Fatal(err)
		}
		var out, errs strings.Builder
		if code := executeAgain(args, console.NewConsole(t.Context(), &out, &errs)); code != console.Done ||
			errs.Len() > 0 || out.String() != string(want) {
			t.Errorf("%v: exit %d, %s, %d bytes", args, code, errs.String(), out.Len())
		}
	}
}

// TestImportsFollowTheSchema tests that the run directories made of every kind of document that llmsweep reads follow
// the schema.
func TestImportsFollowTheSchema(t *testing.T) {
	t.Parallel()
	const published = "../../report/published/testdata"
	dir := filepath.Join(t.TempDir(), "imported")
	files := 0
	for _, pattern := range []string{"*.md", "*.txt", "results/*.json*"} {
		found, err := filepath.Glob(filepath.Join(published, pattern))
		// a golden file
		found = slices.DeleteFunc(found, func(name string) bool { return strings.HasSuffix(name, ".runs.txt") })
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, err)
		}
		for _, f := range found {
			files++
			var out, errs strings.Builder
			if code := executeAgain([]string{"import", "--out", dir, f}, console.NewConsole(t.Context(), &out,
				&errs)); code != console.Done || errs.Len() > 0 {
				t.Errorf("%s: exit %d, %s", f, code, errs.String())
			}
		}
	}
	dirs, err := os.ReadDir(dir)
	if n := simtest.SchemaBelow(t, dir); err != nil || n != len(dirs) || n < files {
		t.Errorf("%d files became %d run directories, of which %d were checked (%v)", files, len(dirs), n, err)
	}
}

// TestOldRunsOpen: a run of version 0.1, with keys of features and an API that left, is read as any other.
func TestOldRunsOpen(t *testing.T) {
	for line, want := range map[string]string{
		"report testdata/old": "", "report testdata/old --format html": "", "report testdata/old --format csv": "",
		"report testdata/old --format markdown":                            "ollama",
		"compare testdata/old ../../examples/real/vllm-cpu --any-workload": "",
		"choose testdata/old --slo itl:mean<5s --demand 1rps":              "",
	} {
		code, text := command(t, strings.Fields(line)...)
		if code != console.Done || !strings.Contains(text, want) || strings.Contains(text, "another version") ||
			strings.Contains(strings.ToLower(text), "perplex") {
			t.Errorf("%s: exit %d, %s", line, code, text)
		}
	}
}
