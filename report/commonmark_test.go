package report

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

// TestRowsAreNoMailAddresses renders the golden reports as GitHub does: the names of rows, such as asynchronous@8.00, are text and no links.
func TestRowsAreNoMailAddresses(t *testing.T) {
	files, err := filepath.Glob("testdata/*.md")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d reports, %v", len(files), err)
	}
	gfm := goldmark.New(goldmark.WithExtensions(extension.GFM))
	rows := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var html bytes.Buffer
		if err := gfm.Convert(text, &html); err != nil {
			t.Fatal(err)
		}
		rows += strings.Count(html.String(), "asynchronous@")
		if strings.Contains(html.String(), "mailto:") {
			t.Errorf("%s has a mail address", file)
		}
	}
	if rows == 0 {
		t.Error("no row of a rate was seen as text")
	}
}
