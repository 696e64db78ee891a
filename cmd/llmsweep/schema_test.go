package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/schema"
	"llmsweep/sweep/rundir/schema/schematest"
)

// checked are the files that [followSchemas] has seen, by path, size and time.
var checked sync.Map

// followSchemas checks the run directories in the current directory, which each test has for itself. It returns what is wrong with
// them, so that every command of every test is checked without a word in the tests.
func followSchemas() string {
	var wrong failures
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // renamed while the directory was read
			return nil
		}
		if err != nil || d.IsDir() || d.Name() != rundir.RunFile && d.Name() != rundir.PairFile {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		at, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		if _, seen := checked.LoadOrStore([3]any{at, info.Size(), info.ModTime()}, true); !seen {
			schematest.Below(&wrong, filepath.Dir(path))
		}
		return nil
	})
	if err != nil {
		wrong.Error(err)
	}
	return wrong.text
}

// failures is a test that only keeps what it is told.
type failures struct {
	testing.TB
	text string
}

func (f *failures) Helper() {}

func (f *failures) Error(args ...any) { f.Errorf("%v", args...) }

func (f *failures) Errorf(format string, args ...any) {
	f.text += "against its schema: " + fmt.Sprintf(format, args...) + "\n"
}

// TestSchemaCommand tests that llmsweep schema prints what the files are checked with.
func TestSchemaCommand(t *testing.T) {
	for _, args := range [][]string{{"schema"}, {"schema", "run"}, {"schema", "records"}, {"schema", "pair"}} {
		name := "run"
		if len(args) > 1 {
			name = args[1]
		}
		want, err := schema.Of(name)
		if err != nil {
			t.Fatal(err)
		}
		code, out, errs := llmsweep(args...)
		if code != exitDone || errs != "" || out != string(want) || !json.Valid([]byte(out)) {
			t.Errorf("%v: %d %s, %d bytes", args, code, errs, len(out))
		}
	}
	if code, _, errs := llmsweep("schema", "stage"); code != exitUsage {
		t.Errorf("schema stage: %d %s", code, errs)
	}
}

// TestImportsFollowTheSchema tests that the run directories of every kind of document that llmsweep reads follow the schema.
func TestImportsFollowTheSchema(t *testing.T) {
	const published = "../../report/published/testdata"
	var files []string
	for _, pattern := range []string{"*.md", "*.txt", "results/*.json*", "results/*/benchmark_summary.json"} {
		found, err := filepath.Glob(filepath.Join(published, pattern))
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, err)
		}
		for _, f := range found {
			if filepath.Base(f) == "README.md" {
				continue
			}
			at, err := filepath.Abs(f)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, at)
		}
	}
	t.Chdir(t.TempDir())
	for _, f := range files {
		if code, _, errs := llmsweep("import", "--out", "imported", f); code != exitDone || errs != "" {
			t.Errorf("%s: %d %s", f, code, errs)
		}
	}
	n := schematest.Below(t, "imported")
	dirs, err := os.ReadDir("imported")
	if err != nil || n != len(dirs) || n < len(files) {
		t.Errorf("%d files became %d run directories, %d of them checked (%v)", len(files), len(dirs), n, err)
	}
}
