package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"llmsweep/client/testkit"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/selftest"
)

// fullSelftest is a self-test with one of everything.
func fullSelftest() *selftest.Result {
	f := rundir.Exactly
	return &selftest.Result{
		Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), CPUs: 2, Load: f(1.25), Descriptors: 4096, Timestamps: "kernel",
		Decode: selftest.Decode{Events: 1e6, PerEvent: f(321e-9)},
		Levels: []selftest.Level{
			{
				Streams: 100, Rate: 50, Phase: selftest.Uniform, Tokens: 5000, TokensPerS: f(4950),
				Error: selftest.Spread{N: 5000, P50: f(2.5e-6), P99: f(6.1e-6), P999: f(9e-6), Max: f(2e-5)},
				Cores: f(0.19), PerStream: f(58 * 1024),
			},
			{
				Streams: 100, Rate: 50, Phase: selftest.InStep, Tokens: 400, TokensPerS: f(4800),
				Error: selftest.Spread{N: 358, P50: f(2.5e-6), P99: f(2.5e-3), P999: f(9e-3), Max: f(2e-2)},
				Cores: f(0.34), Limit: selftest.LimitBehind,
			},
			{Streams: 1000, Rate: 33, Phase: selftest.Uniform, Failed: 7, Failure: "connection refused",
				Limit: selftest.LimitFailed},
			{Streams: 5000, Rate: 20, Phase: selftest.Uniform, Limit: selftest.LimitDescriptors},
		},
		Arrivals: []selftest.Arrivals{
			{Rate: 10, Lag: selftest.Spread{N: 10, P50: f(1e-4), P99: f(3e-4), Max: f(3e-4)}},
			{Rate: 1000, Lag: selftest.Spread{N: 1000, P50: f(1e-4), P99: f(1.2e-3), Max: f(3e-3)}, Limit: selftest.LimitLag},
		},
		Trust: rundir.Selftest{
			Streams: 100, TokensPerS: f(4950), ArrivalsPerS: f(10), StampErrorP99: f(6.1e-6), Limit: selftest.LimitFailed,
			LimitStreams: 1000,
		},
	}
}

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
