package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/report/table"
)

// helpTexts returns all that --help says of a node of the grammar and those below it.
func helpTexts(n *kong.Node) []string {
	texts := []string{n.Help}
	for _, part := range helpParts(n.Detail) {
		if _, comment, ok := strings.Cut(part, "# "); ok {
			part = comment
		} else if strings.HasPrefix(part, " ") {
			continue // an example
		}
		texts = append(texts, part)
	}
	for _, a := range n.Positional {
		texts = append(texts, a.Help)
	}
	for _, f := range n.Flags {
		if f.Group != nil {
			texts = append(texts, f.Group.Title)
		}
		if !f.Hidden {
			texts = append(texts, f.Help)
		}
	}
	for _, c := range n.Children {
		if !c.Hidden {
			texts = append(texts, helpTexts(c)...)
		}
	}
	return texts
}

// TestHelpIsInChinese: each text of --help has its Chinese, and the file has no other texts.
func TestHelpIsInChinese(t *testing.T) {
	parser, _ := newParser(console.NewConsole(t.Context(), nil, nil), &cli{})
	texts := helpTexts(parser.Model.Node)
	for _, english := range texts {
		if chinese := chineseTexts()[english]; chinese == "" && english != "" {
			t.Errorf("write the Chinese of this into help.zh.txt, on the line below it: %s", english)
		}
	}
	for english := range chineseTexts() {
		if !slices.Contains(texts, english) {
			t.Errorf("no help says this any longer, take it out of help.zh.txt: %s", english)
		}
	}
}

// speaking returns the console in a world with a language and no other variables.
func speaking(c *console.Console, language string) *console.Console {
	w := c.World()
	w.Env = func(name string) string { return map[string]string{"LANG": language}[name] }
	return c.In(w)
}

// TestHelpInChinese: --help of each command is Chinese by --lang and by the environment, and fits 80 columns but for examples. --lang en wins.
func TestHelpInChinese(t *testing.T) {
	for _, command := range append(commands(t), "") {
		help := func(environment string, args ...string) string {
			var out, errs strings.Builder
			c := speaking(console.NewConsole(t.Context(), &out, &errs), environment)
			if code := executeAgain(append(strings.Fields(command), args...), c); code != console.Done || errs.Len() > 0 {
				t.Errorf("%s %v: exit %d, %s", command, args, code, errs.String())
			}
			return out.String()
		}
		text := help("en_US.UTF-8", "--help", "--lang", "zh")
		if !strings.HasPrefix(text, "用法：llmsweep "+command) || !strings.Contains(text, "显示本帮助。") {
			t.Errorf("%s --help --lang zh:\n%s", command, text)
		}
		for line := range strings.Lines(text) {
			if table.Width(strings.TrimSpace(line)) > helpWidth && !strings.HasPrefix(line, "  llmsweep") && !strings.HasPrefix(line, "  srun") {
				t.Errorf("%s: too wide: %s", command, line)
			}
		}
		if strings.Contains(text, "Example") {
			t.Errorf("%s: English is left:\n%s", command, text)
		}
		if again := help("zh_CN.UTF-8", "-h"); again != text {
			t.Errorf("%s -h with LANG=zh_CN differs:\n%s", command, again)
		}
	}
	for _, args := range [][]string{{"sweep", "--help", "--lang", "en"}, {"sweep", "--lang=en", "-h"}} {
		c := speaking(console.NewConsole(t.Context(), nil, nil), "zh_CN.UTF-8")
		parser, _ := newParser(c, &cli{})
		if text, ok := chineseHelp(parser.Model, args, c.World().Env); ok {
			t.Errorf("%v: %s", args, text)
		}
	}
}
