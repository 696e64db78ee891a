package fidelity

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"llmsweep/client/input"
)

// Canary is a prompt, and how many tokens its answer has at most.
type Canary struct {
	Prompt string `json:"prompt"`
	Tokens int    `json:"tokens"`
}

// The defaults of a set.
const (
	DefaultCanaries = 100
	defaultTokens   = 64
	MostCanaries    = 5000
	mostPrompt      = 64 << 10 // bytes
	mostFile        = 64 << 20
	mostTokens      = 4096
)

// Set is a set of canaries.
type Set []Canary

// Fingerprint returns a short hash of the set: equal sets have the same.
func (s Set) Fingerprint() string {
	h := sha256.New()
	for _, c := range s {
		fmt.Fprintf(h, "%d %d %s\n", c.Tokens, len(c.Prompt), c.Prompt)
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}

// Tokens returns how many tokens an answer has at most.
func (s Set) Tokens() int {
	most := 0
	for _, c := range s {
		most = max(most, c.Tokens)
	}
	return most
}

// subjects and kinds make the built-in prompts: each kind with each subject.
var subjects = []string{
	"the sea", "a lighthouse", "railway timetables", "the number seven", "bread", "volcanoes", "a lost key", "binary search", "the moon", "bees",
	"a library at night", "steam engines", "the Silk Road", "rain", "chess openings", "a broken clock", "photosynthesis", "maps", "a market in spring", "prime numbers",
	"the northern lights", "paper", "a long journey", "hash tables", "salt", "bridges", "an old letter", "glaciers", "music boxes", "the post office",
	"sundials", "wool", "a harbour in winter", "recursion", "wheat", "lanterns", "the desert", "canals", "a chess player", "comets",
}

// kinds are the kinds of built-in prompts. %s is the subject, %d a number.
var kinds = []string{
	"Write a short paragraph about %s.",
	"List five facts about %s, one a line.",
	"Once upon a time there was a story about %s, and it began like this:",
	"func describe(n int) string {\n\t// returns a sentence about %s, repeated n times\n",
	"{\"subject\": \"%s\", \"properties\": {",
	"Translate into French: \"I have read a book about %s.\"",
	"Q: What is %s?\nA:",
	"请用三句话介绍：%s。",
	"SELECT name, year FROM notes WHERE topic = '%s' AND",
	"Answer with one word. Is the following about nature or about people: %s?",
	"# %s\n\nThis page explains the subject in detail. The first section is an overview, and the second one has examples.\n\n## Overview\n\n",
	"def test_topic():\n    \"\"\"Checks the summary of %s.\"\"\"\n    assert ",
}

// passage lengthens some prompts, so that a set has short, medium and long ones.
const passage = "The following notes were taken on a quiet afternoon, when nobody was in a hurry and the windows stood open. They are in no order, and some of them " +
	"repeat what was said before. A reader who looks for a thread will find one in the second half, where the questions are answered one after the other. "

// BuiltIn returns the first n built-in canaries. They differ in kind, and in length from a few words to some hundred.
func BuiltIn(n int) Set {
	set := make(Set, 0, n)
	for i := range n {
		subject := subjects[i*7%len(subjects)]
		if round := i / len(subjects) / len(kinds); round > 0 {
			subject = fmt.Sprintf("%s and the number %d", subject, round)
		}
		prompt := fmt.Sprintf(kinds[(i+i/len(subjects))%len(kinds)], subject)
		switch i % 5 {
		case 3:
			prompt = strings.Repeat(passage, 2) + "\n\n" + prompt
		case 4:
			prompt = strings.Repeat(passage, 6) + "\n\n" + prompt
		}
		set = append(set, Canary{prompt, defaultTokens})
	}
	return set
}

// Read reads a set from a file: a prompt on each line, as JSON ({"prompt": "..", "tokens": 64}, a string) or as it is.
func Read(path string) (Set, error) {
	raw, err := input.ReadFile(path, mostFile)
	if err != nil {
		return nil, err
	}
	var set Set
	for n, line := range bytes.Split(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")), []byte("\n")) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		c, err := readCanary(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n+1, err)
		}
		set = append(set, c)
	}
	switch {
	case len(set) == 0:
		return nil, fmt.Errorf("%s has no prompts: write one a line", path)
	case len(set) > MostCanaries:
		return nil, fmt.Errorf("%s has %d prompts, and a set of canaries has at most %d", path, len(set), MostCanaries)
	}
	return set, nil
}

func readCanary(line []byte) (c Canary, err error) {
	switch line[0] {
	case '{':
		err = json.Unmarshal(line, &c)
	case '"':
		err = json.Unmarshal(line, &c.Prompt)
	default:
		c.Prompt = string(line)
	}
	c.Tokens = cmp.Or(c.Tokens, defaultTokens)
	switch {
	case err != nil:
		return c, fmt.Errorf("not a canary: want {\"prompt\": \"..\", \"tokens\": %d}, or a prompt as it is", defaultTokens)
	case strings.TrimSpace(c.Prompt) == "":
		return c, fmt.Errorf("the prompt is empty")
	case !utf8.ValidString(c.Prompt):
		return c, fmt.Errorf("the prompt is not UTF-8")
	case len(c.Prompt) > mostPrompt:
		return c, fmt.Errorf("the prompt is longer than %d bytes", mostPrompt)
	case c.Tokens < 1 || c.Tokens > mostTokens:
		return c, fmt.Errorf("tokens must be between 1 and %d", mostTokens)
	}
	return c, nil
}
