package published

import (
	"testing"

	"llmsweep/sweep/rundir"
)

func TestTrafficRate(t *testing.T) {
	for rate, want := range map[rundir.Number]string{
		rundir.Exactly(20): "20.0", rundir.Exactly(0.5): "0.5", rundir.Exactly(1.57): "1.57", rundir.Exactly(182.8406): "182.84",
		rundir.Exactly(0.0213): "0.0213", {}: "inf",
	} {
		if got := trafficRate(rate); got != want {
			t.Errorf("%v: %s, want %s", rate.Value(), got, want)
		}
	}
}

func TestAddress(t *testing.T) {
	for url, base := range map[string]bool{
		"http://localhost:8000": true, "http://localhost:8000/": true, "http://localhost:8000/v1": true, "http://h/openai/v1/": true,
		"http://localhost:8000/v1/completions": false, "http://localhost:8000/generate": false, "sim:demo": true, "": true,
	} {
		if isBase(url) != base {
			t.Errorf("%s: %v", url, !base)
		}
	}
}

// TestSixColumnNames checks that repetitions have one name in the six-column table: readers of that format know no others.
func TestSixColumnNames(t *testing.T) {
	for kind, want := range map[string]string{
		"poisson": "asynchronous@2.00 req/sec", "constant": "constant@2.00 req/sec", "concurrent": "concurrent@2.00",
	} {
		s := rundir.Stage{Name: kind + "@2.00#3", Kind: kind, Repeat: 3}
		if kind != "concurrent" {
			s.Rate = rundir.Exactly(2)
		}
		if got := sixColumnName(&s); got != want {
			t.Errorf("%s is published as %s, want %s", s.Name, got, want)
		}
	}
}
