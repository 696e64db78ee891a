package main

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
)

// Slurm returns a batch script for sbatch.
func (o *LaunchOptions) Slurm() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	comment := func(text string) { line("# %s", text) }
	nodes := cmp.Or(o.Nodes, o.Ranks)
	perNode := (o.Ranks + nodes - 1) / nodes

	line("#!/bin/bash")
	comment(sayScript.In(o.Lang, o.Ranks, o.Version))
	line("#SBATCH --job-name=%s", o.Name)
	line("#SBATCH --nodes=%d", nodes)
	line("#SBATCH --ntasks=%d", o.Ranks)
	line("#SBATCH --ntasks-per-node=%d", perNode)
	line("#SBATCH --cpus-per-task=%d", o.CPUs)
	line("#SBATCH --mem=%dM", o.memory(perNode))
	line("#SBATCH --time=%s", slurmTime(o.Time))
	if o.Partition != "" {
		line("#SBATCH --partition=%s", quoted(o.Partition))
	}
	if o.Account != "" {
		line("#SBATCH --account=%s", quoted(o.Account))
	}
	for _, option := range o.Sbatch {
		line("#SBATCH %s", option)
	}
	line("set -u")
	comment(sayTokenMade.In(o.Lang))
	line(`LLMSWEEP_CLUSTER_TOKEN=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')`)
	line("export LLMSWEEP_CLUSTER_TOKEN")
	for _, s := range o.Line.Secrets {
		line(`: "${%s:?%s}"`, s.Variable, saySetBefore.In(o.Lang, s.Variable))
	}
	comment(saySurvivors.In(o.Lang))
	words := []string{"exec", "srun", fmt.Sprintf("--cpus-per-task=%d", o.CPUs), "--kill-on-bad-exit=0", "--wait=0", quoted(cmp.Or(o.Program, "llmsweep"))}
	for _, a := range o.Line.Args {
		words = append(words, a.shell())
	}
	line("%s", strings.Join(words, " "))
	return b.String()
}

// slurmTime returns a time as sbatch takes it: days-hours:minutes:seconds.
func slurmTime(d time.Duration) string {
	const day = 24 * time.Hour
	s := fmt.Sprintf("%02d:%02d:%02d", d%day/time.Hour, d%time.Hour/time.Minute, d%time.Minute/time.Second)
	if d < day {
		return s
	}
	return fmt.Sprintf("%d-%s", d/day, s)
}

// plainWord matches what a shell takes as it is.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// quoted returns a word that bash takes as the text. It has no character that a terminal obeys.
func quoted(text string) string {
	switch {
	case plainWord.MatchString(text):
		return text
	case strings.ContainsFunc(text, func(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }):
		var b strings.Builder
		for i := range len(text) {
			if c := text[i]; c > ' ' && c < 0x7f && c != '\'' && c != '\\' {
				b.WriteByte(c)
			} else {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		}
		return "$'" + b.String() + "'"
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// shell returns an argument as a shell reads it.
func (a LaunchArg) shell() string {
	var b strings.Builder
	for _, p := range a {
		if p.Variable != "" {
			fmt.Fprintf(&b, `"${%s}"`, p.Variable)
			continue
		}
		b.WriteString(quoted(p.Text))
	}
	return cmp.Or(b.String(), "''")
}
