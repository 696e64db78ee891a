package job

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"llmsweep/client"
	"llmsweep/client/redact"
	"llmsweep/report/inputs"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/saturation"
)

// OpenResumed returns the run in a directory, if it can be continued.
func OpenResumed(path string) (*rundir.Run, error) {
	if _, pair, _ := store.OpenPair(path); pair {
		return nil, fmt.Errorf("%s holds a comparison of two servers, which cannot be continued: run llmsweep compare "+
			"--live again", path)
	}
	run, err := store.Open(path)
	switch {
	case err != nil:
		return nil, err
	case store.InUse(path):
		return nil, fmt.Errorf("%s is still being measured by another llmsweep; it can be continued when that has ended",
			path)
	case run.Source != nil:
		return nil, fmt.Errorf("%s holds an imported result, which cannot be continued", path)
	case run.State == rundir.Complete:
		return nil, fmt.Errorf("%s holds a whole run: there is nothing to continue", path)
	case run.Plan.Kind == rundir.KindPair:
		return nil, fmt.Errorf("%s holds a comparison of two servers, which cannot be continued: run llmsweep compare "+
			"--live again", path)
	case len(run.Command.Args) < 2:
		return nil, fmt.Errorf("%s does not hold its command line, so that it cannot be continued: measure again", path)
	}
	return run, nil
}

// Overwrites returns an error where new reports would overwrite a report, a page or a drawing that somebody changed.
func Overwrites(path string, force bool) error {
	names := []string{rundir.ReportFile, rundir.PageFile}
	for _, drawing := range Best() {
		names = append(names, drawing+".svg")
	}
	for _, name := range names {
		if err := inputs.CheckOutput(filepath.Join(path, name), force); err != nil {
			return err
		}
	}
	return nil
}

// ResumeGiven holds the secrets of the first part of a run, which are in no file and are given again.
type ResumeGiven struct {
	URLs         []string // also of a server that has moved
	Headers      []string
	Body, APIKey string
}

// Args returns the command line of the first part, with the secrets that are given again. The URLs of the servers stay.
func (g *ResumeGiven) Args(before *rundir.Command) ([]string, error) {
	var args []string
	if len(before.Args) < 2 {
		return nil, errors.New("rank 0 begins a new run: all ranks need the same command line")
	}
	old := before.Args[1:]
	for i := 0; i < len(old); i++ {
		name, value, joined := strings.Cut(old[i], "=")
		flag := strings.HasPrefix(name, "--")
		if flag && !joined && i+1 < len(old) {
			value = old[i+1]
		}
		switch {
		case slices.Contains(redact.SecretFlags, name), name == "--header", name == "--body" && g.Body != "":
			if !joined {
				i++
			}
			if name == "--header" && strings.HasSuffix(value, redact.Redacted) && !g.hasHeader(value) {
				return nil, fmt.Errorf("the value of the header %s is in no file: give it again with --header",
					strings.TrimSuffix(value, ": "+redact.Redacted))
			}
		case name == "--body" && strings.Contains(value, redact.Redacted):
			return nil, errors.New("--body held a secret, which is in no file: give it again with --body")
		case !flag && len(g.URLs) == 0 && strings.Contains(old[i], redact.Redacted):
			return nil, fmt.Errorf("the URL %s held a secret, which is in no file: give it again with --url", old[i])
		default:
			args = append(args, old[i])
		}
	}
	for _, h := range g.Headers {
		args = append(args, "--header="+h)
	}
	if g.Body != "" {
		args = append(args, "--body="+g.Body)
	}
	if g.APIKey != "" {
		args = append(args, "--api-key="+g.APIKey)
	}
	return args, nil
}

func (g *ResumeGiven) hasHeader(old string) bool {
	name, _, _ := strings.Cut(old, ":")
	return slices.ContainsFunc(g.Headers, func(h string) bool {
		given, _, _ := strings.Cut(h, ":")
		return strings.EqualFold(strings.TrimSpace(given), strings.TrimSpace(name))
	})
}

// checkContinued refuses to continue a run on another server, or with another workload.
func (t *Target) checkContinued(before *rundir.Run) error {
	now, asked := &t.About, t.asked()
	for _, c := range []struct{ what, then, now string }{
		{"model", before.Target.Model, now.Model},
		{"API", before.Target.API, now.API},
		{"engine", before.Target.Engine, now.Engine},
		{"version", before.Target.Version, now.Version},
		{"number of replicas", strconv.Itoa(len(before.Target.Replicas)), strconv.Itoa(len(now.Replicas))},
	} {
		if c.then != c.now {
			return fmt.Errorf("this is not the server of the first part: its %s was %s and is %s now; measure it into "+
				"another directory with --out", c.what, cmp.Or(c.then, "not known"), cmp.Or(c.now, "not known"))
		}
	}
	if !experiment.SameWorkload(&before.Workload, &asked) {
		return errors.New("the requests would be others than in the first part: the prompts, the dataset, or how the " +
			"server counts tokens have changed")
	}
	return nil
}

// earlierSpending returns what the first part of a run spent. Where it was killed, requests that run.json does not
// count yet are taken to have cost as much as they can have.
func earlierSpending(before *rundir.Run, path string) (client.Spent, error) {
	saved := before.Spent
	if saved == nil {
		return client.Spent{}, nil
	}
	s := client.Spent{Requests: saved.Requests, Prompt: saved.PromptTokens, Output: saved.OutputTokens,
		UnsureOutput: saved.UnsureTokens, Cost: saved.Cost.Or(0)}
	lost, err := saturation.Unsaved(path, before)
	if err != nil {
		return s, err
	}
	limits := client.SpendLimits{PriceIn: saved.PriceIn.Or(0), PriceOut: saved.PriceOut.Or(0)}
	s.Requests += lost.Requests
	s.UnsurePrompt, s.UnsureOutput = s.UnsurePrompt+lost.Prompt, s.UnsureOutput+lost.Output
	s.Cost += limits.Price(lost.Prompt, lost.Output)
	return s, nil
}
