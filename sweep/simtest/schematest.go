package simtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"llmsweep/sweep/rundir"
)

// compiled has each schema ready to use, by its name. Compiling one takes longer than checking most files.
var compiled = func() map[string]func() (*jsonschema.Schema, error) {
	all := map[string]func() (*jsonschema.Schema, error){}
	for _, name := range rundir.SchemaNames() {
		all[name] = sync.OnceValues(func() (*jsonschema.Schema, error) { return compile(name) })
	}
	return all
}()

func compile(name string) (*jsonschema.Schema, error) {
	b, err := rundir.SchemaOf(name)
	if err != nil {
		return nil, err
	}
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name, tree); err != nil {
		return nil, err
	}
	return c.Compile(name)
}

// CheckSchema returns what is wrong with a JSON value by the schema of that name.
func CheckSchema(name string, value []byte) error {
	s, err := compiled[name]()
	if err != nil {
		return err
	}
	return check(s, value)
}

func check(s *jsonschema.Schema, value []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

// SchemaValue fails the test if a JSON value does not follow the schema of that name.
func SchemaValue(t testing.TB, name string, value []byte) {
	t.Helper()
	if err := CheckSchema(name, value); err != nil {
		t.Errorf("%s: %v\n%.400s", name, err, value)
	}
}

// SchemaDir fails the test if run.json or a line of records.jsonl in a run directory does not follow its schema. A last
// line that was cut off is passed over, as everything that reads run directories does.
func SchemaDir(t testing.TB, dir string) {
	t.Helper()
	run, err := os.ReadFile(filepath.Join(dir, rundir.RunFile))
	if err != nil {
		t.Error(err)
		return
	}
	SchemaValue(t, "run", run)
	records, err := os.ReadFile(filepath.Join(dir, rundir.RecordsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		t.Error(err)
		return
	}
	if line, err := checkRecords(records); err != nil {
		t.Errorf("%s:%d: %v", filepath.Join(dir, rundir.RecordsFile), line, err)
	}
}

// checkRecords returns the first line of records that does not follow the schema. Of lines of one form, the first is
// checked.
func checkRecords(records []byte) (line int, err error) {
	s, err := compiled["records"]()
	if err != nil {
		return 0, err
	}
	in := bufio.NewScanner(bytes.NewReader(records))
	in.Buffer(nil, len(records)+1)
	ended := bytes.HasSuffix(records, []byte("\n"))
	seen, form := map[string]bool{}, []byte(nil)
	for line = 1; in.Scan(); line++ {
		valid := json.Valid(in.Bytes())
		form = appendForm(form[:0], in.Bytes())
		if valid && seen[string(form)] || !valid && !ended {
			continue
		}
		if err := check(s, in.Bytes()); err != nil {
			return line, err
		}
		seen[string(form)] = true
	}
	return 0, in.Err()
}

// appendForm appends the form of a line of JSON: the line with 0 for each row of digits outside of texts, and one
// element for equal ones that follow each other. The schema of records distinguishes types of numbers and has no
// bounds, so that lines of one form all follow it, or none does.
func appendForm(form, line []byte) []byte {
	inText := false
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case inText && c == '\\' && i+1 < len(line):
			form = append(form, c)
			i++
			c = line[i]
		case c == '"':
			inText = !inText
		case inText:
		case c >= '0' && c <= '9':
			if n := len(form); n > 0 && form[n-1] == '0' {
				continue
			}
			c = '0'
		case c == ',' && bytes.HasSuffix(form, []byte(",0")):
			form = form[:len(form)-2]
		}
		form = append(form, c)
	}
	return form
}

// SchemaBelow checks all run directories and pair.json files below a directory, and returns how many there are.
func SchemaBelow(t testing.TB, dir string) int {
	t.Helper()
	n := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch d.Name() {
		case rundir.RunFile:
			SchemaDir(t, filepath.Dir(path))
			n++
		case rundir.PairFile:
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			SchemaValue(t, "pair", b)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return n
}

// SchemaUnknown returns the keys of a JSON object that the schema of that name does not name, by their paths.
func SchemaUnknown(t testing.TB, name string, value []byte) []string {
	t.Helper()
	b, err := rundir.SchemaOf(name)
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	var v any
	if err := errors.Join(json.Unmarshal(b, &tree), json.Unmarshal(value, &v)); err != nil {
		t.Fatal(err)
	}
	defs, _ := tree["$defs"].(map[string]any)
	var found []string
	unknown(defs, tree, v, "", &found)
	slices.Sort(found)
	return found
}

// unknown walks a value beside its schema.
func unknown(defs, s map[string]any, v any, path string, found *[]string) {
	if ref, ok := s["$ref"].(string); ok {
		s, _ = defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	}
	switch v := v.(type) {
	case map[string]any:
		properties, fixed := s["properties"].(map[string]any)
		free, _ := s["additionalProperties"].(map[string]any)
		if !fixed && free == nil {
			return // an anyOf: a number or a note
		}
		for key, child := range v {
			next, ok := properties[key].(map[string]any)
			if !ok {
				next = free
			}
			at := strings.TrimPrefix(fmt.Sprintf("%s.%s", path, key), ".")
			if next == nil && properties[key] != true {
				*found = append(*found, at)
				continue
			}
			unknown(defs, next, child, at, found)
		}
	case []any:
		items, _ := s["items"].(map[string]any)
		for _, child := range v {
			unknown(defs, items, child, path, found)
		}
	}
}
