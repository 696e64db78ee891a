package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
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
func (l *labelCmd) Run(c *console.Console) error {
	run, err := store.Open(l.Dir)
	if err != nil {
		if _, pair, _ := store.OpenPair(l.Dir); pair {
			sides := rundir.Sides()
			err = fmt.Errorf("%s holds a comparison of two servers: label %s or %s", l.Dir, filepath.Join(l.Dir, sides[0]), filepath.Join(l.Dir, sides[1]))
		}
		return console.Usage(err)
	}
	dir, err := store.Edit(l.Dir)
	if err != nil {
		return console.Usage(err)
	}
	defer dir.Close()
	now, err := store.ChangeLabels(dir, run.Labels, l.Labels)
	if err != nil {
		return console.Usage(err)
	}
	text, err := json.Marshal(now)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.Out, "%s: labels are now %s\nTo renew the report: llmsweep report %s --format markdown -o %s\n",
		l.Dir, rundir.EscapeJSON(text), l.Dir, filepath.Join(l.Dir, rundir.ReportFile))
	return err
}
