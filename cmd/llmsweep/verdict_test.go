package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"llmsweep/client/sim"
	simserver "llmsweep/client/sim/server"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// conclusions reads what --format verdict printed, one conclusion or an array of several, each of which must follow the schema.
func conclusions(t *testing.T, out string) []rundir.Conclusion {
	t.Helper()
	if strings.HasPrefix(out, "{") {
		out = "[" + out + "]"
	}
	var all []rundir.Conclusion
	var parts []json.RawMessage
	if err := json.Unmarshal([]byte(out), &parts); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	for _, part := range parts {
		simtest.SchemaValue(t, "verdict", part)
		if missing := simtest.SchemaUnknown(t, "verdict", part); len(missing) > 0 {
			t.Errorf("the schema has no %v", missing)
		}
		var one rundir.Conclusion
		if err := json.Unmarshal(part, &one); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}

// TestVerdicts tests that each command prints a verdict that follows the schema and agrees with the exit code.
func TestVerdicts(t *testing.T) {
	notInShort(t)
	virtually(t, func(t *testing.T, w *world) {
		url, _ := w.server(w.simulated(simserver.Options{}))
		verdict := func(code int, want rundir.Decision, may rundir.Evidence, args ...string) rundir.Conclusion {
			t.Helper()
			got, out, errs := w.llmsweep(append(args, "--format", "verdict")...)
			if got != code {
				t.Fatalf("%q: exit %d\n%s%s", args, got, out, errs)
			}
			all := conclusions(t, out)
			if c := all[0]; c.Verdict != want || c.MayClaim != may || c.Claim == "" || c.Schema != rundir.VerdictSchema {
				t.Errorf("%q: %+v, want %s, %s", args, c, want, may)
			}
			return all[0]
		}
		labels := []string{"--label", "model=m,gpu=L20,gpus=1,engine=vLLM"}
		swept := func(name string, more ...string) []string {
			return slices.Concat(brief("sweep", url, "--stage-time", "2s", "--points", "3", "--out", w.path(name)), labels, more)
		}
		ran := func(name string, slo ...string) []string {
			return slices.Concat(brief("run", url, "--rate", "20", "--requests", "300", "--out", w.path(name)), labels, slo)
		}
		a := verdict(console.Done, rundir.DecisionMeasured, rundir.SupportsEstimate, swept("a")...)
		if a.Cost == nil || a.Cost.Minutes <= 0 || a.Cost.Requests < 100 || a.Unit != "req/s" || !a.Value.Known() {
			t.Errorf("%+v, cost %+v", a, a.Cost)
		}
		verdict(console.Done, rundir.DecisionMeasured, rundir.SupportsEstimate, "report", w.path("a"))
		verdict(console.Done, rundir.DecisionMet, rundir.SupportsEstimate, swept("b", "--slo", "ttft:p50<2s")...)
		verdict(console.Missed, rundir.DecisionMissed, rundir.SupportsSLO, swept("none", "--slo", "ttft:p50<1us")...)
		verdict(console.Done, rundir.DecisionMet, rundir.SupportsSLO, ran("met", "--slo", "ttft:p50<9s")...)
		verdict(console.Missed, rundir.DecisionMissed, rundir.SupportsSLO, ran("missed", "--slo", "ttft:p50<1us")...)
		open := verdict(console.Undecided, rundir.DecisionUndecided, rundir.SupportsNothing, ran("open", "--slo", "errors<0.01%")...)
		if !strings.Contains(open.NextCommand, "--requests ") || strings.Contains(open.NextCommand, "--requests 300 ") || strings.Contains(open.NextCommand, "--out ") {
			t.Errorf("next: %s", open.NextCommand)
		}
		verdict(console.Done, rundir.DecisionMeasured, rundir.SupportsValue, ran("plain")...)
		if out, _ := w.must("report", w.path("a"), w.path("b"), "--format", "verdict"); len(conclusions(t, out)) != 2 {
			t.Error(out)
		}
		verdict(console.Done, rundir.DecisionNoDifference, rundir.SupportsNoDifference, "compare", w.path("a"), w.path("a"))
		verdict(console.Done, rundir.DecisionMet, rundir.SupportsNoDifference, "compare", w.path("a"), w.path("a"), "--fail-if", "tokens_per_s<-50%")
		demand := []string{"choose", w.path("a"), "--slo", "ttft:p50<2s"}
		verdict(console.Done, rundir.DecisionChosen, rundir.SupportsEstimate, append(demand, "--demand", "500rps")...)
		verdict(console.Missed, rundir.DecisionNone, rundir.SupportsSLO, append(demand, "--demand", "500rps", "--max-gpus", "1")...)
	})
}

// TestNoVerdictOfOthers tests that a command without a verdict says so.
func TestNoVerdictOfOthers(t *testing.T) {
	err := (&flags.Tables{Format: flags.FormatVerdict}).Write(console.NewConsole(t.Context(), io.Discard, io.Discard), nil, nil, nil)
	if err == nil || !strings.Contains(err.Error(), "this command has none") {
		t.Error(err)
	}
}

// agent measures and compares by the rules of examples/agent/SKILL.md, and returns whether it claims a difference.
type agent struct {
	*world
	flags []string // of each comparison
}

// step runs a command and returns its verdict.
func (a agent) step(args ...string) rundir.Conclusion {
	a.t.Helper()
	out, _ := a.must(append(args, "--format", "verdict")...)
	return conclusions(a.t, out)[0]
}

// claims compares two run directories, and takes the next command at most once.
func (a agent) claims(one, two string) bool {
	c := a.step("compare", one, two)
	if c.MayClaim != rundir.SupportsDifference && c.NextCommand != "" {
		args := strings.Fields(c.NextCommand)
		c = a.step(append(args[1:], a.flags...)...)
	}
	return c.MayClaim == rundir.SupportsDifference
}

// agentClaims sweeps two unsteady servers, the second of which is slower, and returns whether an agent claims that they differ.
func agentClaims(t *testing.T, seed int, slower float64) (claimed bool) {
	inBubble(t, t.TempDir(), func(t *testing.T, w *world) {
		a := agent{w, []string{"--stage-time", "1s", "--budget", "40s", "--rate", "20", "--concurrency", "4", "--output-tokens", "4", "--prompt-tokens", "64",
			"--no-selftest", "--warmup", "1"}}
		for i, name := range []string{"one", "two"} {
			config, err := sim.Preset("demo")
			if err != nil {
				t.Fatal(err)
			}
			config.Jitter, config.Seed = 0.2, uint64(2*seed+i)
			if i == 1 {
				config = simtest.Slowed(config, slower)
			}
			url, _ := w.server(w.simulation(config, simserver.Options{}))
			a.step(brief("sweep", url, "--stage-time", "1s", "--points", "2", "--out", w.path(name))...)
		}
		claimed = a.claims(w.path("one"), w.path("two"))
	})
	return claimed
}

// TestAgentFindsASlowerServer tests that an agent that follows the skill finds a server that is slower by half.
func TestAgentFindsASlowerServer(t *testing.T) {
	notInShort(t)
	t.Parallel()
	if !agentClaims(t, 0, 1.5) {
		t.Error("no difference is claimed")
	}
}

// TestAgentClaimsNothingOfEqualServers tests that an agent that follows the skill claims a difference of equal servers at most once in twenty comparisons.
func TestAgentClaimsNothingOfEqualServers(t *testing.T) {
	pairs, claims := simtest.Evidence(t, 20, 100), 0
	for seed := range pairs {
		if agentClaims(t, seed, 1) {
			claims++
		}
	}
	simtest.Claim(t, "an agent that follows examples/agent/SKILL.md claims a difference of equal servers", "at most 1 in 20", "%d of %d", claims, pairs)
	if float64(claims) > simtest.MayFail(pairs, 0.05) {
		t.Errorf("%d claims in %d comparisons of equal servers", claims, pairs)
	}
}

// TestSkillNamesWhatThereIs tests that the skill names each verdict and each kind of evidence, and no fields that there are not.
func TestSkillNamesWhatThereIs(t *testing.T) {
	skill, err := os.ReadFile("../../examples/agent/SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := rundir.SchemaOf("verdict")
	if err != nil {
		t.Fatal(err)
	}
	var tree struct {
		Properties map[string]struct{ Enum []string }
	}
	if err := json.Unmarshal(schema, &tree); err != nil {
		t.Fatal(err)
	}
	var known []string
	for name, p := range tree.Properties {
		known = append(append(known, name), p.Enum...)
	}
	for _, cell := range regexp.MustCompile("(?m)^ *\\| (`.*?`) \\|").FindAllSubmatch(skill, -1) { // the first of each row
		for _, name := range strings.Split(string(cell[1]), ", ") {
			if !slices.Contains(known, strings.Trim(name, "`")) {
				t.Errorf("the schema has no %s", name)
			}
		}
	}
	for _, name := range append(tree.Properties["verdict"].Enum, tree.Properties["may_claim"].Enum...) {
		if !bytes.Contains(skill, []byte("`"+name+"`")) {
			t.Errorf("the skill does not name %s", name)
		}
	}
}
