package rundir_test

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
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
//
//go:embed testdata/written.json
var written []byte

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
	}[name]
	g := generator{comments: comments(t)}
	if err := json.Unmarshal(written, &g.defs); err != nil {
		t.Fatal(err)
	}
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
		if text := g.comments[t.Name()+"."+f.Name]; text != "" {
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
	if text := g.comments[t.Name()]; text != "" {
		s["description"] = text
	}
	if t == reflect.TypeFor[rundir.Dist]() { // it writes this key itself
		properties["over"] = object{"type": "object", "additionalProperties": object{"type": "number"}, "description": "" +
			"Over has the statistics of which only a lower bound is known, because requests that count in them had not ended."}
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

// comments returns what the comments of the package say of its types and their fields: of "Run" and "Run.Schema".
func comments(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	text := func(groups ...*ast.CommentGroup) string {
		var parts []string
		for _, g := range groups {
			parts = append(parts, strings.Fields(g.Text())...)
		}
		return strings.Join(parts, " ")
	}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			decl, ok := d.(*ast.GenDecl)
			if !ok || decl.Tok != token.TYPE || strings.HasSuffix(name, "_test.go") {
				continue
			}
			for _, spec := range decl.Specs {
				typ := spec.(*ast.TypeSpec)
				found[typ.Name.Name] = text(decl.Doc, typ.Doc)
				fields, ok := typ.Type.(*ast.StructType)
				for i := 0; ok && i < len(fields.Fields.List); i++ {
					f := fields.Fields.List[i]
					for _, name := range f.Names {
						found[typ.Name.Name+"."+name.Name] = text(f.Doc, f.Comment)
					}
				}
			}
		}
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

// Every run directory under examples follows the schema, those of older versions too.
func TestExamples(t *testing.T) {
	if n := simtest.SchemaBelow(t, "../../examples"); n < 3 {
		t.Errorf("%d run directories", n)
	}
}

// A file with every key set, and one with none, follow the schema and are read as they were written.
func TestEveryKey(t *testing.T) {
	for name, value := range map[string]any{"run": &rundir.Run{}, "records": &rundir.Record{}, "pair": &rundir.Pair{}} {
		for _, full := range []bool{false, true} {
			if full {
				testkit.Fill(value, rundir.Over(1.5), note.Text.New("text"),
					json.RawMessage(`{"key":"text"}`), time.Date(2026, 5, 4, 9, 30, 0, 0, time.UTC))
			}
			if f := reflect.ValueOf(value).Elem().FieldByName("Schema"); f.IsValid() {
				f.SetString(map[string]string{"run": rundir.Schema, "pair": rundir.PairSchema}[name])
			}
			b, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			simtest.SchemaValue(t, name, b)
			if missing := simtest.SchemaUnknown(t, name, b); full && len(missing) > 0 {
				t.Errorf("%s: the schema has no %s", name, strings.Join(missing, ", "))
			}
			again := reflect.New(reflect.TypeOf(value).Elem()).Interface()
			if err := json.Unmarshal(b, again); err != nil {
				t.Fatal(err)
			}
			if read, err := json.Marshal(again); err != nil || string(read) != string(b) {
				t.Errorf("%s: %v\n%s\nis read as\n%s", name, err, b, read)
			}
		}
	}
}

// A file which is not a run does not follow the schema.
func TestForeignFiles(t *testing.T) {
	good, err := json.Marshal(rundir.Run{Schema: rundir.Schema})
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{`run/v1"`, `run/v2"`}, {`"state":""`, `"state":3`}, {`"stages":null`, `"stages":{}`},
		{`"labels":{}`, `"labels":{"gpus":"two"}`}, {`"client":`, `"clients":`}, {"", ""},
	} {
		bad := strings.Replace(string(good), change[0], change[1], 1)
		if err := simtest.CheckSchema("run", []byte(bad)); (err == nil) != (change[0] == "") {
			t.Errorf("%s instead of %s: %v", change[1], change[0], err)
		}
	}
	_, err = rundir.SchemaOf("nothing")
	if err == nil || err.Error() != `no schema "nothing": there are run, records, pair` {
		t.Error(err)
	}
}
