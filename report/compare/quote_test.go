package compare

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// printed is a comparison on a console.
func printed(t *testing.T, sections []table.Section, all bool) string {
	t.Helper()
	var b bytes.Buffer
	if err := table.WriteSections(&b, "console", sections, table.Style{Width: 100, All: all}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestQuotedTable: the first that is said of two results is a table, whose verdicts are those that programs get. What
// it has is not said again.
func TestQuotedTable(t *testing.T) {
	for _, x := range []struct {
		gain, noise float64
		want        string // of the row output, and of the row ITL at 80 %
	}{
		{0.05, 0.01, "better better"}, {-0.2, 0.02, "worse worse"},
		{0.05, 0.1, "no difference shown no difference shown"},
	} {
		setups := twoRuns(x.gain, x.noise)
		c := compared(t, setups)
		sections := c.Report(1)
		first := sections[0]
		var verdicts []string
		for _, row := range first.Table.Rows {
			name, verdict := row[0].Text.EN, row[4].Text.EN
			if name == "output tok/s" || name == "ITL 80 %" {
				verdicts = append(verdicts, verdict)
			}
		}
		if got := strings.Join(verdicts, " "); got != x.want {
			t.Errorf("gain %v: %s, want %s", x.gain, got, x.want)
		}
		decided := c.Conclusions(setups)[0].Verdict == rundir.DecisionDiffers
		if shown := !strings.HasPrefix(first.Table.Rows[0][4].Text.EN, "no "); shown != decided {
			t.Errorf("gain %v: %v, and programs get %+v", x.gain, first.Table.Rows[0], c.Conclusions(setups)[0])
		}
		text := printed(t, sections, false)
		lines := strings.Split(text, "\n")
		if lines[0] != "Comparison, m, 1 x G, 512/128 tokens" || !strings.HasPrefix(lines[1], "  Metric ") ||
			!strings.Contains(lines[1], " old ") {
			t.Errorf("it begins with %q", lines[:2])
		}
		rows := len(first.Table.Rows) - len(first.Spare)
		if rows > fewRows || rows < 6 || strings.Contains(text, "50 %") || strings.Contains(text, "errors") {
			t.Errorf("%d rows:\n%s", rows, text)
		}
		for _, again := range []string{"Differences", "Configuration", "against", "highest output"} {
			if strings.Contains(text, again) {
				t.Errorf("%q says it again:\n%s", again, text)
			}
		}
		for _, more := range []string{"TTFT 50 %", "per GPU tok/s", "errors %",
			"Based on before saturation and after saturation."} {
			if !strings.Contains(printed(t, sections, true), more) {
				t.Errorf("--all does not show %s", more)
			}
		}
		before := c.Sections(1)
		before[0].Lines = c.Answer()
		if old := printed(t, before, false); len(text) >= len(old) {
			t.Errorf("%d bytes, and %d before", len(text), len(old))
		}
	}
}

// TestQuotedBounds: of a bound the verdict is what is known, and without an interval there is none.
func TestQuotedBounds(t *testing.T) {
	all := tables(t)
	at := func(name string) setup.Setup {
		i := slices.IndexFunc(all, func(s setup.Setup) bool { return s.Name == name })
		if i < 0 {
			t.Fatal(name)
		}
		return all[i]
	}
	one := at("Qwen2-7B-Instruct, 1 x L20 48GB, vLLM")
	c := compared(t, []setup.Setup{one, at("Qwen2-7B-Instruct, 2 x L20 48GB, vLLM")})
	s := c.Report(1)[0]
	var got []string
	for _, row := range s.Table.Rows {
		got = append(got, fmt.Sprintf("%s: %s, %s, %s, %s", row[0].Text.EN, row[1].In(lang.English),
			row[2].In(lang.English), row[3].Text.EN, row[4].Text.EN))
	}
	for _, want := range []string{
		"saturation req/s: 7.20, 10.95+, > +52.1 %, at least 1.52 x",
		"output tok/s: 510.64, 969.20+, +19.9..+89.8 %, 1.20 to 1.90 x",
		"TTFT alone: 95.6 ms, 18.2 ms, -80.9 %, n/a", "ITL 80 %: 64.8 ms, n/a, n/a, n/a",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no row %q in %q", want, got)
		}
	}
	if head := s.Table.Columns; head[1].Head.EN != "1 x L20 48GB" || head[3].Head.EN != "change" {
		t.Errorf("%+v", head)
	}
	if text := printed(t, c.Report(1), false); !strings.Contains(text, "throughput row 990.34 against 510.64 tok/s") ||
		!strings.Contains(text, "per GPU") {
		t.Errorf("the bursts are not told, or not the output of each GPU:\n%s", text)
	}
	// Three results are compared as ever.
	c = compared(t, append(all[:2:2], all[2]))
	sections := c.Sections(1)
	sections[0].Lines = c.Answer()
	if got, want := printed(t, c.Report(1), true), printed(t, sections, true); got != want || c.IsPair() {
		t.Errorf("three results:\n%s", got)
	}
}

// TestHeadings: columns have the short names of the results where these fit, else A and B.
func TestHeadings(t *testing.T) {
	label := func(name, model, quant string) Configuration {
		return Configuration{Name: name, Origin: name, Labels: rundir.Labels{Model: model, Quant: quant}}
	}
	for _, c := range []struct {
		a, b   Configuration
		want   string
		shared string
		zh     string
	}{
		{label("m, 1 x G, old", "m", ""), label("m, 1 x G, new", "m", ""), "old | new", "m, 1 x G", ""},
		{label("m, vLLM (runs/before)", "m", ""), label("m, vLLM (runs/after)", "m", ""), "before | after", "m, vLLM",
			""},
		{label("m, vLLM (a/run)", "m", ""), label("m, vLLM (b/run)", "m", ""), "a/run | b/run", "m, vLLM", ""},
		{label("m，vLLM（a.md:3）", "m", ""), label("m，vLLM（a.md:9）", "m", ""), "a.md:3 | a.md:9", "m, vLLM", ""},
		{label("m, vLLM", "m", ""), label("m-AWQ, vLLM", "m", "AWQ"), "unquantized | AWQ", "m, vLLM", "未量化 | AWQ"},
		{label("m, vLLM", "m", ""), label("m, vLLM, old", "m", ""), "A | B", "", ""},
		// the first has nothing of its own
		{label("m, a very long name of an engine", "m", ""), label("m, vLLM", "m", ""), "A | B", "", ""},
		{label("x/one.yaml:1", "", ""), label("x/two.yaml:1", "", ""), "one.yaml:1 | two.yaml:1", "", ""},
	} {
		h, shared := headingsOf(&c.a, &c.b)
		if got := h[0].EN + " | " + h[1].EN; got != c.want || lang.Joined(shared, lang.Comma).EN != c.shared {
			t.Errorf("%s, %s: %s, shared %v", c.a.Name, c.b.Name, got, shared)
		}
		if got := h[0].ZH + " | " + h[1].ZH; c.zh != "" && got != c.zh {
			t.Errorf("%s, %s: %s", c.a.Name, c.b.Name, got)
		}
		if says := h.legend(&c.a, &c.b); (len(says) == 2) != (c.want == "A | B") {
			t.Errorf("%s: %v", c.want, says)
		}
	}
}
