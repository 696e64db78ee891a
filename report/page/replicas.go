package page

import (
	"strconv"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
)

// replicas is what each of several servers did; nothing where there was one.
func (v *view) replicas() []Section {
	var blocks []Block
	if figures := v.Replicas(); len(figures) > 0 {
		blocks = append(blocks, Block{Figures: figures})
	}
	zh := findings.ReplicaTable(v.Run, lang.Chinese)
	for i, en := range findings.ReplicaTable(v.Run, lang.English) {
		t := Bilingual("replicas-"+strconv.Itoa(i+1), lang.Text{EN: en.Title, ZH: zh[i].Title}, func(l lang.Lang) table.Table { return Pick(l, en, zh[i]) })
		t.Open = true
		blocks = append(blocks, Block{Heading: t.Title}, Block{Table: t})
	}
	if len(blocks) == 0 {
		return nil
	}
	return []Section{{ID: "replicas", Title: titleReplicas.Text(), Blocks: blocks}}
}
