package page

import (
	"slices"

	"llmsweep/client/note"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// client is the certificate: whether this program was fit to measure, by its own lag, CPU use and reading.
func (v *view) client() Section {
	s := Section{ID: "client", Title: titleClient.Text()}
	bad := 0
	for i := range v.Run.Stages {
		if !v.Run.Stages[i].Invalid.IsZero() {
			bad++
		}
	}
	line, class := clientFit.Text(len(v.Run.Stages)), "fine"
	switch {
	case v.Run.Source != nil:
		line, class = clientUnknown.Text(), "careful"
	case bad > 0:
		line, class = clientUnfit.Text(bad, len(v.Run.Stages)), "careful"
	case len(v.Run.Stages) == 0:
		line = nothingMeasuredText.Text()
	case v.late() > 0:
		line, class = clientLate.Text(len(v.Run.Stages), v.late()), "careful"
	}
	s.Blocks = append(s.Blocks, Block{Lines: &Lines{Items: []lang.Text{line}, Class: class}})
	if v.Run.Source != nil {
		return s
	}
	facts := lang.Sentences(func(l lang.Lang) []string {
		var all []string
		if t := findings.TimestampsText(v.Run.Client.Timestamps, l); t != "" {
			all = append(all, timesTaken.In(l, t))
		}
		if t := v.Run.Client.Selftest; t != nil {
			all = append(all, findings.SelftestVerdict(t, l))
		}
		for _, n := range v.Run.Client.Warnings {
			all = append(all, findings.Note(n, l))
		}
		return all
	})
	if len(facts) > 0 {
		s.Blocks = append(s.Blocks, Block{Lines: &Lines{Items: facts}})
	}
	if len(v.Rows) == 0 {
		return s
	}
	t := &Grid{Name: "clients", Table: table.Table{Title: titleClient.Text()}}
	t.Columns = []table.Column{{Head: lang.HeadBenchmark.Text(), Left: true}, {Head: headLag.Text()}, {Head: headCPU.Text()}, {Head: headGC.Text()}, {Head: headRead.Text()}, {Head: headFit.Text(), Left: true}}
	for _, r := range v.Rows {
		st := r.Stage
		fit := table.Cell{Text: fitYes.Text(), Tone: table.Good}
		if !st.Invalid.IsZero() {
			fit = table.Cell{Text: lang.Both(func(l lang.Lang) string { return findings.Phrase(st.Invalid, l) }), Tone: table.Bad}
		}
		share := func(n rundir.Number) table.Cell { return table.Number(lang.Scale(n, 100), "", lang.Short) }
		t.Rows = append(t.Rows, []table.Cell{table.Literal(findings.StageName(st)), table.Seconds(st.Lag.P99), share(st.ClientCPU), share(st.ClientGC), table.Seconds(st.ReadDelay.P99), fit})
	}
	s.Blocks = append(s.Blocks, Block{Table: t})
	return s
}

// late counts the stages with a note that requests were sent, or tokens read, late.
func (v *view) late() int {
	n := 0
	for i := range v.Run.Stages {
		if findings.SentLate(&v.Run.Stages[i]) || slices.ContainsFunc(v.Run.Stages[i].Warnings, func(w note.Note) bool { return w.Code == "client.sent-late" || w.Code == "client.read-late" }) {
			n++
		}
	}
	return n
}

// environment is what is needed to repeat the run.
func (v *view) environment() Section {
	s := Section{ID: "environment", Title: titleEnvironment.Text()}
	en, zh := findings.EnvironmentOf(v.Run, lang.English), findings.EnvironmentOf(v.Run, lang.Chinese)
	t := &Grid{Name: "env", Open: true, Table: table.Table{Title: titleEnvironment.Text(), Columns: []table.Column{{Head: headWhat.Text(), Left: true}, {Head: headValue.Text(), Left: true}}}}
	for i, f := range en {
		t.Rows = append(t.Rows, []table.Cell{{Text: lang.Text{EN: f.Name, ZH: zh[i].Name}}, {Text: lang.Text{EN: f.Text, ZH: zh[i].Text}, Long: true}})
	}
	s.Blocks = append(s.Blocks, Block{Table: t})
	if args := v.Run.Command.Args; len(args) > 0 {
		s.Blocks = append(s.Blocks, Block{Heading: titleCommand.Text()}, Block{Code: table.Clean(findings.CommandLine(args))})
	}
	return s
}

// terms is what the words of the page mean.
func (v *view) terms() (all []Section) {
	t := &Grid{Name: "glossary", Open: true, Table: table.Table{Title: titleTerms.Text(), Columns: []table.Column{{Head: headTerm.Text(), Left: true}, {Head: headMeans.Text(), Left: true}}}}
	for _, term := range findings.Glossary(v.Run.Stages) {
		t.Rows = append(t.Rows, []table.Cell{{Text: term.Name}, {Text: term.Means, Long: true}})
	}
	if len(t.Rows) > 0 {
		all = append(all, Section{ID: "words", Title: titleTerms.Text(), Blocks: []Block{{Table: t}}})
	}
	return all
}
