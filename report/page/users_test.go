package page

import (
	"testing"

	"llmsweep/sweep/rundir"
)

// The number of users carried is marked in the drawings, and the numbers beside it name the row that they are of.
func TestUsersCarried(t *testing.T) {
	f := rundir.Exactly
	c := &rundir.UserCapacity{
		Verdict: rundir.Met,
		Users:   f(5),
		Low:     f(4),
		High:    f(6),
		Within:  &rundir.CarriedRow{Stage: "users@4", Users: 4, Hits: f(0.8), Output: f(92.8)},
	}
	v := newRunPage(
		&rundir.Run{
			State:  rundir.Complete,
			Plan:   rundir.Plan{Kind: rundir.KindUsers},
			Answer: &rundir.Answer{Kind: rundir.Carries, Carried: c},
		},
	)
	if all := v.saturation(); len(all) != 1 || all[0].Mark != 5 || all[0].Low != 4 || all[0].High != 6 ||
		all[0].Text.EN != "carries 5" {
		t.Errorf("marks %+v", all)
	}
	if h := v.headline(); h.Number != "5" || h.Unit.EN != "users" || len(h.Also) != 0 {
		t.Errorf("the number is %+v", h)
	}
}
