package table

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"llmsweep/sweep/rundir"
)

// WriteJSON writes v as indented JSON that is safe to print on a terminal.
func WriteJSON(w io.Writer, v any) error {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(rundir.EscapeJSON([]byte(b.String())))
	return err
}

// CSVCell returns text for a cell of CSV, in one line. An apostrophe before what a spreadsheet would calculate makes it
// a text (https://owasp.org/www-community/attacks/CSV_Injection).
func CSVCell(s string) string {
	s = Clean(s)
	if strings.IndexAny(strings.TrimLeft(s, " \u00a0\ufeff"), "=+-@＝＋－＠") != 0 {
		return s
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return s
	}
	return "'" + s
}
