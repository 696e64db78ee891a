package main

import (
	"path/filepath"
	"strings"
	"testing"

	simserver "llmsweep/client/sim/server"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/sweep/rundir"
)

// shortRun are flags of a run of a moment.
var shortRun = []string{"--requests", "10", "--warmup", "1", "--no-selftest", "--prompt-tokens", "64",
	"--output-tokens", "4", "--plain"}

// TestRunWithoutALoad measures one request at a time, and says so, in the language of LANG where --lang names none. A
// URL with an endpoint is measured by that endpoint.
func TestRunWithoutALoad(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		w.listen("server:8000", w.simulated(simserver.Options{}))
		run := func(url, out string, more ...string) (string, string) {
			return w.must(append(append([]string{"run", url, "--out", w.path(out)}, shortRun...), more...)...)
		}
		out, errs := run("sim:", "one")
		if !strings.Contains(errs, "one request at a time is measured (--concurrency 1)") ||
			!strings.Contains(out, "concurrent@1") {
			t.Errorf("%s\n%s", errs, out)
		}
		if _, errs := run("sim:", "two", "--concurrency", "1"); strings.Contains(errs, "No load") {
			t.Error("a load was given:", errs)
		}
		for path, api := range map[string]string{"/v1/completions": "completions", "/v1/chat/completions": "chat",
			"": "chat"} {
			dir := "api" + strings.ReplaceAll(path, "/", "-")
			_, errs := run("http://server:8000"+path, dir)
			if said := strings.Contains(errs, "The URL names an endpoint"); said != (path != "") ||
				open(t, w.path(dir)).Target.API != api {
				t.Errorf("%s is measured with %s: %s", path, open(t, w.path(dir)).Target.API, errs)
			}
		}
		w.env = map[string]string{"LANG": "zh_CN.UTF-8"}
		config, report := w.write("en.yaml", "lang: en\n"), []string{"report", w.path("one")}
		for _, c := range []struct {
			args    []string
			chinese bool
		}{{report, true}, {append(report, "--lang", "en"), false}, {append(report, "--config", config), false}} {
			if out, _ := w.must(c.args...); strings.Contains(out, "负载") != c.chinese {
				t.Errorf("%v: want Chinese %v:\n%s", c.args, c.chinese, out)
			}
		}
		if out, _ := run("sim:", "three"); !strings.Contains(out, "负载") {
			t.Error(out)
		}
	})
}

// TestLabelRenewsReports: both reports have the new label, in their language, and text that a person changed stays.
func TestLabelRenewsReports(t *testing.T) {
	said := map[string]string{"en": "now has the labels", "zh": "的标签现为："}
	each(t, said, func(t *testing.T, w *world, said string) {
		language := filepath.Base(t.Name())
		dir, report := w.path("one"), "one/"+rundir.ReportFile
		w.must(append([]string{"run", "sim:", "--out", dir, "--label", "gpu=OLDCARD", "--lang", language}, shortRun...)...)
		if out, _ := w.must("label", dir); !strings.Contains(out, "gpu=OLDCARD") {
			t.Errorf("label alone prints %s", out)
		}
		now, _ := w.must("label", dir, "gpu=NEWCARD", "engine=vLLM 0.9", "price=1.5", "router=Rust", "--lang", language)
		if !containsAll(now, said, `gpu=NEWCARD engine="vLLM 0.9" price=1.5 router=Rust`+"\n") {
			t.Errorf("label prints %s", now)
		}
		text, page := contentOf(t, w.path(report)), contentOf(t, w.path("one/"+rundir.PageFile))
		if !strings.Contains(text, "NEWCARD") || strings.Contains(text+page, ">OLDCARD") ||
			!containsAll(page, "NEWCARD", `<html lang="`+language+`"`) ||
			strings.Contains(text, "开始时间") != (language == "zh") {
			t.Errorf("the reports have another label or language:\n%s", text)
		}
		w.write(report, text+"\nmine\n")
		w.exits(console.Failed, "the labels are written, but not the reports", "label", dir, "gpu=THIRD")
		w.must("label", dir, "gpu=THIRD", "--force")
	})
}
