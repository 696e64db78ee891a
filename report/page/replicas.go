package page

import (
	"strconv"

	"llmsweep/report/breakdown"
	"llmsweep/report/page/layout"
)

// replicas is what each of several servers did; nothing where there was one.
func (v *view) replicas() []layout.Section {
	var blocks []layout.Block
	if figures := v.Replicas(); len(figures) > 0 {
		blocks = append(blocks, layout.Block{Figures: figures})
	}
	for i, t := range breakdown.Replicas(v.Run) {
		blocks = append(blocks, layout.Block{Heading: t.Title}, layout.Block{Table: &layout.Grid{Table: t, Name: "replicas-" + strconv.Itoa(i+1), Open: true}})
	}
	if len(blocks) == 0 {
		return nil
	}
	return []layout.Section{{ID: "replicas", Title: titleReplicas.Text(), Blocks: blocks}}
}
