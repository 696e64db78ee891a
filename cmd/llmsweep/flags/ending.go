package flags

import (
	"path/filepath"
	"strings"
)

// endings are the formats that the ending of a file's name asks for.
var endings = map[string]string{
	".md": "markdown", ".markdown": "markdown", ".json": "json", ".html": FormatHTML, ".htm": FormatHTML, ".csv": "csv", ".svg": FormatSVG, ".png": "png",
}

// FormatFor returns the format of a file: that of --format, and where it is the default, the one that the file's name ends with, of those
// that there are.
func FormatFor(format, file string, formats []string) string {
	if format != "console" {
		return format
	}
	byName := endings[strings.ToLower(filepath.Ext(file))]
	for _, f := range formats {
		if f == byName {
			return f
		}
	}
	return format
}

// AfterApply takes the format from the name of the file, where --format does not tell.
func (t *Tables) AfterApply() error {
	t.Format = FormatFor(t.Format, t.Output, []string{"markdown", "json", FormatHTML})
	return nil
}
