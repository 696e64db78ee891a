package page

import (
	"strconv"

	"llmsweep/report/breakdown"
	"llmsweep/report/lang"
	"llmsweep/report/page/layout"
	"llmsweep/report/table"
)

// replicas is what each of several servers did; nothing where there was one.
func (v *view) replicas() []layout.Section {
	var blocks []layout.Block
	if figures := v.Replicas(); len(figures) > 0 {
		blocks = append(blocks, layout.Block{Figures: figures})
	}
	zh := breakdown.Replicas(v.Run, lang.Chinese)
	for i, en := range breakdown.Replicas(v.Run, lang.English) {
		t := layout.Bilingual("replicas-"+strconv.Itoa(i+1), lang.Text{EN: en.Title, ZH: zh[i].Title}, func(l lang.Lang) table.Table { return layout.Pick(l, en, zh[i]) })
		t.Open = true
		blocks = append(blocks, layout.Block{Heading: t.Title}, layout.Block{Table: t})
	}
	if len(blocks) == 0 {
		return nil
	}
	return []layout.Section{{ID: "replicas", Title: titleReplicas.Text(), Blocks: blocks}}
}
