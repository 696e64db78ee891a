package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/report/choose"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/twin"
	"llmsweep/sweep/workload"
)

// twins reads the twins among the paths, and returns the other paths.
func (ch *chooseCmd) twins() (results []string, files []choose.WishFile, err error) {
	for _, path := range ch.Paths {
		if !slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(path)) {
			results = append(results, path)
			continue
		}
		t, err := twin.Open(path)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, choose.WishFile{Path: path, Twin: t})
	}
	return results, files, nil
}

var (
	errWantedBoth  = errors.New("--prompt-tokens and --output-tokens belong together: give both")
	errWantedTrace = errors.New("--trace has the lengths: leave out --prompt-tokens and --output-tokens")
)

// wish reads the flags of the wanted workload.
func (ch *chooseCmd) wish(c *console.Console) (choose.Wish, error) {
	w := choose.Wish{Unchecked: ch.Unchecked}
	switch {
	case (ch.Prompt == "") != (ch.Answer == ""):
		return w, errWantedBoth
	case ch.Trace != "" && ch.Prompt != "":
		return w, errWantedTrace
	case ch.Trace != "":
		m, err := twin.LengthTrace(c.Ctx, ch.Trace)
		if err != nil {
			return w, err
		}
		load := twin.PredictedLoadOf(m, 0)
		w.Load = &load
	case ch.Prompt != "":
		w.Load = &twin.PredictedLoad{}
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
