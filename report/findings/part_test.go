package findings

import (
	"strings"
	"testing"

	"llmsweep/client/note"
	"llmsweep/report/lang"
	"llmsweep/sweep/cluster"
	"llmsweep/sweep/rundir"
)

// TestAPartDoesNotBlameTheClient: the row of a rank that ran apart is invalid because it is a part; another invalid row blames the client.
func TestAPartDoesNotBlameTheClient(t *testing.T) {
	for _, c := range []struct {
		why  note.Note
		want bool
	}{{cluster.NotePart.New(1, 4), false}, {note.Note{Code: "client.lag"}, true}} {
		run := &rundir.Run{State: rundir.Complete, Stages: []rundir.Stage{{Name: "poisson@1.00", Invalid: c.why}}}
		if got := strings.Contains(strings.Join(Warnings(run, lang.English), " "), warnClient.In(lang.English)); got != c.want {
			t.Errorf("%s: the client is blamed: %v", c.why.Code, got)
		}
	}
}
