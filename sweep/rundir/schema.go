// JSON Schemas of the files in a run directory and of verdicts, for programs in other languages that read them. They
// are made from the types of package rundir and their comments; `go test ./sweep/rundir -update` writes them again.

package rundir

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed run.schema.json records.schema.json pair.schema.json
var files embed.FS

// SchemaNames returns the names of the schemas: "run" is of run.json, "records" of each line of records.jsonl, "pair"
// of pair.json.
func SchemaNames() []string { return []string{"run", "records", "pair"} }

// SchemaOf returns the schema of that name, in JSON Schema 2020-12. It is an error if there is none.
func SchemaOf(name string) ([]byte, error) {
	if !slices.Contains(SchemaNames(), name) {
		return nil, fmt.Errorf("no schema %q: there are %s", name, strings.Join(SchemaNames(), ", "))
	}
	return files.ReadFile(name + ".schema.json")
}
