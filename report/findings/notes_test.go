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

func TestSentences(t *testing.T) {
	words := lang.Words{
		"optional": lang.Say("{n:count row rows}[ of {all}]", "{n} 行[，共 {all} 行]"),
		"repeat": lang.Say("at {rate:rate} req/s[, repetition {repeat:times}]",
			"{rate:rate} req/s[，第 {repeat:times} 次]"),
		"either": lang.Say("[because {error}|without a reason]", "[因为 {error}|没有原因]"),
		"nested": lang.Say("{stage}: {why:note}", "{stage}：{why:note}"),
	}
	optional := note.Kind{Code: "optional", Args: []string{"n", "all"}}
	repeat := note.Kind{Code: "repeat", Args: []string{"rate", "repeat"}}
	either := note.Kind{Code: "either", Args: []string{"error"}}
	nested := note.Kind{Code: "nested", Args: []string{"stage", "why"}}
	late := []note.Note{note.Text.New("late"), optional.New(2, 3)}
	for _, c := range []struct {
		n      note.Note
		en, zh string
	}{
		{optional.New(1, 3), "1 row of 3.", "1 行，共 3 行。"},
		{note.Note{Code: "optional", Args: map[string]any{"n": 1e6}}, "1000000 rows.", "1000000 行。"},
		{repeat.New(12.346, 1), "At 12.35 req/s.", "12.35 req/s。"},
		{repeat.New(12.346, 2), "At 12.35 req/s, repetition 2.", "12.35 req/s，第 2 次。"},
		{either.New("x"), "Because x.", "因为 x。"}, {note.Note{Code: "either"}, "Without a reason.", "没有原因。"},
		{nested.New("poisson@1.00", late), "asynchronous@1.00: late, 2 rows of 3.",
			"asynchronous@1.00：late，2 行，共 3 行。"},
		{note.Text.New("was killed"), "was killed", "was killed"},
		{note.Note{Code: "new.code", Args: map[string]any{"b": 2.0, "a": "x"}}, "", ""},
	} {
		if en, zh := words.Sentence(c.n, lang.English), words.Sentence(c.n, lang.Chinese); en != c.en || zh != c.zh {
			t.Errorf("%q, %q; want %+v", en, zh, c)
		}
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

var placeholder = regexp.MustCompile(`\{([a-z][a-z0-9_]*)(?::([^{}]*))?\}`)

// An argument that follows a flag is printed as the flag takes it, and not in words such as "8 min".
func TestFlagValuesInNotes(t *testing.T) {
	inWords := regexp.MustCompile(`--[a-z-]+[ =]\{[a-z_]+:(span|time|count[^}]*|percent|rate)\}`)
	for code, p := range findings.Words() {
		for _, l := range lang.All() {
			if found := inWords.FindString(p.In(l)); found != "" {
				t.Errorf("%s in %s: %s", code, l, found)
			}
		}
	}
}
