package job

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"llmsweep/report/lang"
	"llmsweep/report/progress"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
)

// The page of a comparison is served while it runs, draws no conclusion before the end, and is drawn anew after each stage.
func TestShowPair(t *testing.T) {
	if showPair(nil, nil, [2]*rundir.Run{}, lang.English, experiment.NoObserver{}) != (experiment.NoObserver{}) {
		t.Error("what is not served is watched")
	}
	s, err := progress.ListenLive("--serve", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	record := &rundir.Pair{State: rundir.Running}
	runs := [2]*rundir.Run{{Target: rundir.Target{URL: "http://old:8000"}}, {Target: rundir.Target{URL: "http://new:8000"}}}
	observer := showPair(s, record, runs, lang.English, experiment.NoObserver{})
	page := func() string {
		answer, err := http.Get(s.URL())
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		b, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatal(answer.Status, err)
		}
		return string(b)
	}
	first := page()
	for text, want := range map[string]bool{"http://old:8000": true, "http://new:8000": true, "The comparison goes on": true, "no conclusion": false, "data-live=": true} {
		if strings.Contains(first, text) != want {
			t.Errorf("the page of a comparison that goes on has %q: %v", text, !want)
		}
	}
	stage := rundir.Stage{Name: "c4 #1", State: rundir.Complete}
	observer.StageBegins(&stage, time.Second)
	record.State = rundir.Complete
	observer.StageEnds(&stage)
	if last := page(); last == first || !strings.Contains(last, "no conclusion") {
		t.Error("the page is not drawn anew when a stage has ended")
	}
	if _, err := progress.ListenLive("--serve", "0.0.0.0:80"); err == nil || !strings.Contains(err.Error(), "ssh -L 80:localhost:80") {
		t.Errorf("an address of other machines: %v", err)
	}
}
