package page

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/page/layout"
	"llmsweep/report/table"
)

// ending is that of the names of pages.
const ending = ".html"

// Beside returns the path of the page that stands beside a file: the same with the ending .html.
func Beside(path string) string { return strings.TrimSuffix(path, filepath.Ext(path)) + ending }

// Written tells that a page was written beside what was asked for.
func Written(path string, l lang.Lang) string { return table.Clean(sayWritten.In(l, path)) }

// Offered tells how a page can be had, where none was written.
func Offered(l lang.Lang) string { return sayOffered.In(l) }

// Replaceable returns an error where a file of that name exists that is no page of llmsweep: it is not overwritten.
func Replaceable(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil // there is none; another failure is that of writing it
	}
	defer f.Close()
	const head = 4096 // bytes in which the mark stands
	b, err := io.ReadAll(io.LimitReader(f, head))
	if err != nil || len(b) > 0 && !bytes.Contains(b, []byte(layout.Generator)) {
		return fmt.Errorf("%s exists and is no page of llmsweep: move it away, or choose another name", path)
	}
	return nil
}
