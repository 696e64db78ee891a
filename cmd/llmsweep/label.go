package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tidwall/gjson"

	"llmsweep/sweep/rundir"
)

// labelCmd is llmsweep label.
type labelCmd struct {
	Dir    string   `arg:"" name:"dir" help:"Run directory."`
	Labels []string `arg:"" name:"label" help:"Labels: model=.., gpu=.., gpus=.., engine=.., quant=.., price=.. (per GPU-hour). An empty value, such as quant=, removes one."`
}

// Help returns what --help prints after the purpose.
func (labelCmd) Help() string {
	return `Other labels stay, and so does everything that was measured. report.md is not written again.

Examples:
  llmsweep label llmsweep-run gpu="L20 48GB" gpus=1
  llmsweep label llmsweep-run engine=vLLM price=1.2 quant=`
}

// Run writes the labels into run.json, whole or not at all.
func (l *labelCmd) Run(c *console) error {
	run, err := rundir.Open(l.Dir)
	if err != nil {
		if _, pair, _ := rundir.OpenPair(l.Dir); pair {
			sides := rundir.Sides()
			err = fmt.Errorf("%s holds a comparison of two servers: label %s or %s", l.Dir, filepath.Join(l.Dir, sides[0]), filepath.Join(l.Dir, sides[1]))
		}
		return usage(err)
	}
	dir, err := rundir.Edit(l.Dir)
	if err != nil {
		return usage(err)
	}
	defer dir.Close()
	labels := run.Labels
	if err := setLabels(&labels, l.Labels); err != nil {
		return usage(err)
	}
	b, err := os.ReadFile(filepath.Join(l.Dir, rundir.RunFile))
	if err != nil {
		return usage(err)
	}
	if b, err = replaceLabels(b, labels); err != nil {
		return usage(fmt.Errorf("%s: %w", filepath.Join(l.Dir, rundir.RunFile), err))
	}
	if err := dir.WriteFile(rundir.RunFile, b); err != nil {
		return usage(err)
	}
	text, err := json.Marshal(labels)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.out, "%s: labels are now %s\nTo renew the report: llmsweep report %s --format markdown -o %s\n",
		l.Dir, rundir.EscapeJSON(text), l.Dir, filepath.Join(l.Dir, rundir.ReportFile))
	return err
}

// replaceLabels returns run.json with other labels. Everything else stays byte for byte, also what this version does not know.
func replaceLabels(run []byte, labels rundir.Labels) ([]byte, error) {
	old := gjson.GetBytes(run, "labels")
	if !old.IsObject() || old.Index == 0 {
		return nil, errors.New("no labels in it")
	}
	text, err := json.MarshalIndent(labels, "  ", "  ")
	if err != nil {
		return nil, err
	}
	return bytes.Join([][]byte{run[:old.Index], text, run[old.Index+len(old.Raw):]}, nil), nil
}
