package published

import (
	"os"
)

// ParseFile reads a document from a file, and the files beside it that belong to the same result. Secrets in
// addresses and commands are hidden.
func ParseFile(path string) (*Document, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	doc, err := ParseText(path, f)
	if err != nil {
		return nil, err
	}
	if len(doc.Runs) == 1 && doc.Runs[0].Source.Format == evalScope {
		err = besideEvalScope(doc)
	}
	withoutSecrets(doc)
	return doc, err
}
