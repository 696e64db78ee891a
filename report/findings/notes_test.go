package findings_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"llmsweep/client/note"
	"llmsweep/client/testkit"
	"llmsweep/report/audit"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/published"
)

// Each kind of note in the source has words in both languages, with its own arguments, all of them, and a code of its
// own.
func TestEveryNoteHasWords(t *testing.T) {
	words := lang.Join(findings.Words(), audit.Words(), published.Words())
	codes := map[string]bool{}
	for _, k := range testkit.Kinds(t) {
		if err := wrong(words, k.Kind); err != nil {
			t.Errorf("%s: %v", k.Where, err)
		}
		if codes[k.Code] {
			t.Errorf("%s: %s is declared twice", k.Where, k.Code)
		}
		codes[k.Code] = true
	}
	for code := range words {
		if !codes[code] {
			t.Errorf("%s has words, and no note says it", code)
		}
	}
}

// The notes that an imported run keeps are said by every report, which knows only the words of this package.
func TestNotesOfImportedRunsHaveWords(t *testing.T) {
	said := 0
	for _, path := range testkit.Must(filepath.Glob("../published/testdata/results/*.json")) {
		doc := testkit.Must(published.ParseFile(path))
		for i := range doc.Runs {
			for _, n := range doc.Runs[i].Warnings {
				said++
				if s := findings.Note(n, lang.Chinese); strings.Contains(s, n.Code) {
					t.Errorf("%s: %s", path, s)
				}
			}
		}
	}
	if said == 0 {
		t.Error("no imported run has a note")
	}
}

// wrong returns what is wrong with the sentence of a kind of note: no words, an unknown argument or format, or an
// argument that is not used.
func wrong(w lang.Words, k note.Kind) error {
	p, ok := w[k.Code]
	if !ok {
		return fmt.Errorf("%s has no words", k.Code)
	}
	for _, l := range lang.All() {
		text := p.In(l)
		if text == "" {
			return fmt.Errorf("%s has no words in %s", k.Code, l)
		}
		if found := flagInWords.FindString(text); found != "" {
			return fmt.Errorf("%s in %s: a flag takes no words such as 8 min: %s", k.Code, l, found)
		}
		var used []string
		for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
			format, _, _ := strings.Cut(m[2], " ")
			if !slices.Contains(k.Args, m[1]) {
				return fmt.Errorf("%s in %s: there is no argument %s", k.Code, l, m[1])
			}
			if format != "" && !slices.Contains(formats, format) {
				return fmt.Errorf("%s in %s: there is no format %s", k.Code, l, format)
			}
			used = append(used, m[1])
		}
		for _, name := range k.Args {
			if !slices.Contains(used, name) {
				return fmt.Errorf("%s in %s does not say {%s}", k.Code, l, name)
			}
		}
	}
	return nil
}

// formats are those that the sentences of notes may name.
var formats = strings.Fields("rate short tenths whole percent time span flag count times note verdict metric")

var (
	placeholder = regexp.MustCompile(`\{([a-z][a-z0-9_]*)(?::([^{}]*))?\}`)
	flagInWords = regexp.MustCompile(`--[a-z-]+[ =]\{[a-z_]+:(span|time|count[^}]*|percent|rate)\}`)
)
