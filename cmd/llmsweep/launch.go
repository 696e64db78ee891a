package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"llmsweep/client/redact"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/job"
	"llmsweep/report/inputs"
)

// launchCmd is llmsweep launch.
type launchCmd struct {
	On      string   `arg:"" name:"system" enum:"slurm,kubernetes" help:"slurm: a batch script for sbatch. kubernetes: manifests for kubectl apply."`
	Command []string `arg:"" name:"command" help:"After --, the command line that each rank runs: sweep URL ..., or run URL ..."`

	LaunchOptions
}

// Help returns what --help prints after the purpose.
func (launchCmd) Help() string {
	return `It prints, and starts nothing. The command line after -- is checked first. Keys in it are not printed: the job takes them
from the environment of sbatch, or from a Secret.

Examples:
  llmsweep launch slurm --ranks 4 -- sweep http://server:8000 | sbatch
  llmsweep launch slurm --ranks 8 --nodes 2 --partition cpu --time 1h -o sweep.sbatch -- sweep http://server:8000
  llmsweep launch kubernetes --ranks 4 --image registry/llmsweep:1 -- sweep http://vllm:8000 | kubectl apply -f -
  llmsweep launch kubernetes --namespace bench --claim results -o job.yaml -- run http://vllm:8000 --rate 50 --duration 5m

More: llmsweep help cluster`
}

// Run prints the script or the manifests.
func (l *launchCmd) Run(c *console.Console) error {
	c.Lang = l.Lang
	err := l.Check(l.On)
	if err == nil {
		err = l.check(c)
	}
	if err != nil {
		return console.Usage(err)
	}
	var known []string
	keys, _ := redact.SecretVariables()
	for _, name := range keys {
		known = append(known, c.World().Env(name))
	}
	l.Version, l.Line = console.VersionNumber, readLaunch(l.Command, known...)
	if l.On == "kubernetes" {
		token := make([]byte, 16)
		rand.Read(token)
		l.Token = hex.EncodeToString(token)
		if c.World().Env("LLMSWEEP_API_KEY") != "" || c.World().Env("OPENAI_API_KEY") != "" {
			l.Line.Key()
		}
	}
	text, err := l.Write(l.On)
	if err != nil {
		return err
	}
	for _, n := range l.Notes(l.On) {
		fmt.Fprintln(c.Err, "llmsweep: "+n)
	}
	if l.Output != "" {
		return console.WriteFiles(l.Force, inputs.OutputFile{Path: l.Output, Content: []byte(text), Comment: inputs.HashMark, Private: true})
	}
	_, err = io.WriteString(c.Out, text)
	return err
}

// check returns what is wrong with the command line of the ranks.
func (l *launchCmd) check(c *console.Console) error {
	var grammar cli
	elsewhere := c.World()
	elsewhere.Env = func(string) string { return "" } // the ranks have another environment
	quiet := console.NewConsole(c.Ctx, io.Discard, io.Discard).In(elsewhere)
	parser, exited := newParser(quiet, &grammar)
	parsed, err := parser.Parse(l.Command)
	if err == nil && exited() < 0 {
		err = checkPositive(parsed)
	}
	switch {
	case exited() >= 0:
		return errNotLaunched
	case err != nil:
		return plain(err, l.Command[0])
	}
	var m *job.Job
	switch strings.Fields(parsed.Command())[0] {
	case "sweep":
		m, err = grammar.Sweep.job(quiet)
	case "run":
		m, err = grammar.Run.job(quiet)
	default:
		return errNotLaunched
	}
	if err == nil && (grammar.Sweep.DryRun || grammar.Run.DryRun) {
		return errNotLaunched
	}
	if err != nil {
		return err
	}
	return m.Check()
}

var errNotLaunched = errors.New("launch takes a sweep or a run: write one of them after --, such as -- sweep URL")
