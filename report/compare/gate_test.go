package compare

import (
	"strings"
	"testing"
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

func TestJudge(t *testing.T) {
	yes, no := true, false
	gates := []Gate{{Key: "tokens_per_s", Below: true, Limit: -0.05}}
	for _, c := range []struct {
		shown            *bool
		failed, unjudged int
	}{{&no, 0, 0}, {&yes, 1, 0}, {nil, 0, 1}} {
		failed, unjudged := Judge(judged{c.shown}, gates)
		if len(failed) != c.failed || len(unjudged) != c.unjudged ||
			!strings.Contains(strings.Join(append(failed, unjudged...), ""), "tokens_per_s") && c.failed+c.unjudged > 0 {
			t.Errorf("failed %q, not judged %q", failed, unjudged)
		}
	}
}
