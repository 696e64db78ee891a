package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"llmsweep/client/spend"
	"llmsweep/report/lang"
	"llmsweep/sweep/answer"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/disk"
)

// resumeCmd is llmsweep resume.
type resumeCmd struct {
	Dir    string   `arg:"" name:"dir" help:"Run directory."`
	URL    string   `name:"url" placeholder:"URL" help:"URL of the server, where it has changed, or where it holds a secret."`
	APIKey string   `name:"api-key" env:"LLMSWEEP_API_KEY,OPENAI_API_KEY" placeholder:"KEY" help:"API key. It is in no file, so give it again, or set LLMSWEEP_API_KEY."`
	Header []string `sep:"none" placeholder:"K:V" help:"HTTP header of the first part; its value is in no file."`
	Body   string   `placeholder:"JSON" help:"JSON of the first part, where it held a secret."`
	Lang   string   `default:"" enum:",en,zh" placeholder:"en|zh" help:"Language of the report. Default: that of the first part."`
	Plain  bool     `help:"Print plain lines, without colour and without redrawing."`
	serveFlags
}

// Help returns what --help prints after the purpose.
func (resumeCmd) Help() string {
	return `It continues a sweep or run that was interrupted, killed, or cut off by a power failure, with the flags of its first
part. Whole stages are kept, and the one that was cut is measured again. The server must be the same as before.

Examples:
  llmsweep resume llmsweep-run
  llmsweep resume llmsweep-run --url http://other-host:8000    # the server has moved
  llmsweep resume llmsweep-run --header 'X-Key: SECRET'        # values of headers are in no file

More: llmsweep help resume`
}

// Run continues.
func (r *resumeCmd) Run(c *console) error {
	c.lang = lang.Lang(r.Lang)
	before, err := resumable(r.Dir)
	if err != nil {
		return usage(err)
	}
	args, err := r.again(before)
	if err != nil {
		return usage(err)
	}
	var grammar cli
	quiet := &console{out: io.Discard, err: io.Discard}
	parser, exited := newParser(quiet, &grammar)
	parsed, err := parser.Parse(args)
	if err != nil || exited() >= 0 {
		return usage(fmt.Errorf("%s holds a command line that this llmsweep does not take: %w", r.Dir, cmp.Or(err, errors.New(strings.Join(before.Command.Args, " ")))))
	}
	var out *outFlags
	var server *string
	switch parsed.Selected().Name {
	case "sweep":
		out, server = &grammar.Sweep.outFlags, &grammar.Sweep.URL
	case "run":
		out, server = &grammar.Run.outFlags, &grammar.Run.URL
	case "demo":
		out = &grammar.Demo.outFlags
	default:
		return usage(fmt.Errorf("%s was not made by llmsweep sweep or llmsweep run: there is nothing to continue", r.Dir))
	}
	out.Out, out.Plain, out.serveFlags = r.Dir, r.Plain || out.Plain, r.serveFlags
	out.Lang = cmp.Or(r.Lang, out.Lang)
	c.lang, c.before, c.url, c.configured = "", before, quiet.url, quiet.configured
	if server != nil && r.URL != "" {
		*server = r.URL
	}
	return parsed.Run(c)
}

// resumable returns the run in a directory that can go on.
func resumable(path string) (*rundir.Run, error) {
	if _, pair, _ := rundir.OpenPair(path); pair {
		return nil, fmt.Errorf("%s holds a comparison of two servers, which cannot be continued: run llmsweep compare --live again", path)
	}
	run, err := rundir.Open(path)
	switch {
	case err != nil:
		return nil, err
	case disk.InUse(path):
		return nil, fmt.Errorf("%s is still being measured by another llmsweep; it can be continued when that has ended", path)
	case run.Source != nil:
		return nil, fmt.Errorf("%s holds an imported result, which cannot be continued", path)
	case run.State == rundir.Complete:
		return nil, fmt.Errorf("%s holds a whole run: there is nothing to continue", path)
	case run.Plan.Kind == rundir.KindPair:
		return nil, fmt.Errorf("%s holds a comparison of two servers, which cannot be continued: run llmsweep compare --live again", path)
	case len(run.Command.Args) < 2:
		return nil, fmt.Errorf("%s does not hold its command line, so that it cannot be continued: measure again", path)
	}
	return run, nil
}

// again returns the command line of the first part, with the secrets that are given again.
func (r *resumeCmd) again(before *rundir.Run) ([]string, error) {
	var args []string
	old := before.Command.Args[1:]
	for i := 0; i < len(old); i++ {
		name, value, joined := strings.Cut(old[i], "=")
		flag := strings.HasPrefix(name, "--")
		next := ""
		if flag && !joined && i+1 < len(old) {
			next = old[i+1]
		}
		if flag && !joined {
			value = next
		}
		switch {
		case slices.Contains(secretFlags, name), name == "--header", name == "--body" && r.Body != "":
			if !joined {
				i++
			}
			if name == "--header" && strings.HasSuffix(value, redacted) && !r.hasHeader(value) {
				return nil, fmt.Errorf("the value of the header %s is in no file: give it again with --header", strings.TrimSuffix(value, ": "+redacted))
			}
		case name == "--body" && strings.Contains(value, redacted):
			return nil, errors.New("--body held a secret, which is in no file: give it again with --body")
		case !flag && r.URL == "" && strings.Contains(old[i], redacted):
			return nil, fmt.Errorf("the URL %s held a secret, which is in no file: give it again with --url", old[i])
		default:
			args = append(args, old[i])
		}
	}
	for _, h := range r.Header {
		args = append(args, "--header="+h)
	}
	if r.Body != "" {
		args = append(args, "--body="+r.Body)
	}
	if r.APIKey != "" {
		args = append(args, "--api-key="+r.APIKey)
	}
	return args, nil
}

// hasHeader reports whether a header of the first part is given again.
func (r *resumeCmd) hasHeader(old string) bool {
	name, _, _ := strings.Cut(old, ":")
	return slices.ContainsFunc(r.Header, func(h string) bool {
		given, _, _ := strings.Cut(h, ":")
		return strings.EqualFold(strings.TrimSpace(given), strings.TrimSpace(name))
	})
}

// sameServer returns an error where a run that goes on would measure another server, or something else.
func sameServer(before *rundir.Run, now *target) error {
	for _, c := range []struct{ what, then, now string }{
		{"model", before.Target.Model, now.about.Model},
		{"API", before.Target.API, now.about.API},
		{"engine", before.Target.Engine, now.about.Engine},
		{"version", before.Target.Version, now.about.Version},
	} {
		if c.then != c.now {
			return fmt.Errorf("this is not the server of the first part: its %s was %s and is %s now; measure it into another directory with --out",
				c.what, cmp.Or(c.then, "not known"), cmp.Or(c.now, "not known"))
		}
	}
	if !experiment.SameWorkload(&before.Workload, &now.asked) {
		return errors.New("the requests would be others than in the first part: the prompts, the dataset, or how the server counts tokens have changed")
	}
	return nil
}

// spentBefore returns what the first part of a run spent. Where it was killed, the requests that run.json does not count yet are reckoned with
// as dearly as they can have been.
func spentBefore(before *rundir.Run, path string) (spend.Spent, error) {
	var s spend.Spent
	told := before.Spent
	if told == nil {
		return s, nil
	}
	s = spend.Spent{Requests: told.Requests, Prompt: told.PromptTokens, Output: told.OutputTokens, UnsureOutput: told.UnsureTokens, Cost: told.Cost.Value()}
	if !told.Cost.Known() {
		s.Cost = 0
	}
	lost, err := answer.Unsaved(path, before)
	if err != nil {
		return s, err
	}
	limits := spend.Limits{PriceIn: orZero(told.PriceIn), PriceOut: orZero(told.PriceOut)}
	s.Requests += lost.Requests
	s.UnsurePrompt, s.UnsureOutput = s.UnsurePrompt+lost.Prompt, s.UnsureOutput+lost.Output
	s.Cost += limits.Price(lost.Prompt, lost.Output)
	return s, nil
}

// orZero returns a number, or 0 where it is absent.
func orZero(n rundir.Number) float64 {
	if n.IsZero() {
		return 0
	}
	return n.Value()
}
