package main

import (
	"os"
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

// TestRunWithoutALoad measures one request at a time, and says so.
func TestRunWithoutALoad(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		out, errs := w.must(append([]string{"run", "sim:", "--out", w.path("one")}, shortRun...)...)
		if !strings.Contains(errs, "one request at a time is measured (--concurrency 1)") ||
			!strings.Contains(out, "concurrent@1") {
			t.Errorf("%s\n%s", errs, out)
		}
		if _, errs := w.must(append([]string{"run", "sim:", "--concurrency", "1", "--out", w.path("two")},
			shortRun...)...); strings.Contains(errs, "No load") {
			t.Error("a load was given:", errs)
		}
	})
}

// TestEnvironmentChoosesTheLanguage: LANG does where --lang does not.
func TestEnvironmentChoosesTheLanguage(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		w.must(append([]string{"run", "sim:", "--out", w.path("one")}, shortRun...)...)
		w.env = map[string]string{"LANG": "zh_CN.UTF-8"}
		config := w.write("en.yaml", "lang: en\n")
		for _, c := range []struct {
			args    []string
			chinese bool
		}{
			{[]string{"report", w.path("one")}, true},
			{[]string{"report", w.path("one"), "--lang", "en"}, false},
			{[]string{"report", w.path("one"), "--config", config}, false},
			{append([]string{"run", "sim:", "--out", w.path("two")}, shortRun...), true},
		} {
			if out, _ := w.must(c.args...); strings.Contains(out, "负载") != c.chinese {
				t.Errorf("%v: want Chinese %v:\n%s", c.args, c.chinese, out)
			}
		}
	})
}

// TestLabelRenewsReports: both reports have the new label, in their language, and text that a person changed stays.
func TestLabelRenewsReports(t *testing.T) {
	for _, language := range []string{"en", "zh"} {
		t.Run(language, func(t *testing.T) {
			virtually(t, func(t *testing.T, w *world) {
				w.must(append([]string{"run", "sim:", "--out", w.path("one"), "--label", "gpu=OLDCARD", "--lang", language},
					shortRun...)...)
				if out, _ := w.must("label", w.path("one")); !strings.Contains(out, "gpu=OLDCARD") {
					t.Errorf("label alone prints %s", out)
				}
				now, _ := w.must("label", w.path("one"), "gpu=NEWCARD", "engine=vLLM 0.9", "price=1.5", "router=Rust", "--lang",
					language)
				if want := map[string]string{"en": "now has the labels", "zh": "的标签现为："}[language]; !strings.Contains(now, want) ||
					!strings.HasSuffix(now, `gpu=NEWCARD engine="vLLM 0.9" price=1.5 router=Rust`+"\n") {
					t.Errorf("label prints %s", now)
				}
				for _, name := range []string{rundir.ReportFile, rundir.PageFile} {
					b, err := os.ReadFile(filepath.Join(w.path("one"), name))
					if err != nil || !strings.Contains(string(b), "NEWCARD") || strings.Contains(string(b), ">OLDCARD") {
						t.Errorf("%s does not have the new label: %v", name, err)
					}
					if name == rundir.PageFile && !strings.Contains(string(b), `<html lang="`+language+`"`) {
						t.Errorf("%s changed its language", name)
					}
					if chinese := strings.Contains(string(b), "开始时间"); name == rundir.ReportFile && chinese != (language == "zh") {
						t.Errorf("%s changed its language", name)
					}
				}
				report := w.path("one/" + rundir.ReportFile)
				b, err := os.ReadFile(report)
				if err != nil {
					t.Fatal(err)
				}
				w.write("one/"+rundir.ReportFile, string(b)+"\nmine\n")
				if code, _, errs := w.llmsweep("label", w.path("one"), "gpu=THIRD"); code == console.Done ||
					!strings.Contains(errs, "the labels are written, but not the reports") {
					t.Errorf("exit %d, %s", code, errs)
				}
				w.must("label", w.path("one"), "gpu=THIRD", "--force")
			})
		})
	}
}

// TestPastedEndpointChoosesTheAPI: a URL with an endpoint is measured by that endpoint.
func TestPastedEndpointChoosesTheAPI(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		_, done, err := w.serve(w.ctx, "server:8000", w.simulated(simserver.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		defer w.cancel(nil)
		for url, api := range map[string]string{
			"http://server:8000/v1/completions": "completions", "http://server:8000/v1/chat/completions": "chat",
			"http://server:8000": "",
		} {
			out := strings.ReplaceAll(strings.TrimPrefix(url, "http://"), "/", "-")
			_, errs := w.must(append([]string{"run", url, "--out", w.path(out)}, shortRun...)...)
			if said := strings.Contains(errs, "The URL names an endpoint"); said != (api != "") {
				t.Errorf("%s: %s", url, errs)
			}
			b, err := os.ReadFile(w.path(out + "/" + rundir.RunFile))
			if err != nil || api != "" && !strings.Contains(string(b), `"api": "`+api+`"`) {
				t.Errorf("%s was not measured with %s (%v)", url, api, err)
			}
		}
	})
}
