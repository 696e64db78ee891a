package findings

import (
	"testing"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// What a check found is told alike, whichever check it was: a share, a verdict in words and its colour; nothing where nothing was asked.
func TestChecked(t *testing.T) {
	share := func(mean, low, high float64) rundir.Estimate {
		return rundir.Estimate{Mean: rundir.Exactly(mean), Low: rundir.Exactly(low), High: rundir.Exactly(high)}
	}
	for _, c := range []struct {
		found  Checked
		en, zh string
		tone   table.Tone
	}{
		{CheckedAgreed(nil), "n/a", "n/a", table.Faint},
		{CheckedAgreed(&rundir.Agreed{}), "n/a", "n/a", table.Faint},
		{CheckedAgreed(&rundir.Agreed{Answers: 60, Ties: 2, Verdict: rundir.FidelityTies}), "58/60 ties", "58/60 仅平局", table.Caution},
		{CheckedAgreed(&rundir.Agreed{Answers: 60, Changes: 9, Verdict: rundir.FidelityDiffers}), "51/60 differ", "51/60 不同", table.Bad},
		{CheckedAgreed(&rundir.Agreed{Answers: 60, Changes: 9, Verdict: rundir.FidelityChanged}), "51/60 differ", "51/60 不同", table.Bad},
		{CheckedAgreed(&rundir.Agreed{Answers: 60, Verdict: rundir.FidelitySame}), "60/60 same", "60/60 一致", table.Good},
		{CheckedAgreed(&rundir.Agreed{Answers: 60}), "60/60", "60/60", table.Faint},
		{CheckedGraded(&rundir.Graded{}), "n/a", "n/a", table.Faint},
		{CheckedGraded(&rundir.Graded{Answers: 100, Accuracy: share(0.81, 0.77, 0.85), Verdict: rundir.GradesWorse}), "81 % (77-85) worse", "81 % (77-85) 更差", table.Bad},
		{CheckedGraded(&rundir.Graded{Answers: 100, Accuracy: share(0.81, 0.77, 0.85)}), "81 % (77-85)", "81 % (77-85)", table.Faint},
	} {
		cell := c.found.Cell()
		if cell.In(lang.English) != c.en || cell.In(lang.Chinese) != c.zh || cell.Tone != c.tone {
			t.Errorf("%q, %q in tone %d, want %q, %q in %d", cell.In(lang.English), cell.In(lang.Chinese), cell.Tone, c.en, c.zh, c.tone)
		}
	}
	change := CheckedAgreed(&rundir.Agreed{Answers: 10, Changes: 2, Same: share(0.8, 0.5, 0.9)}).Change
	if m, l, h := change.Mean.Value(), change.Low.Value(), change.High.Value(); m < 0.199 || m > 0.201 || l < 0.099 || l > 0.101 || h != 0.5 {
		t.Errorf("0.8 (0.5 to 0.9) are the same: %v (%v to %v) differ", m, l, h)
	}
	if CheckedGraded(&rundir.Graded{Answers: 10, Difference: share(0.1, 0, 0.2)}).Change.Mean.Known() {
		t.Error("without pairs there is a difference")
	}
}
