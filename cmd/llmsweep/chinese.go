// Prints --help in Chinese.

package main

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/kong"

	"llmsweep/cmd/llmsweep/manual"
	"llmsweep/report/table"
)

// helpWords has each text of --help in English and, on the next line, in Chinese.
//
//go:embed help.zh.txt
var helpWords string

// chineseTexts returns the Chinese of each English text.
var chineseTexts = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for pair := range strings.SplitSeq(strings.TrimSpace(helpWords), "\n\n") {
		english, chinese, _ := strings.Cut(pair, "\n")
		all[english] = chinese
	}
	return all
})

// inChinese returns a text of --help in Chinese; in English where there is none.
func inChinese(english string) string { return cmp.Or(chineseTexts()[english], english) }

// chineseHelp returns the help that a command line asks for; not ok where it asks for none, or in English.
func chineseHelp(app *kong.Application, args []string, env func(string) string) (text string, ok bool) {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	language := ""
	if env != nil {
		language = manual.Language(env)
	}
	for i, arg := range args {
		if value, given := strings.CutPrefix(arg, "--lang="); given {
			language = value
		} else if arg == "--lang" && i+1 < len(args) {
			language = args[i+1]
		}
	}
	asked := len(args) == 0 || slices.Contains(args, "--help") || slices.Contains(args, "-h")
	if !asked || language != "zh" {
		return "", false
	}
	node := app.Node
	if i := slices.IndexFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") && arg != "zh" }); i >= 0 {
		c := slices.IndexFunc(app.Children, func(n *kong.Node) bool { return n.Name == args[i] })
		if c < 0 {
			return "", false
		}
		node = app.Children[c]
	}
	var p helpPage
	p.node(app, node)
	return p.String(), true
}

// flagInChinese returns the help of a flag, with the environment variables that set it.
func flagInChinese(f *kong.Flag) string {
	if len(f.Tag.Envs) == 0 {
		return inChinese(f.Help)
	}
	return strings.TrimSuffix(inChinese(f.Help), "。") + "（$" + strings.Join(f.Tag.Envs, "、$") + "）。"
}

// helpPage is the text of --help.
type helpPage struct{ strings.Builder }

// helpWidth is the number of columns of --help.
const helpWidth = 80

func (p *helpPage) line(s string) { p.WriteString(s + "\n") }

// node writes the help of a command, or of the program.
func (p *helpPage) node(app *kong.Application, node *kong.Node) {
	usage := app.Name + app.Summary()
	if node != app.Node {
		usage = app.Name + " " + node.Summary()
	}
	p.line("用法：" + usage + "\n\n" + table.Wrap(inChinese(node.Help), helpWidth, 0))
	if node.Detail != "" {
		p.line("")
		p.detail(node.Detail)
	}
	var rows [][2]string
	for _, a := range node.Positional {
		rows = append(rows, [2]string{a.Summary(), inChinese(a.Help)})
	}
	p.columns("参数：", rows)
	titles, groups := []string{"选项："}, map[string][][2]string{}
	for _, level := range node.AllFlags(true) {
		for _, f := range level {
			title := titles[0]
			if f.Group != nil {
				title = inChinese(f.Group.Title)
			}
			if !slices.Contains(titles, title) {
				titles = append(titles, title)
			}
			groups[title] = append(groups[title], [2]string{f.String(), flagInChinese(f)})
		}
	}
	for _, title := range titles {
		p.columns(title, groups[title])
	}
	rows = nil
	for _, c := range node.Children {
		if !c.Hidden {
			rows = append(rows, [2]string{c.Name, inChinese(c.Help)})
		}
	}
	p.columns("命令：", rows)
	if len(rows) > 0 {
		p.line("\n某个命令的说明：llmsweep <command> --help")
	}
}

// detail writes what stands below the purpose of a command: paragraphs, and indented lines, which may end in a comment.
func (p *helpPage) detail(text string) {
	for _, part := range helpParts(text) {
		code, comment, commented := strings.Cut(part, "# ")
		switch {
		case strings.HasPrefix(part, "      "): // what a form of --habit means: llmsweep help simulator has it in Chinese
		case !strings.HasPrefix(part, " "):
			p.line(table.Wrap(inChinese(part), helpWidth, 0))
		case commented:
			p.line(code + "# " + inChinese(comment))
		default:
			p.line(part)
		}
	}
}

// helpParts returns the paragraphs of a text, each in one line, and its empty and indented lines.
func helpParts(text string) []string {
	var parts []string
	prose := func(s string) bool { return s != "" && !strings.HasPrefix(s, " ") }
	for line := range strings.SplitSeq(text, "\n") {
		if last := len(parts) - 1; last >= 0 && prose(line) && prose(parts[last]) {
			parts[last] += " " + line
		} else {
			parts = append(parts, line)
		}
	}
	return parts
}

// columns writes rows of a name and what it means.
func (p *helpPage) columns(title string, rows [][2]string) {
	if len(rows) == 0 {
		return
	}
	const indent, gap = 2, 4
	width := 0
	for _, row := range rows {
		width = max(width, table.Width(row[0]))
	}
	p.line("\n" + title)
	for _, row := range rows {
		left := strings.Repeat(" ", indent) + table.Pad(row[0], width+gap, true)
		p.line(table.Wrap(left+row[1], helpWidth, indent+width+gap))
	}
}
