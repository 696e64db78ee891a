package published

import "os"

// ParseFile reads a document from a file. Secrets in addresses and commands are hidden.
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
	hideSecrets(doc)
	return doc, nil
}
