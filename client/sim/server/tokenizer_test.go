package server

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"llmsweep/client/testkit"
)

func pieces(s string) []string {
	var out []string
	for len(s) > 0 {
		n := nextToken(s)
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}

func TestTokens(t *testing.T) {
	for text, want := range map[string][]string{
		"":                      nil,
		"Hello world":           {"Hell", "o", " world"},
		"tokenization":          {"tokeni", "zation"}, // t and z: up to 6 letters
		"a  b\t c":              {"a", " ", " b", "\t", " c"},
		"in 2024, 3.5%":         {"in", " ", "2", "0", "2", "4", ",", " ", "3", ".", "5", "%"},
		"你好 world":              {"你", "好", " world"},
		"x\n\n y":               {"x", "\n", "\n", " y"},
		" ":                     {" "},
		"\xff\xfea":             {"\xff", "\xfe", "a"},
		"Приветствую вас":       {"Привет", "ству", "ю", " вас"},
		"<|im_start|>":          {"<", "|", "im", "_", "start", "|", ">"},
		"don't \"quote\" \\ me": {"don", "'", "t", " ", "\"", "quote", "\"", " ", "\\", " me"},
	} {
		if got := pieces(text); len(got) == 0 && len(want) > 0 || strings.Join(got, "") != text {
			t.Errorf("%q: %q", text, got)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// TestAnswersRetokenize checks that the text of an answer has as many tokens as the server reports.
func TestAnswersRetokenize(t *testing.T) {
	for seed := range uint64(200) {
		var text strings.Builder
		for n := range 300 {
			text.WriteString(Word(seed, n))
		}
		if got := len(Append(nil, text.String(), 152064)); got != 300 {
			t.Fatalf("seed %d: %d tokens, want 300", seed, got)
		}
	}
}

func TestChatTemplateOverhead(t *testing.T) {
	const vocab = 152064
	count := func(messages ...message) int { return len(appendChat(nil, messages, vocab)) }
	user := message{"user", "one two"}
	bare := len(Append(nil, "one two", vocab))
	one := count(message{"system", "x"}, user)
	if got := count(message{"system", "x"}, user, user) - one; got != bare+5 {
		t.Errorf("a message costs %d tokens besides its text, want 5", got-bare)
	}
	if with, without := one, count(user); without-with != len(Append(nil, "You are a helpful assistant.", vocab))-1 {
		t.Errorf("%d tokens with a system message of one token, %d without", with, without)
	}
}

func TestBlockHashes(t *testing.T) {
	a := blockHashes([]uint32{1, 2, 3, 4, 5, 6, 7}, 3)
	b := blockHashes([]uint32{1, 2, 3, 4, 5, 9}, 3)
	c := blockHashes([]uint32{9, 2, 3, 4, 5, 6}, 3)
	if len(a) != 2 || a[0] != b[0] || a[1] == b[1] || a[0] == c[0] || a[1] == c[1] {
		t.Errorf("%x %x %x", a, b, c)
	}
}

func FuzzTokenizer(f *testing.F) {
	for _, s := range []string{"", "Hello world", "  a\n\t b", "你好", "\xff\xfe", "e\u0301 \u00a0x"} {
		f.Add(s)
	}
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, s string) {
		got := pieces(s)
		if strings.Join(got, "") != s {
			t.Errorf("%q is cut into %q", s, got)
		}
		ids := Append(nil, s, 1000)
		if len(ids) != len(got) || len(ids) > len(s) {
			t.Errorf("%q: %d ids for %d pieces", s, len(ids), len(got))
		}
		for _, id := range ids {
			if id < idCount || id >= 1000 {
				t.Errorf("%q: id %d", s, id)
			}
		}
	}))
}
