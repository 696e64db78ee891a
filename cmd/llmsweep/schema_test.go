package main

import (
	"cmp"
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
		simtest.SchemaValue(t, "pair", []byte(contentOf(t, path)))
	}
}

// TestSchemaCommand tests that llmsweep help schema prints what the files of all other tests are checked with.
func TestSchemaCommand(t *testing.T) {
	for _, name := range []string{"", "run", "records", "pair"} {
		want, err := rundir.SchemaOf(cmp.Or(name, "run"))
		code, got := command(t, strings.Fields("help schema "+name)...)
		if err != nil || code != console.Done || got != string(want) {
			t.Errorf("%s: exit %d, %d bytes, %v", name, code, len(got), err)
		}
	}
}

// TestImportsFollowTheSchema tests that the run directories made of every kind of document that llmsweep reads follow
// the schema.
func TestImportsFollowTheSchema(t *testing.T) {
	t.Parallel()
	args := []string{"import", "--out", filepath.Join(t.TempDir(), "imported")}
	for _, pattern := range []string{"*.md", "*.txt", "results/*.json*"} {
		found, err := filepath.Glob("../../report/published/testdata/" + pattern)
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, err)
		}
		args = append(args, slices.DeleteFunc(found, func(f string) bool { return strings.HasSuffix(f, ".runs.txt") })...)
	}
	if code, text := command(t, args...); code != console.Done {
		t.Errorf("exit %d, %s", code, text)
	}
	dirs, err := os.ReadDir(args[2])
	if n := simtest.SchemaBelow(t, args[2]); err != nil || n != len(dirs) || n < len(args)-3 {
		t.Errorf("%d files became %d run directories, of which %d were checked (%v)", len(args)-3, len(dirs), n, err)
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
