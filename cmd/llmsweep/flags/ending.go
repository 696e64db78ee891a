package flags

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// endings are the formats that the ending of a file's name asks for.
var endings = map[string]string{
	".md": "markdown", ".markdown": "markdown", ".json": "json", ".html": FormatHTML, ".htm": FormatHTML, ".csv": "csv",
	".svg": FormatSVG, ".png": "png",
}

// FormatFor returns the format of a file: that of --format, or in place of the default the one that its name ends with.
// A name that ends with a format that the command does not write is an error.
func FormatFor(format, file string, formats []string) (string, error) {
	ending := strings.ToLower(filepath.Ext(file))
	if format != "console" || slices.Contains([]string{"", ".txt", ".log", ".out"}, ending) || file == "/dev/null" ||
		file == "/dev/stdout" {
		return format, nil
	}
	if byName := endings[ending]; slices.Contains(formats, byName) {
		return byName, nil
	}
	var known []string
	for e, f := range endings {
		if slices.Contains(formats, f) {
			known = append(known, e)
		}
	}
	slices.Sort(known)
	return format, fmt.Errorf("-o %s: this command writes no %s: end the name with %s or .txt, or give --format",
		filepath.Base(file), ending, strings.Join(known, ", "))
}

// AfterApply takes the format from the name of the file, where --format does not tell.
func (t *Tables) AfterApply() (err error) {
	t.Format, err = FormatFor(t.Format, t.Output, []string{"markdown", "json", FormatHTML})
	return err
}
