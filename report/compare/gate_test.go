package compare

import (
	"testing"
	"time"

	"llmsweep/report"
)

type judged struct{ shown *bool }

func (j judged) Unjudged(g Gate) []Unjudged {
	if j.shown == nil {
		return []Unjudged{{Key: g.Key}}
	}
	return nil
}

func (j judged) Failures(g Gate) []Change {
	if j.shown != nil && *j.shown {
		return []Change{{Key: g.Key, Setup: "B"}}
	}
	return nil
}

func TestChecksOfGates(t *testing.T) {
	yes, no := true, false
	gates := []Gate{{Key: "tokens_per_s", Below: true, Limit: -0.05}}
	for want, shown := range map[report.GateOutcome]*bool{report.GatePassed: &no, report.GateFailed: &yes, report.GateUndecided: nil} {
		s := Checks(time.Unix(0, 0), judged{shown}, gates)
		if len(s.Checks) != 1 || s.Checks[0].Outcome != want || s.Checks[0].Name != "tokens_per_s<-5%" {
			t.Errorf("want %d, got %v", want, s.Checks)
		}
	}
}
