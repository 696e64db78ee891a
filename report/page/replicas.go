package page

import (
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/page/draw"
	"llmsweep/report/table"
)

// replicas is what each of several servers did; nothing where there was one.
func (v *view) replicas() []Section {
	var blocks []Block
	zh := findings.Replicas(v.run, lang.Chinese)
	for i, en := range findings.Replicas(v.run, lang.English) {
		t := bilingual("replicas-"+itoa(i+1), draw.Text{EN: en.Title, ZH: zh[i].Title}, func(l lang.Lang) table.Table { return pick(l, en, zh[i]) })
		t.Open = true
		blocks = append(blocks, Block{Table: t})
	}
	if len(blocks) == 0 {
		return nil
	}
	return []Section{{ID: "replicas", Title: say(titleReplicas), Blocks: blocks}}
}
