package page

import (
	"path/filepath"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/table"
)

// generator marks the pages of this package, so that one of them is never taken for a page of somebody else.
const generator = `<meta name="generator" content="llmsweep">`

// ending is that of the names of pages.
const ending = ".html"

// Beside returns the path of the page that stands beside a file: the same with the ending .html.
func Beside(path string) string { return strings.TrimSuffix(path, filepath.Ext(path)) + ending }

// Written tells that a page was written beside what was asked for.
func Written(path string, l lang.Lang) string { return table.Clean(sayWritten.In(l, path)) }
