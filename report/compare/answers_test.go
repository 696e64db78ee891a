package compare

import (
	"bytes"
	"testing"

	"llmsweep/client/note"
	"llmsweep/client/testkit"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/fidelity"
	"llmsweep/sweep/rundir"
)

func estimate(mean, low, high float64) rundir.Estimate {
	return rundir.Estimate{N: 100, Mean: rundir.Exactly(mean), Low: rundir.Exactly(low), High: rundir.Exactly(high)}
}

// TestSection compares what is said of a candidate of each verdict with what was looked at.
func TestSection(t *testing.T) {
	itself := rundir.Agreed{Answers: 100, Same: estimate(1, 0.964, 1)}
	candidate := func(name string, verdict rundir.FidelityVerdict, ties, changes, unknown int, notes ...note.Note) AnswerCandidate {
		same := float64(100-ties-changes-unknown) / 100
		d := &fidelity.Drift{Canaries: 100, LogProbs: unknown == 0, Verdict: verdict, Notes: notes, Null: [2]rundir.Agreed{itself, itself}, NullLoad: itself}
		d.Alone = rundir.Agreed{
			Answers: 100, Ties: ties, Changes: changes, Unknown: unknown, Same: estimate(same, same-0.05, min(1, same+0.05)), More: rundir.Exactly(0.03),
			Malformed: estimate(0, 0, 0.036), Length: estimate(0.3, -0.2, 0.8),
		}
		d.Load = rundir.Agreed{Answers: 60, Same: estimate(same, same-0.1, min(1, same+0.1))}
		if unknown == 0 {
			d.Alone.KL, d.Alone.Shift = estimate(0.0123, 0.01, 0.0146), estimate(0.05, 0.04, 0.06)
		}
		if same < 1 {
			d.Alone.First = estimate(21, 15, 27)
		}
		return AnswerCandidate{name, "f32", d}
	}
	all := []AnswerCandidate{
		candidate("f16", fidelity.DriftSame, 0, 0, 0), candidate("Q8_0", fidelity.DriftTies, 12, 1, 0), candidate("Q4_0", fidelity.DriftDiffers, 20, 48, 0),
		candidate("texts", fidelity.DriftDiffers, 0, 0, 30, note.Note{Code: "drift.no-logprobs"}),
		candidate("other tokens", rundir.FidelityUndecided, 0, 0, 2, note.Note{Code: "drift.tokenizers", Args: map[string]any{"divided": 90.0, "answers": 100.0}}),
	}
	speed := answerSpeed{Heads: []lang.Text{lang.Same("output")}, Cells: func(string) []string { return []string{"+10.0 %"} }}
	for name, l := range map[string]lang.Lang{"en": lang.English, "zh": lang.Chinese} {
		for format, suffix := range map[string]string{"console": ".txt", "markdown": ".md"} {
			var b bytes.Buffer
			if err := table.WriteSections(&b, format, []table.Section{answerSection(all, speed, 2)}, table.Style{Lang: l}); err != nil {
				t.Fatal(err)
			}
			testkit.CheckGolden(t, name+suffix, b.Bytes())
		}
	}
}
