package rundir_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"llmsweep/client/testkit"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// generated returns the schema that the types say.
func generated(t *testing.T, name string) []byte {
	t.Helper()
	types := map[string]struct {
		value any
		title string
	}{
		"run": {rundir.Run{}, "run.json of an llmsweep run directory"}, "records": {rundir.Record{}, "a line of records.jsonl of an llmsweep run directory"},
		"pair": {rundir.Pair{}, "pair.json of two servers measured by llmsweep in turns"}, "verdict": {rundir.Conclusion{}, "a verdict of llmsweep"},
	}
	comments := comments(t, "llmsweep/sweep/rundir", ".")
	for k, v := range commentsOf(t) {
		comments[k] = v
	}
	r := &jsonschema.Reflector{
		BaseSchemaID: "", Anonymous: true, AllowAdditionalProperties: true, ExpandedStruct: true, Mapper: mapped,
		LookupComment: func(typ reflect.Type, field string) string {
			return comments[strings.TrimSuffix(typ.PkgPath()+"."+typ.Name()+"."+field, ".")]
		},
	}
	s := r.Reflect(types[name].value)
	s.Title = types[name].title
	if s.Definitions == nil {
		s.Definitions = jsonschema.Definitions{}
	}
	for name, d := range written() {
		s.Definitions[name] = d
	}
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(b, &tree); err != nil {
		t.Fatal(err)
	}
	nullable(tree)
	if defs, ok := tree["$defs"].(map[string]any); ok {
		if dist, ok := defs["Dist"].(map[string]any); ok {
			dist["properties"].(map[string]any)["over"] = map[string]any{
				"type": "object", "additionalProperties": map[string]any{"type": "number"},
				"description": "Over has the statistics of which only a lower bound is known, because requests that count in them had not ended.",
			}
		}
	}
	if p, ok := tree["properties"].(map[string]any)["schema"].(map[string]any); ok {
		p["const"] = map[string]string{"run": rundir.Schema, "pair": rundir.PairSchema, "verdict": rundir.VerdictSchema}[name]
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(tree); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// mapped returns where the schema of a type stands that writes JSON of its own, nil for other types.
func mapped(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[rundir.Number]():
		return &jsonschema.Schema{Ref: "#/$defs/Number"}
	case reflect.TypeFor[note.Note]():
		return &jsonschema.Schema{Ref: "#/$defs/Note"}
	}
	return nil
}

// written returns the definitions of the types that write JSON of their own.
func written() map[string]*jsonschema.Schema {
	over := jsonschema.NewProperties()
	over.Set("over", &jsonschema.Schema{Type: "number"})
	object := jsonschema.NewProperties()
	object.Set("code", &jsonschema.Schema{Type: "string", Description: "The kind of note."})
	object.Set("args", &jsonschema.Schema{
		Type: "object", Description: "Its arguments: numbers (times in seconds, shares from 0 to 1), texts, lists of texts or of notes.",
	})
	return map[string]*jsonschema.Schema{
		"Number": {Description: "A number, null where it does not exist, or a lower bound where no more is known.", AnyOf: []*jsonschema.Schema{
			{Type: "number"}, {Type: "null"}, {Type: "object", Properties: over, Required: []string{"over"}},
		}},
		"Note": {Description: "A message as a code with arguments; from older versions, a text.", AnyOf: []*jsonschema.Schema{
			{Type: "object", Properties: object, Required: []string{"code"}}, {Type: "string"},
		}},
	}
}

// nullable lets a list or an object without fixed keys be null, as encoding/json writes one that was never made.
func nullable(v any) {
	switch v := v.(type) {
	case map[string]any:
		_, free := v["additionalProperties"].(map[string]any)
		if v["type"] == "array" || v["type"] == "object" && free {
			v["type"] = []any{v["type"], "null"}
		}
		for _, child := range v {
			nullable(child)
		}
	case []any:
		for _, child := range v {
			nullable(child)
		}
	}
}

// commentsOf returns the comments of the other packages whose types the files have.
func commentsOf(t *testing.T) map[string]string {
	return comments(t, "llmsweep/client/note", filepath.Join("..", "..", "client", "note"))
}

// comments returns what the comments of a package say of its types and their fields, by package path, type and field.
func comments(t *testing.T, pkg, dir string) map[string]string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	var files []*ast.File
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	found := map[string]string{}
	text := func(groups ...*ast.CommentGroup) string {
		var parts []string
		for _, g := range groups {
			if s := strings.Join(strings.Fields(g.Text()), " "); s != "" {
				parts = append(parts, s)
			}
		}
		return strings.Join(parts, " ")
	}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			decl, ok := n.(*ast.GenDecl)
			if !ok || decl.Tok != token.TYPE {
				return true
			}
			for _, spec := range decl.Specs {
				typ := spec.(*ast.TypeSpec)
				found[pkg+"."+typ.Name.Name] = text(decl.Doc, typ.Doc)
				fields, ok := typ.Type.(*ast.StructType)
				if !ok {
					continue
				}
				for _, f := range fields.Fields.List {
					for _, name := range f.Names {
						found[pkg+"."+typ.Name.Name+"."+name.Name] = text(f.Doc, f.Comment)
					}
				}
			}
			return true
		})
	}
	return found
}

// TestSchemasFollowTheTypes tests that the schemas are those of the types as they are now.
func TestSchemasFollowTheTypes(t *testing.T) {
	for _, name := range rundir.SchemaNames() {
		want := generated(t, name)
		if *testkit.Update {
			if err := os.WriteFile(name+".schema.json", want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := rundir.SchemaOf(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s: run the test with -update (-types +file):\n%s", name, diff)
		}
	}
}

// TestExamples tests that every run directory under examples follows the schema, those of older versions too.
func TestExamples(t *testing.T) {
	var dirs []string
	err := filepath.WalkDir("../../examples", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == rundir.RunFile {
			dirs = append(dirs, filepath.Dir(path))
		}
		return err
	})
	if err != nil || len(dirs) < 3 {
		t.Fatal(err, dirs)
	}
	for _, dir := range dirs {
		simtest.SchemaDir(t, dir)
	}
}

// TestEveryKey tests that a run and a record with every key set follow the schema, and that the schema has all keys.
func TestEveryKey(t *testing.T) {
	for name, value := range map[string]any{"run": &rundir.Run{}, "records": &rundir.Record{}, "pair": &rundir.Pair{}, "verdict": &rundir.Conclusion{Verdict: rundir.DecisionMet, MayClaim: rundir.SupportsSLO}} {
		for _, full := range []bool{false, true} {
			v := reflect.ValueOf(value)
			if full {
				fill(v.Elem())
			}
			if f := v.Elem().FieldByName("Schema"); f.IsValid() {
				f.SetString(map[string]string{"run": rundir.Schema, "pair": rundir.PairSchema, "verdict": rundir.VerdictSchema}[name])
			}
			b, err := json.Marshal(v.Interface())
			if err != nil {
				t.Fatal(err)
			}
			simtest.SchemaValue(t, name, b)
			if missing := simtest.SchemaUnknown(t, name, b); full && len(missing) > 0 {
				t.Errorf("%s: the schema has no %s", name, strings.Join(missing, ", "))
			}
		}
	}
}

// fill sets everything that v has to something.
func fill(v reflect.Value) {
	switch v.Type() {
	case reflect.TypeFor[rundir.Decision](), reflect.TypeFor[rundir.Evidence](): // set already
		return
	case reflect.TypeFor[rundir.Number]():
		v.Set(reflect.ValueOf(rundir.Over(1.5)))
		return
	case reflect.TypeFor[note.Note]():
		v.Set(reflect.ValueOf(note.Text.New("text")))
		return
	case reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte(`{"key":"text"}`))
		return
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Date(2026, 5, 4, 9, 30, 0, 0, time.UTC)))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Map:
		element := reflect.New(v.Type().Elem()).Elem()
		fill(element)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("key").Convert(v.Type().Key()), element)
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(3)
	case reflect.Uint64:
		v.SetUint(3)
	}
}

// TestWhatIsWrong tests that a file which is not a run is refused.
func TestWhatIsWrong(t *testing.T) {
	good, err := json.Marshal(rundir.Run{Schema: rundir.Schema})
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{`"schema":"llmsweep.run/v1"`, `"schema":"llmsweep.run/v2"`}, {`"state":""`, `"state":3`}, {`"stages":null`, `"stages":{}`},
		{`"labels":{}`, `"labels":{"gpus":"two"}`}, {`"client":`, `"clients":`},
	} {
		bad := strings.Replace(string(good), change[0], change[1], 1)
		if bad == string(good) {
			t.Fatalf("no %s in %s", change[0], good)
		}
		if err := simtest.CheckSchema("run", []byte(bad)); err == nil {
			t.Errorf("%s instead of %s is accepted", change[1], change[0])
		}
	}
	if err := simtest.CheckSchema("run", good); err != nil {
		t.Error(err)
	}
	if _, err := rundir.SchemaOf("nothing"); err == nil || err.Error() != `no schema "nothing": there are run, records, pair, verdict` {
		t.Error(err)
	}
}
