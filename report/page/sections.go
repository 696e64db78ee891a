package page

import (
	"strconv"

	"llmsweep/report/lang"
	"llmsweep/report/table"
)

// Sentences returns the same list of sentences in both languages.
func Sentences(of func(lang.Lang) []string) []lang.Text {
	en, zh := of(lang.English), of(lang.Chinese)
	var all []lang.Text
	for i := range max(len(en), len(zh)) {
		var t lang.Text
		if i < len(en) {
			t.EN = en[i]
		}
		if i < len(zh) {
			t.ZH = zh[i]
		}
		all = append(all, t)
	}
	return all
}

// FromSections makes sections of a page of those that console and Markdown are made of.
func FromSections(prefix string, of func(lang.Lang) []table.Section) []Section {
	en, zh := of(lang.English), of(lang.Chinese)
	var all []Section
	var whole string // ID of the section that those beneath it are parts of
	for i := range en {
		a, b := en[i], zh[min(i, len(zh)-1)]
		s := Section{ID: prefix + "-" + strconv.Itoa(i+1), Title: lang.Text{EN: a.Title, ZH: b.Title}}
		if a.Level > en[0].Level {
			s.Within = whole
		} else {
			whole = s.ID
		}
		if items := Sentences(func(l lang.Lang) []string { return Pick(l, a.Lines, b.Lines) }); len(items) > 0 {
			s.Blocks = append(s.Blocks, Block{Lines: &Lines{Items: items}})
		}
		if len(a.Table.Columns) > 0 {
			t := Bilingual("t-"+s.ID, s.Title, func(l lang.Lang) table.Table { return Pick(l, a.Table, b.Table) })
			t.Open = true
			t.Notes = Sentences(func(l lang.Lang) []string { return Pick(l, a.Notes, b.Notes) })
			for _, part := range split(t) {
				s.Blocks = append(s.Blocks, Block{Table: part})
			}
		} else if notes := Sentences(func(l lang.Lang) []string { return Pick(l, a.Notes, b.Notes) }); len(notes) > 0 {
			s.Blocks = append(s.Blocks, Block{Lines: &Lines{Items: notes}})
		}
		all = append(all, s)
	}
	return all
}

// Pick returns what is in a language.
func Pick[T any](l lang.Lang, en, zh T) T {
	if l == lang.Chinese {
		return zh
	}
	return en
}
