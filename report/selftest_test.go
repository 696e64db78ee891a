package report

import (
	"bytes"
	"strings"
	"testing"

	"llmsweep/client/testkit"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/selftest"
)

// fullSelftest is a self-test with one of everything.
func fullSelftest() *selftest.Result { return fixture[*selftest.Result]("selftest.json") }

func TestSelftestGolden(t *testing.T) {
	for name, c := range map[string]struct {
		lang   lang.Lang
		format string
	}{"selftest.en.txt": {lang.English, "console"}, "selftest.zh.txt": {lang.Chinese, "console"},
		"selftest.en.md": {lang.English, "markdown"}} {
		var b bytes.Buffer
		if err := table.WriteSections(&b, c.format, Selftest(fullSelftest()), table.Style{Lang: c.lang}); err != nil {
			t.Fatal(err)
		}
		testkit.CheckGolden(t, name, b.Bytes())
	}
}

func TestSelftestVerdict(t *testing.T) {
	f := rundir.Exactly
	var said strings.Builder
	for _, s := range []*rundir.Selftest{
		{Streams: 5000, TokensPerS: f(99000), ArrivalsPerS: f(5000)},
		{Streams: 100, TokensPerS: f(5000), Limit: selftest.LimitError, LimitStreams: 1000},
		{Limit: selftest.LimitBehind, LimitStreams: 100},
	} {
		for _, l := range lang.All() {
			said.WriteString(findings.SelftestVerdict(s, l) + "\n")
		}
	}
	testkit.CheckGolden(t, "selftest-verdict.txt", []byte(said.String()))
	run := sweptRun()
	run.Client.Selftest = &rundir.Selftest{Streams: 100, TokensPerS: f(5000), ArrivalsPerS: f(10)}
	if out := render(t, "markdown", []rundir.Run{run}, Options{All: true}); !strings.Contains(out,
		findings.SelftestVerdict(run.Client.Selftest, lang.English)) {
		t.Error("the report does not say how far the client can be trusted")
	}
}
