package published

import (
	"strings"

	"llmsweep/sweep/rundir"
)

// inferModels gives results without a model the one that the rest of the document names: the only one in the directory
// that was launched, else the only one there is.
func inferModels(doc *Document) {
	type namedRun struct {
		run   *rundir.Run
		label rundir.Label
	}
	var all []namedRun
	distinct := map[string]bool{}
	for i := range doc.Runs {
		run := &doc.Runs[i]
		if l, ok := run.Source.Labels["model"]; ok && run.Labels.Model != "" && !l.Inferred {
			all = append(all, namedRun{run, l})
			distinct[run.Labels.Model+"\x00"+run.Labels.Quant] = true
		}
	}
	for i := range doc.Runs {
		run := &doc.Runs[i]
		if run.Labels.Model != "" || run.Source.Format == SixColumn {
			continue
		}
		dir := ""
		if l := parseLaunch(run.Target.Launch); l != nil {
			dir = l.model
		}
		var from *namedRun
		within := map[string]bool{}
		for j := range all {
			n := &all[j]
			if dir == "" && len(distinct) == 1 || dir != "" && strings.HasPrefix(n.run.Target.Model, dir) {
				within[n.run.Labels.Model+"\x00"+n.run.Labels.Quant] = true
				if from == nil {
					from = n
				}
			}
		}
		switch {
		case from != nil && len(within) == 1:
			inferred := from.label
			inferred.Inferred = true
			run.Labels.Model = from.run.Labels.Model
			setLabel(run, "model", inferred)
			if run.Labels.Quant == "" && from.run.Labels.Quant != "" {
				run.Labels.Quant = from.run.Labels.Quant
				run.Source.Labels["quant"] = inferred
			}
		case dir != "":
			run.Labels.Model, run.Labels.Quant = splitModelPath(dir)
			setLabel(run, "model", run.Source.Labels["launch"])
		}
	}
}
