package report

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"llmsweep/report/lang"
)

// GateAnnotations writes a workflow command of GitHub for each check that did not pass: an error where it is missed, a warning where it is
// not decided.
func GateAnnotations(w io.Writer, suites []GateSuite, l lang.Lang) error {
	var b strings.Builder
	for _, s := range suites {
		for _, c := range s.Checks {
			level, title := "error", titleFailed
			switch c.Outcome {
			case GatePassed:
				continue
			case GateUndecided:
				level, title = "warning", titleUndecided
			}
			fmt.Fprintf(&b, "::%s title=%s::%s\n", level, property.Replace(title.In(l, line(c.Name))), data.Replace(line(c.Message)))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// How workflow commands escape text, and the values of properties.
var (
	data     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// mostSummary is GitHub's limit on the summary of one step: what is larger is not shown at all.
const mostSummary = 1 << 20

// AppendSummary appends a Markdown document to the file of a step's summary, which other commands of the step may have written to. Where
// it would become larger than GitHub shows, the document is shortened, at the end of a line; whole names the directory or file that has
// all of it.
func AppendSummary(path string, doc []byte, whole string, l lang.Lang) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if _, err := f.Write(shorten(doc, mostSummary-int(min(info.Size(), mostSummary)), "\n"+sayShortened.In(l, line(whole))+"\n")); err != nil {
		return err
	}
	return f.Close()
}

// shorten returns a document of at most room bytes: whole lines of it and the text that says so, or nothing where not even that has room.
func shorten(doc []byte, room int, note string) []byte {
	if len(doc) <= room {
		return doc
	}
	room -= len(note)
	if room < 0 {
		return nil
	}
	end := bytes.LastIndexByte(doc[:room], '\n') + 1
	return append(bytes.Clone(doc[:end]), note...)
}
