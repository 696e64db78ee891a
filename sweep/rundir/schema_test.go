package rundir_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"llmsweep/client/note"
	"llmsweep/client/testkit"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// object is a part of a schema.
type object = map[string]any

// written are the types that write JSON of their own, by name.
var written = object{
	"Number": object{
		"description": "A number, null where it does not exist, or a lower bound where no more is known.",
		"anyOf": []any{
			object{"type": "number"}, object{"type": "null"},
			object{"type": "object", "properties": object{"over": object{"type": "number"}}, "required": []string{"over"}},
		},
	},
	"Note": object{
		"description": "A message as a code with arguments; from older versions, a text.",
		"anyOf": []any{
			object{"type": "object", "required": []string{"code"}, "properties": object{
				"code": object{"type": "string", "description": "The kind of note."},
				"args": object{"type": "object", "description": "Its arguments: numbers (times in seconds, shares from 0 to 1), texts, lists of texts or of notes."},
			}},
			object{"type": "string"},
		},
	},
}

// generator makes a schema of types.
type generator struct {
	defs     object
	comments map[string]string
}

// generated returns the schema that the types say.
func generated(t *testing.T, name string) []byte {
	t.Helper()
	top := map[string]struct {
		value         any
		title, schema string
	}{
		"run":     {rundir.Run{}, "run.json of an llmsweep run directory", rundir.Schema},
		"records": {rundir.Record{}, "a line of records.jsonl of an llmsweep run directory", ""},
		"pair":    {rundir.Pair{}, "pair.json of two servers measured by llmsweep in turns", rundir.PairSchema},
		"verdict": {rundir.Conclusion{}, "a verdict of llmsweep", rundir.VerdictSchema},
	}[name]
	g := generator{maps.Clone(written), comments(t, "llmsweep/sweep/rundir", ".")}
	s := g.structure(reflect.TypeOf(top.value))
	s["$schema"], s["title"], s["$defs"] = "https://json-schema.org/draft/2020-12/schema", top.title, g.defs
	if p, ok := s["properties"].(object)["schema"].(object); ok && top.schema != "" {
		p["const"] = top.schema
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// structure is the schema of a struct.
func (g *generator) structure(t reflect.Type) object {
	properties, required := object{}, []string{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || f.Anonymous || name == "-" {
			continue
		}
		name = cmp.Or(name, f.Name)
		p := g.of(f.Type)
		if text := g.comments[t.PkgPath()+"."+t.Name()+"."+f.Name]; text != "" {
			p["description"] = text
		}
		if values, ok := f.Tag.Lookup("enum"); ok {
			p["enum"] = strings.Split(values, ",")
		}
		properties[name] = p
		if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
			required = append(required, name)
		}
	}
	s := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	if text := g.comments[t.PkgPath()+"."+t.Name()]; text != "" {
		s["description"] = text
	}
	if t == reflect.TypeFor[rundir.Dist]() { // it writes this key itself
		properties["over"] = object{
			"type": "object", "additionalProperties": object{"type": "number"},
			"description": "Over has the statistics of which only a lower bound is known, because requests that count in them had not ended.",
		}
	}
	return s
}

// of is the schema of a type within another. A list, and an object without fixed keys, may be null, as encoding/json
// writes one that was never made.
func (g *generator) of(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[json.RawMessage]():
		return object{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return g.of(t.Elem())
	case reflect.Struct:
		if _, ok := g.defs[t.Name()]; !ok {
			g.defs[t.Name()] = nil // it may hold itself
			g.defs[t.Name()] = g.structure(t)
		}
		return object{"$ref": "#/$defs/" + t.Name()}
	case reflect.Slice:
		return object{"type": []string{"array", "null"}, "items": g.of(t.Elem())}
	case reflect.Array:
		return object{"type": []string{"array", "null"}, "items": g.of(t.Elem()), "minItems": t.Len(), "maxItems": t.Len()}
	case reflect.Map:
		return object{"type": []string{"object", "null"}, "additionalProperties": g.of(t.Elem())}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64:
		return object{"type": "number"}
	default:
		return object{"type": "integer"}
	}
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
		if diff := gocmp.Diff(string(want), string(got)); diff != "" {
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
	for name, value := range map[string]any{"run": &rundir.Run{}, "records": &rundir.Record{}, "pair": &rundir.Pair{},
		"verdict": &rundir.Conclusion{Verdict: rundir.DecisionMet, MayClaim: rundir.SupportsSLO}} {
		for _, full := range []bool{false, true} {
			v := reflect.ValueOf(value)
			if full {
				fill(v.Elem())
			}
			if f := v.Elem().FieldByName("Schema"); f.IsValid() {
				f.SetString(map[string]string{"run": rundir.Schema, "pair": rundir.PairSchema,
					"verdict": rundir.VerdictSchema}[name])
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
		{`"schema":"llmsweep.run/v1"`, `"schema":"llmsweep.run/v2"`}, {`"state":""`, `"state":3`},
		{`"stages":null`, `"stages":{}`},
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
	if _, err := rundir.SchemaOf("nothing"); err == nil ||
		err.Error() != `no schema "nothing": there are run, records, pair, verdict` {
		t.Error(err)
	}
}
