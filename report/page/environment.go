package page

import (
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
)

func (v *runPage) environment() Section {
	s := Section{ID: "environment", Title: titleEnvironment.Text()}
	en, zh := findings.EnvironmentFacts(v.Run, lang.English), findings.EnvironmentFacts(v.Run, lang.Chinese)
	t := &Grid{
		Name:  "env",
		Open:  true,
		Plain: true,
		Table: table.Table{
			Title:   titleEnvironment.Text(),
			Columns: []table.Column{{Head: headWhat.Text(), Left: true}, {Head: headValue.Text(), Left: true}},
		},
	}
	command := findings.Command(v.Run)
	for i, f := range en {
		if f.Text == command {
			continue
		}
		t.Rows = append(t.Rows, []table.Cell{
			{Text: lang.Text{EN: f.Name, ZH: zh[i].Name}},
			{Text: lang.Text{EN: f.Text, ZH: zh[i].Text}, Long: true},
		})
	}
	s.Blocks = append(s.Blocks, Block{Table: t})
	if command != "" {
		s.Blocks = append(s.Blocks, Block{Heading: titleCommand.Text()}, Block{Code: table.Clean(command)})
	}
	return s
}

func (v *runPage) terms() (all []Section) {
	t := &Grid{
		Name:  "glossary",
		Open:  true,
		Plain: true,
		Table: table.Table{
			Title:   titleTerms.Text(),
			Columns: []table.Column{{Head: headWhat.Text(), Left: true}, {Head: headMeans.Text(), Left: true}},
		},
	}
	for _, term := range findings.Glossary(v.Run) {
		t.Rows = append(t.Rows, []table.Cell{{Text: term.Name}, {Text: term.Means, Long: true}})
	}
	if len(t.Rows) > 0 {
		all = append(all, Section{ID: "words", Title: titleTerms.Text(), Blocks: []Block{{Table: t}}})
	}
	return all
}
