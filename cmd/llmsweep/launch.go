package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"llmsweep/client/redact"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/job"
	"llmsweep/report/inputs"
	"llmsweep/report/lang"
)

// launchCmd is llmsweep launch.
type launchCmd struct {
	On      string   `arg:"" name:"system" enum:"slurm,kubernetes" help:"slurm: a batch script for sbatch. kubernetes: manifests for kubectl apply."`
	Command []string `arg:"" name:"command" help:"After --, the command line that each rank runs: sweep URL ..., or run URL ..."`

	Name   string        `default:"llmsweep" placeholder:"NAME" help:"Name of the job (${default})." group:"Job"`
	Ranks  int           `default:"4" placeholder:"N" help:"Number of ranks (${default})." group:"Job"`
	CPUs   int           `name:"cpus" default:"2" placeholder:"N" help:"Processor cores for each rank (${default})." group:"Job"`
	Memory string        `default:"2G" placeholder:"SIZE" help:"Memory for each rank: 2G, 512M (${default})." group:"Job"`
	Time   time.Duration `default:"2h" placeholder:"TIME" help:"Time limit of the job (${default})." group:"Job"`
	Output string        `short:"o" type:"path" placeholder:"FILE" help:"Write to this file." group:"Job"`
	Force  bool          `help:"Overwrite a file that llmsweep did not write, or that was changed since." group:"Job"`
	Lang   string        `default:"en" enum:"en,zh" placeholder:"en|zh" help:"Language of the comments: en or zh (${default})." group:"Job"`

	Nodes     int      `placeholder:"N" positive:"" help:"Number of nodes. Default: one for each rank." group:"Slurm"`
	Partition string   `placeholder:"NAME" help:"Partition." group:"Slurm"`
	Account   string   `placeholder:"NAME" help:"Account." group:"Slurm"`
	Sbatch    []string `sep:"none" placeholder:"OPTION" help:"Another option of sbatch, such as --sbatch=--exclusive; may be repeated." group:"Slurm"`
	Program   string   `placeholder:"PATH" help:"Path of llmsweep on the nodes. Default: llmsweep, from the PATH." group:"Slurm"`

	Image     string `default:"llmsweep:latest" placeholder:"NAME" help:"Image of llmsweep (${default}); examples/docker has a Dockerfile." group:"Kubernetes"`
	Namespace string `placeholder:"NAME" help:"Namespace. Default: that of kubectl." group:"Kubernetes"`
	Claim     string `placeholder:"NAME" help:"PersistentVolumeClaim that the run directory is written to; all pods mount it. Default: a volume of the pod, from which it is copied." group:"Kubernetes"`
	Secret    string `default:"llmsweep-keys" placeholder:"NAME" help:"Secret with the keys of the command line (${default})." group:"Kubernetes"`
	CopyImage string `name:"copy-image" default:"busybox:1.37" placeholder:"NAME" help:"Image with sh and tar, from which kubectl cp copies the run directory (${default})." group:"Kubernetes"`
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
	c.Lang = lang.Lang(l.Lang)
	o := LaunchOptions{
		Name: l.Name, Ranks: l.Ranks, CPUs: l.CPUs, Memory: l.Memory, Time: l.Time, Lang: c.Lang, Version: console.VersionNumber,
		Nodes: l.Nodes, Partition: l.Partition, Account: l.Account, Sbatch: l.Sbatch, Program: l.Program,
		Namespace: l.Namespace, Image: l.Image, Claim: l.Claim, Secret: l.Secret, Copier: l.CopyImage,
	}
	err := o.Check()
	if err == nil {
		err = l.foreign()
	}
	if err == nil {
		err = l.check(c)
	}
	if err != nil {
		return console.Usage(err)
	}
	var known []string
	keys, _ := redact.SecretVariables()
	for _, name := range keys {
		known = append(known, c.Env(name))
	}
	o.Line = ReadLaunch(l.Command, known...)
	if l.On == "kubernetes" && (c.Env("LLMSWEEP_API_KEY") != "" || c.Env("OPENAI_API_KEY") != "") {
		o.Line.Key()
	}
	text := ""
	if l.On == "slurm" {
		text = o.Slurm()
	} else {
		token := make([]byte, 16)
		rand.Read(token)
		o.Token = hex.EncodeToString(token)
		if text, err = o.Kubernetes(); err != nil {
			return err
		}
	}
	for _, n := range o.Notes(l.On == "kubernetes") {
		fmt.Fprintln(c.Err, "llmsweep: "+n)
	}
	if l.Output != "" {
		return console.WriteFiles(l.Force, inputs.OutputFile{Path: l.Output, Content: []byte(text), Comment: inputs.HashMark, Private: true})
	}
	_, err = io.WriteString(c.Out, text)
	return err
}

// foreign returns an error where a flag of the other system was given.
func (l *launchCmd) foreign() error {
	slurm := l.Nodes > 0 || l.Partition != "" || l.Account != "" || len(l.Sbatch) > 0 || l.Program != ""
	kubernetes := l.Namespace != "" || l.Claim != ""
	switch {
	case slurm && l.On == "kubernetes":
		return errors.New("--nodes, --partition, --account, --sbatch and --program are for slurm")
	case kubernetes && l.On == "slurm":
		return errors.New("--namespace and --claim are for kubernetes")
	}
	return nil
}

// check returns what is wrong with the command line of the ranks.
func (l *launchCmd) check(c *console.Console) error {
	var grammar cli
	quiet := console.NewConsole(c.Ctx, io.Discard, io.Discard)
	quiet.Env = func(string) string { return "" } // the ranks have another environment
	parser, exited := newParser(quiet, &grammar)
	parsed, err := parser.Parse(l.Command)
	if err == nil && exited() < 0 {
		err = CheckPositive(parsed)
	}
	switch {
	case exited() >= 0:
		return errNotLaunched
	case err != nil:
		return Plain(err, l.Command[0])
	}
	var m *job.Measurement
	switch strings.Fields(parsed.Command())[0] {
	case "sweep":
		m, err = grammar.Sweep.measurement(quiet)
	case "run":
		m, _, err = grammar.Run.measurement(quiet)
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
