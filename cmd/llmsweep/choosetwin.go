package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/report/choose/wanted"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/twin"
	"llmsweep/sweep/twin/ask"
	"llmsweep/sweep/twin/predicted"
	"llmsweep/sweep/workload"
)

// twins reads the twins among the paths, and returns the other paths.
func (ch *chooseCmd) twins() (results []string, files []wanted.File, err error) {
	for _, path := range ch.Paths {
		if !slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(path)) {
			results = append(results, path)
			continue
		}
		t, err := twin.Open(path)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, wanted.File{Path: path, Twin: t})
	}
	return results, files, nil
}

var (
	errWantedBoth  = errors.New("--prompt-tokens and --output-tokens belong together: give both")
	errWantedTrace = errors.New("--trace has the lengths: leave out --prompt-tokens and --output-tokens")
)

// wish reads the flags of the wanted workload.
func (ch *chooseCmd) wish(c *console.Console) (wanted.Wish, error) {
	w := wanted.Wish{Unchecked: ch.Unchecked}
	switch {
	case (ch.Prompt == "") != (ch.Answer == ""):
		return w, errWantedBoth
	case ch.Trace != "" && ch.Prompt != "":
		return w, errWantedTrace
	case ch.Trace != "":
		m, err := ask.Trace(c.Ctx, ch.Trace)
		if err != nil {
			return w, err
		}
		load := predicted.LoadOf(m, 0)
		w.Load = &load
	case ch.Prompt != "":
		w.Load = &predicted.Load{}
		for _, f := range []struct {
			flag, text string
			to         *rundir.Lengths
		}{{"--prompt-tokens", ch.Prompt, &w.Load.Prompt}, {"--output-tokens", ch.Answer, &w.Load.Output}} {
			var err error
			if *f.to, err = workload.ParseLengths(f.text); err != nil {
				return w, fmt.Errorf("%s: %w", f.flag, err)
			}
		}
	}
	return w, nil
}
