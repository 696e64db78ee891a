package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/job"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/saturation"
)

type labelCmd struct {
	Dir    string   `arg:"" name:"dir" help:"Run directory."`
	Labels []string `arg:"" optional:"" name:"label" help:"model=.., gpu=.., gpus=.., engine=.., quant=.., price=.. (of a GPU for an hour), or others of your own, such as router=Rust. quant= removes one. Without labels: print those of the run."`
	Lang   string   `default:"en" enum:"en,zh" placeholder:"en|zh" help:"Language (that of LANG)."`
	Force  bool     `help:"Renew reports also where people changed them."`
}

func (labelCmd) Help() string {
	return `Other labels stay. report.md and report.html are renewed.

Examples:
  llmsweep label llmsweep-run
  llmsweep label llmsweep-run gpu="L20 48GB" gpus=1
  llmsweep label llmsweep-run engine=vLLM price=1.2 quant=`
}

// Run prints the labels, or writes new ones into run.json, whole or not at all, and renews the reports.
func (l *labelCmd) Run(c *console.Console) error {
	run, err := store.Open(l.Dir)
	if err != nil {
		if _, pair, _ := store.OpenPair(l.Dir); pair {
			sides := rundir.Sides()
			err = fmt.Errorf("%s holds a comparison of two servers: label %s or %s", l.Dir, filepath.Join(l.Dir, sides[0]),
				filepath.Join(l.Dir, sides[1]))
		}
		return console.Usage(err)
	}
	if len(l.Labels) == 0 {
		return l.print(c, sayLabels, run.Labels)
	}
	now, err := l.change(run.Labels)
	if err != nil {
		return console.Usage(err)
	}
	if err := l.print(c, sayLabelsNow, now); err != nil {
		return err
	}
	return l.renew()
}

func (l *labelCmd) change(old rundir.Labels) (now rundir.Labels, err error) {
	dir, err := store.Edit(l.Dir)
	if err != nil {
		return now, err
	}
	defer dir.Close()
	return store.ChangeLabels(dir, old, l.Labels)
}

func (l *labelCmd) print(c *console.Console, say lang.Phrase, labels rundir.Labels) error {
	text := sayNoLabels.In(lang.Lang(l.Lang), l.Dir)
	if !labels.IsZero() {
		text = say.In(lang.Lang(l.Lang), l.Dir, strings.Join(store.LabelTexts(labels), " "))
	}
	_, err := fmt.Fprintln(c.Out, table.Clean(text))
	return err
}

// renew writes the reports again that are in the directory, in their language.
func (l *labelCmd) renew() error {
	run, err := saturation.Reopen(l.Dir)
	if err != nil {
		return err
	}
	have := func(name string) ([]byte, bool, error) {
		b, err := os.ReadFile(filepath.Join(l.Dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, false, nil
		}
		return b, err == nil, err
	}
	document, isDocument, err := have(rundir.ReportFile)
	if err != nil {
		return err
	}
	page, isPage, err := have(rundir.PageFile)
	if err != nil {
		return err
	}
	if !isDocument && !isPage {
		return nil
	}
	if err := job.Overwrites(l.Dir, l.Force); err != nil {
		return fmt.Errorf("the labels are written, but not the reports: %w", err)
	}
	language := lang.English
	if strings.Contains(string(page), `<html lang="zh"`) || !isPage && mostlyChinese(string(document)) {
		language = lang.Chinese
	}
	return job.Renew(run, l.Dir, language, isDocument, isPage)
}

// mostlyChinese reports whether a report is in Chinese: labels alone make less than a twentieth of its characters
// Chinese.
func mostlyChinese(text string) bool {
	const part = 20
	chinese, all := 0, 0
	for _, r := range text {
		all++
		if unicode.Is(unicode.Han, r) {
			chinese++
		}
	}
	return chinese*part > all
}
