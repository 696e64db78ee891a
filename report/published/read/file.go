package read

import (
	"llmsweep/report/published"
	"llmsweep/report/published/results"
	"os"
)

// ParseFile reads a document from a file, and the files beside it that belong to the same result. Secrets in
// addresses and commands are hidden.
func ParseFile(path string) (*published.Document, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	doc, err := Parse(path, f)
	if err != nil {
		return nil, err
	}
	if len(doc.Runs) == 1 && doc.Runs[0].Source.Format == results.EvalScope {
		err = results.BesideEvalScope(doc)
	}
	withoutSecrets(doc)
	return doc, err
}
