package main

import (
	"errors"
	"strings"
	"testing"

	"llmsweep/cmd/llmsweep/console"
)

// TestForeignFlags: each flag of another tool leads to a flag that a command has, or to a sentence, and is no flag of
// run or sweep itself.
func TestForeignFlags(t *testing.T) {
	parser, _ := newParser(console.NewConsole(t.Context(), nil, nil), &cli{})
	seen := map[string]bool{}
	for _, f := range foreigners {
		if (f.flag == "") == (f.note == "") {
			t.Errorf("%v: give a flag or a note", f.names)
		}
		if f.flag != "" && len(owners(parser.Model, f.flag)) == 0 {
			t.Errorf("%v: no command has --%s", f.names, f.flag)
		}
		for _, name := range f.names {
			if seen[name] {
				t.Errorf("--%s stands twice", name)
			}
			seen[name] = true
			for _, command := range []string{"run", "sweep"} {
				_, err := parser.Parse([]string{command, "sim:", dashed(name), "7"})
				if err == nil || !strings.HasPrefix(err.Error(), "unknown flag") {
					t.Errorf("%s %s is not unknown: %v", command, name, err)
					continue
				}
				said := Foreign(err, parser.Model, []string{command, "sim:", dashed(name), "7"}).Error()
				if strings.Contains(said, "did you mean") || strings.Contains(said, "VALUE") || f.flag != "" &&
					!strings.Contains(said, "--"+f.flag) {
					t.Errorf("%s %s: %s", command, name, said)
				}
			}
		}
	}
	other := errors.New("something else")
	if got := Foreign(other, parser.Model, []string{"run"}); got != other {
		t.Errorf("another error became %v", got)
	}
}

// dashed returns a flag as it is written.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// TestForeignCommandLines: what people write who know other tools is answered in one line that names what to write
// here.
func TestForeignCommandLines(t *testing.T) {
	for line, want := range map[string]string{
		"benchmark":                            "llmsweep sweep URL",
		"benchmark run --target http://x":      "llmsweep sweep URL",
		"bench serve --model x":                "llmsweep sweep URL",
		"profile -m x":                         "llmsweep sweep URL",
		"attack -rate=50":                      "llmsweep run URL --rate R",
		"run sim: -c 10":                       "here it is --concurrency 10",
		"run sim: -n 200":                      "here it is --requests 200",
		"run sim: -z 30":                       "here it is --duration 30s",
		"run sim: -z 5m":                       "here it is --duration 5m",
		"run sim: -q 5":                        "here it is --rate 5",
		"run sim: --vus 8":                     "here it is --concurrency 8",
		"run sim: -duration=5s":                "here it is --duration",
		"sweep sim: -c 10":                     "llmsweep run URL --concurrency 10",
		"sweep sim: -n 10":                     "llmsweep run URL --rate R --requests 10",
		"sweep sim: --duration 30s":            "--budget TIME; for one load: llmsweep run URL --rate R --duration 30s",
		"sweep sim: --max-seconds 30":          "--budget TIME; for one load: llmsweep run URL --rate R --duration 30s",
		"sweep sim: -x":                        "unknown flag -x; llmsweep sweep --help lists the flags",
		"sweep sim: --nothing-of-this-name-is": "llmsweep sweep --help lists the flags",
	} {
		var out, errs strings.Builder
		code := execute(strings.Fields(line), console.NewConsole(t.Context(), &out, &errs))
		if code != console.WrongUsage || !strings.Contains(errs.String(), want) || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%s: exit %d: %s", line, code, errs.String())
		}
	}
}
