package page

import (
	"strconv"

	"llmsweep/report/findings"
)

// replicas is what each of several servers did; nothing where there was one.
func (v *runPage) replicas() []Section {
	var blocks []Block
	if figures := v.Replicas(); len(figures) > 0 {
		blocks = append(blocks, Block{Figures: figures})
	}
	for i, t := range findings.ReplicaTable(v.Run) {
		blocks = append(blocks, Block{Heading: t.Title},
			Block{Table: &Grid{Table: t, Name: "replicas-" + strconv.Itoa(i+1), Open: true}})
	}
	if len(blocks) == 0 {
		return nil
	}
	return []Section{{ID: "replicas", Title: titleReplicas.Text(), Blocks: blocks}}
}
