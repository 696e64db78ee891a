package main

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"llmsweep/client"
	"llmsweep/client/note"
	simserver "llmsweep/client/sim/server"
)

// TestPorts warns of a rate at which the ports run out, where the server keeps no connection; not where it keeps them,
// and not at a lower rate.
func TestPorts(t *testing.T) {
	cases := map[string]bool{"closes-5": true, "keeps-5": false, "closes-1": false}
	each(t, cases, func(t *testing.T, w *world, want bool) {
		connection, rate, _ := strings.Cut(filepath.Base(t.Name()), "-")
		w.limits = client.LocalLimits{Ports: 100}
		sim := w.simulated(simserver.Options{})
		url, _ := w.server(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if connection == "closes" {
				rw.Header().Set("Connection", "close")
			}
			sim.ServeHTTP(rw, r)
		}))
		_, errs := w.must(brief("run", url, "--rate", rate, "--requests", "5")...)
		run := open(t, w.path("llmsweep-run"))
		noted := slices.ContainsFunc(run.Target.Notes, func(n note.Note) bool { return n.Code == "limits.ports" })
		if noted != want || strings.Contains(errs, "up to 300 local ports") != want {
			t.Errorf("%v\n%s", run.Target.Notes, errs)
		}
	})
}
