package main

import (
	"strings"
	"testing"

	"llmsweep/client/sim"
	"llmsweep/client/sim/server"
	"llmsweep/client/testkit"
	"llmsweep/cmd/llmsweep/job"
	"llmsweep/report/choose"
	"llmsweep/report/compare"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/slo"
	"llmsweep/sweep/workload"
)

// valueParsers are the readers of flags' values.
var valueParsers = []func(string) error{
	func(s string) error { _, err := slo.Parse(s); return err },
	func(s string) error { _, err := store.ParseLabels([]string{s}); return err },
	func(s string) error { _, err := workload.ParseLengths(s); return err },
	func(s string) error { _, err := workload.ParseThink(s); return err },
	func(s string) error { _, err := arrival.Options{Arrivals: s, Rate: 1}.Loads(); return err },
	func(s string) error { _, err := experiment.ParseWarmup(s); return err },
	func(s string) error { _, err := compare.ParseGate(s, compare.Keys()); return err },
	func(s string) error { _, err := choose.ParseDemand(s); return err },
	func(s string) error { _, err := choose.ParsePrices(s); return err },
	func(s string) error { _, err := choose.ReadPrices("prices", strings.NewReader(s)); return err },
	func(s string) error { _, err := choose.ParseLabelFilter(s); return err },
	func(s string) error { _, err := sim.ParseHabits([]string{s}); return err },
	func(s string) error { _, err := server.ParseFaults(s); return err },
}

// FuzzValues reads what flags say: each value is understood, or refused in one line.
func FuzzValues(f *testing.F) {
	for _, s := range []string{
		"", "ttft:p99<500ms", "errors>1%", "gpu=L20,gpus=2", "mean=512,std=64,min=1,max=4k", "exp:2s", "5s-10s", "gamma:0.5",
		"ramp:1-20", "16", "auto", "2rps", "100users",
		"L20=1.5,A10=0.7", "L20: 1\nA10: 2\n", "prompt=x2", "gpus=4", "2026-01-02T03:04:05Z", "sheds:8",
		"caches:0.5,drops:3,500ms",
		"500:0.1,reset:1/83", "accuracy<0.5", "NaN", "1e309", "-1", "٣", "0x1p4", "9223372036854775808", "1e-400",
		"tokens>1", "p99.9",
	} {
		f.Add(s)
	}
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, s string) {
		for i, parse := range valueParsers {
			// it may repeat the value
			if err := parse(s); err != nil && (err.Error() == "" || strings.Count(err.Error(), "\n") > strings.Count(s, "\n")) {
				t.Errorf("parser %d, %q: %q", i, s, err)
			}
		}
	}))
}

// FuzzGivenAgain reads command lines of runs that are resumed with secrets given again.
func FuzzGivenAgain(f *testing.F) {
	const key = "canary7key"
	for _, s := range []string{
		"http://me@h:1/v1 --rate 4", "http://h?key=x --header X-Key:y", "h --api-key=z",
		"h --api-key z --body {\"key\":\"x\"}", "h --header=A:b --header B:c", "--header", "",
	} {
		f.Add(s)
	}
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, line string) {
		rest := strings.Fields(strings.ReplaceAll(line, key, ""))
		given := job.ResumeGiven{APIKey: key, Headers: []string{"A: " + key}}
		if args, err := given.Args(&rundir.Command{Args: append([]string{"llmsweep"}, rest...)}); err == nil &&
			len(args) < 2 {
			t.Errorf("%q: %q lacks what was given again", line, args)
		}
	}))
}
