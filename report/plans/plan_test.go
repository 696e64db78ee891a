package plans

import (
	"strings"
	"testing"

	layout "llmsweep/report/page"
	"llmsweep/sweep/plan"
)

// TestThePageOfAPlan: demand, replicas, each objective with its limit, the loss and the sizes are drawn, in both languages. Text of a twin is escaped.
func TestThePageOfAPlan(t *testing.T) {
	slow := 1.5
	at := func(from float64, v *float64) plan.CapacitySpan {
		return plan.CapacitySpan{From: from, Rate: 3, Mean: 2, Least: 2, Most: 3, Held: 1, Worst: []*float64{v}}
	}
	r := &plan.CapacityResult{SLO: []string{"ttft:p99<1s"}, Minutes: 0.99, Demand: plan.Demand{Seconds: 86400}, Ranked: []plan.CapacityPlan{{
		Name: "<b>x", Sizes: []plan.Size{{Replicas: 2, Held: 0.5}, {Replicas: 3, Held: 1, Enough: true}}, LostAt: 3600, First: plan.Break{Times: 1.4, Term: "ttft:p99<1s", Cause: plan.CauseCache},
		Over: []plan.CapacitySpan{at(0, &slow), at(3600, &slow), at(7200, &slow)}, OverLost: []plan.CapacitySpan{at(0, &slow), at(3600, nil), at(7200, &slow)},
	}}}
	var b strings.Builder
	if err := PlanPlots(&b, r, layout.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, part := range []string{"day-1-demand", "day-1-replicas", "day-1-term1", "day-1-sizes", "SLO ttft:p99", "with loss", "有失效", "the KV cache is full", "KV 缓存已满", "时间（小时）"} {
		if !strings.Contains(page, part) {
			t.Errorf("no %q", part)
		}
	}
	if strings.Contains(page, "<b>x") {
		t.Error("a name is not escaped")
	}
}
