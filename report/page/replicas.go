package page

import (
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
)

// replicas is what each of several servers did; nothing where there was one.
func (v *view) replicas() []Section {
	var blocks []Block
	for i, en := range findings.Replicas(v.run, lang.English) {
		title := bilingual("replicas-"+itoa(i+1), say(lang.Say(en.Title, findings.Replicas(v.run, lang.Chinese)[i].Title)),
			func(l lang.Lang) table.Table { return findings.Replicas(v.run, l)[i] })
		title.Open = true
		blocks = append(blocks, Block{Table: title})
	}
	if len(blocks) == 0 {
		return nil
	}
	return []Section{{ID: "replicas", Title: say(titleReplicas), Blocks: blocks}}
}
