// Grades answers: it finds in the text of an answer what it says, and compares that with what is right.

package grade

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// TaskKind is the way in which an answer is graded.
type TaskKind string

// The kinds of grading.
const (
	// the whole answer is the text; white space around it, case, quotes and a full stop do not count
	Exact  TaskKind = "exact"
	Number TaskKind = "number" // the last number in the answer
	Choice TaskKind = "choice" // the letter of a choice
)

// TaskOutcome is what came of a request for an answer.
type TaskOutcome string

// The outcomes.
const (
	Right TaskOutcome = "right"
	Wrong TaskOutcome = "wrong"
	None  TaskOutcome = "none" // the answer ended, and says no number or choice. It counts as wrong
	// the answer was cut before its end, so that what it would have said is not known. It is not graded
	Cut TaskOutcome = "cut"
)

// Task is a question, and what is right. Nothing changes it.
type Task struct {
	Key   string // the same for the same question and answer in any file
	Kind  TaskKind
	want  string
	value float64
}

// lengths of what is kept of an answer and of a key, in bytes.
const (
	maxSaid  = 100
	keyBytes = 6
)

// finalMark is where the worked answers of GSM8K have their result.
const finalMark = "####"

// NewTask returns the task of a question. Where no kind is given, a capital letter is a choice, a number a number, and
// anything else exact.
func NewTask(question, answer string, kind TaskKind) (*Task, error) {
	if _, result, ok := strings.Cut(answer, finalMark); ok && (kind == "" || kind == Number) {
		answer, kind = result, Number
	}
	t := &Task{Kind: kind, want: strings.TrimSpace(answer)}
	if t.want == "" {
		return nil, errors.New("the answer is empty")
	}
	if kind == "" {
		t.Kind = guessKind(t.want)
	}
	if !slices.Contains([]TaskKind{Exact, Number, Choice}, t.Kind) {
		return nil, fmt.Errorf("there is no grading %q: want exact, number or choice", string(kind))
	}
	switch t.Kind {
	case Number:
		v, ok := parseNumber(t.want)
		if !ok {
			return nil, fmt.Errorf("%q is no number", t.want)
		}
		t.value = v
	case Choice:
		t.want = strings.ToUpper(strings.Trim(t.want, "().: "))
		if !isLetter(t.want) {
			return nil, fmt.Errorf("%q is no letter from A to J", t.want)
		}
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s\n%s\n%s", len(question), question, t.Kind, t.want))
	t.Key = hex.EncodeToString(sum[:keyBytes])
	return t, nil
}

func guessKind(answer string) TaskKind {
	if isLetter(answer) {
		return Choice
	}
	if _, ok := parseNumber(answer); ok {
		return Number
	}
	return Exact
}

func isLetter(s string) bool { return len(s) == 1 && s[0] >= 'A' && s[0] <= 'J' }

// Grade grades an answer. cut says that it was ended by its limit. Said is what was found in it, shortened.
func (t *Task) Grade(text string, cut bool) (o TaskOutcome, said string) {
	text, open := withoutReasoning(text)
	said, final := t.find(text)
	switch {
	case cut && (open || !final):
		return Cut, ""
	case said == "":
		return None, ""
	case t.isRight(said):
		o = Right
	default:
		o = Wrong
	}
	return o, shorten(said)
}

// withoutReasoning returns an answer without reasoning that a server without a parser for it leaves in the text. open
// says that the reasoning has no end.
func withoutReasoning(text string) (rest string, open bool) {
	const begin, end = "<think>", "</think>"
	if i := strings.LastIndex(text, end); i >= 0 {
		return text[i+len(end):], false
	}
	if strings.HasPrefix(strings.TrimSpace(text), begin) {
		return "", true
	}
	return text, false
}

// find returns what an answer says. final says that nothing that follows would change it.
func (t *Task) find(text string) (said string, final bool) {
	switch t.Kind {
	case Number:
		return findNumber(text), false
	case Choice:
		return findChoice(text)
	}
	return normalize(text), false
}

func (t *Task) isRight(said string) bool {
	switch t.Kind {
	case Number:
		const tolerance = 1e-9
		v, ok := parseNumber(said)
		return ok && math.Abs(v-t.value) <= tolerance*max(1, math.Abs(t.value))
	case Choice:
		return said == t.want
	}
	return strings.EqualFold(said, normalize(t.want))
}

// normalize returns a text with single spaces, without quotes around it and without a full stop.
func normalize(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.Trim(strings.TrimRight(strings.Trim(s, "\"'`*“”‘’ "), ".。"), "\"'`*“”‘’ ")
}

// resultMark is where answers say their result.
var resultMark = regexp.MustCompile(`(?i)####|\\boxed\{|answer\s*(?:is|:|=)|答案[是为：:]`)

// afterMark returns the part of an answer from where it says its result; all of it where it does not.
func afterMark(text string) (_ string, ok bool) {
	all := resultMark.FindAllStringIndex(text, -1)
	if len(all) == 0 {
		return text, false
	}
	return text[all[len(all)-1][1]:], true
}

var numbers = regexp.MustCompile(`[-−]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?`)

func findNumber(text string) string {
	if rest, ok := afterMark(text); ok {
		if at := numbers.FindStringIndex(rest); at != nil {
			return number(rest, at)
		}
	}
	all := numbers.FindAllStringIndex(text, -1)
	if len(all) == 0 {
		return ""
	}
	return number(text, all[len(all)-1])
}

// number returns the number at a place. A hyphen after a letter or digit is no sign.
func number(text string, at []int) string {
	n := strings.TrimRight(text[at[0]:at[1]], ",")
	before, _ := utf8.DecodeLastRuneInString(text[:at[0]])
	if rest, signed := strings.CutPrefix(n, "-"); signed && (unicode.IsLetter(before) || unicode.IsDigit(before)) {
		return rest
	}
	return n
}

// parseNumber reads a number as people write it.
func parseNumber(s string) (float64, bool) {
	s = strings.Trim(strings.TrimSpace(s), "$€£%")
	v, err := strconv.ParseFloat(strings.NewReplacer(",", "", "−", "-", "_", "x", " ", "").Replace(s), 64)
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// Where answers have the letter of a choice: at the beginning, after the place where they say their result, in
// brackets, or by itself.
var (
	letterFirst = regexp.MustCompile(`^[\s*_"'(\[]*(?:([A-Ja-j])(?:[)\].:,*]|\s*$)|([B-HJ])(?:\s|$))`)
	letterNext  = regexp.MustCompile(`^[\s*_"':(\[{]*(?:(?:option|choice)\s+)?[("']?([A-J])(?:[^A-Za-z]|$)`)
	letterIn    = regexp.MustCompile(`[(\[*]([A-J])[)\]*]`)
	letterAlone = regexp.MustCompile(`(?:^|[^A-Za-z'])([B-HJ])(?:[^A-Za-z']|$)`)
)

// findChoice returns the letter of the choice that an answer makes. One that the answer begins with is final.
func findChoice(text string) (letter string, final bool) {
	if m := letterFirst.FindStringSubmatch(text); m != nil {
		return strings.ToUpper(m[1] + m[2]), true
	}
	if rest, ok := afterMark(text); ok {
		if m := letterNext.FindStringSubmatch(rest); m != nil {
			return m[1], false
		}
	}
	for _, pattern := range []*regexp.Regexp{letterIn, letterAlone} {
		if all := pattern.FindAllStringSubmatch(text, -1); len(all) > 0 {
			return all[len(all)-1][1], false
		}
	}
	return "", false
}

// shorten returns the end of a text that is too long to keep. Bytes that are no text become U+FFFD.
func shorten(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= maxSaid {
		return s
	}
	return strings.ToValidUTF8(s[len(s)-maxSaid:], "")
}
