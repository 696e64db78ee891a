package perplexity

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"llmsweep/client/input"
	"llmsweep/sweep/experiment"
)

// Limits on windows, in bytes and in number, and what is taken where nothing is said. 2048 bytes are about 500 tokens of English.
const (
	DefaultBytes   = 2048
	LeastBytes     = 256
	MostBytes      = 1 << 16
	DefaultWindows = 200
	MostWindows    = 10_000
	mostFile       = 64 << 20
)

// Text is a text that is scored.
type Text struct {
	Name    string // of its file
	Length  int    // bytes
	Print   string // its fingerprint
	Window  int    // bytes of a window
	Windows []Window
}

// Window is a part of a text.
type Window struct {
	At      int // its first byte in the text
	Text    string
	Context int // bytes of it that are not scored
}

// Requests returns how many requests the windows take; 0 for no text.
func (t *Text) Requests() int {
	if t == nil {
		return 0
	}
	return len(t.Windows)
}

// Tokens returns the tokens of the windows, given what counts those of a text.
func (t *Text) Tokens(count func(string) int) (all experiment.SpendTokens) {
	if t == nil {
		return all
	}
	for _, w := range t.Windows {
		all.Prompt += int64(count(w.Text))
		all.Output++
	}
	return all
}

// Read reads a text, and cuts it into windows of a number of bytes, of which it keeps at most a number, evenly spread over the text.
func Read(path string, window, most int) (*Text, error) {
	raw, err := input.ReadFile(path, mostFile)
	if err != nil {
		return nil, err
	}
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(raw) {
		return nil, fmt.Errorf("%s is no UTF-8 text: convert it first", path)
	}
	return Cut(filepath.Base(path), string(raw), window, most)
}

// Cut cuts a text into windows.
func Cut(name, text string, window, most int) (*Text, error) {
	sum := sha256.Sum256([]byte(text))
	t := &Text{Name: name, Length: len(text), Print: hex.EncodeToString(sum[:8]), Window: window}
	cuts := []int{0}
	for at := window / 2; at <= len(text); at += window / 2 {
		cuts = append(cuts, cut(text, at, cuts[len(cuts)-1]))
	}
	all := len(cuts) - 2
	if all < 1 {
		return nil, fmt.Errorf("%s has %d bytes, fewer than one window: give a longer text, or smaller windows (--text-bytes, %d or more)", name, len(text), LeastBytes)
	}
	n := min(all, most)
	for i := range n {
		k := i * all / n
		t.Windows = append(t.Windows, Window{At: cuts[k], Text: text[cuts[k]:cuts[k+2]], Context: cuts[k+1] - cuts[k]})
	}
	return t, nil
}

// back is how far a cut is moved so that no word is divided, in bytes. A text without blanks is cut between characters.
const back = 64

// cut returns where to cut a text at or before a place, and after the cut before it: before a blank that follows another character, since
// tokenizers put blanks with the words behind them.
func cut(text string, at, after int) int {
	blank := func(i int) bool { return strings.IndexByte(" \t\r\n", text[i]) >= 0 }
	for i := at; i > max(after, at-back); i-- {
		if i < len(text) && blank(i) && !blank(i-1) || i == len(text) {
			return i
		}
	}
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}
