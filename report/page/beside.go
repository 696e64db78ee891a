package page

import (
	"path/filepath"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/table"
)

// extension is that of the names of pages.
const extension = ".html"

// PagePath returns the path of the page that stands beside a file: the same with the ending .html.
func PagePath(path string) string { return strings.TrimSuffix(path, filepath.Ext(path)) + extension }

// Written tells that a page was written beside what was asked for.
func Written(path string, l lang.Lang) string { return table.Clean(sayWritten.In(l, path)) }

// Offered tells how a page can be had, where none was written.
func Offered(l lang.Lang) string { return sayOffered.In(l) }
