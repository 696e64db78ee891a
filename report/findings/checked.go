package findings

import (
	"strconv"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Outcome is the verdict of a check of answers, whichever check it was.
type Outcome uint8

// The outcomes. The zero Outcome decides nothing.
const (
	Undecided Outcome = iota
	Unchanged
	Tied // different only where two tokens are nearly as likely
	Changed
	LessRight
	MoreRight
)

// Checked is what a check found of the answers of a stage or a configuration: those to canaries or to graded questions.
type Checked struct {
	Outcome Outcome
	Share   string          // how many answers are the same or right, with the interval where there is one; empty where there were none
	Change  rundir.Estimate // the share by which the answers differ from those got alone, or from a baseline's
	Value   string          // what stands at the change in a drawing
}

// AgreedOutcome is the outcome of canaries.
func AgreedOutcome(v rundir.FidelityVerdict) Outcome {
	return map[rundir.FidelityVerdict]Outcome{
		rundir.FidelitySame: Unchanged, rundir.FidelityTies: Tied, rundir.FidelityDiffers: Changed, rundir.FidelityChanged: Changed,
	}[v]
}

// GradedOutcome is the outcome of graded questions.
func GradedOutcome(v rundir.GradesVerdict) Outcome {
	return map[rundir.GradesVerdict]Outcome{rundir.GradesSame: Unchanged, rundir.GradesWorse: LessRight, rundir.GradesBetter: MoreRight}[v]
}

// CheckedAgreed returns what canaries show.
func CheckedAgreed(a *rundir.Agreed) Checked {
	if a == nil || a.Answers == 0 {
		return Checked{}
	}
	c := Checked{Outcome: AgreedOutcome(a.Verdict), Share: strconv.Itoa(equal(a)) + "/" + strconv.Itoa(a.Answers)}
	if same := a.Same; same.Mean.Known() {
		rest := func(n rundir.Number) rundir.Number { return rundir.Exactly(1 - n.Value()) }
		c.Change = rundir.Estimate{Mean: rest(same.Mean), Low: rest(same.High), High: rest(same.Low)}
		c.Value = lang.Percent(1 - same.Mean.Value())
	}
	return c
}

// CheckedGraded returns what graded questions show.
func CheckedGraded(g *rundir.Graded) Checked {
	if g == nil || g.Answers == 0 {
		return Checked{}
	}
	value := lang.Percent(g.Accuracy.Mean.Value())
	c := Checked{Outcome: GradedOutcome(g.Verdict), Share: value + " (" + ShareRange(g.Accuracy) + ")", Value: value}
	if g.Pairs > 0 {
		c.Change = g.Difference
	}
	return c
}

// Verdict returns the outcome in a cell.
func (o Outcome) Verdict() table.Cell {
	w, ok := map[Outcome]struct {
		word lang.Phrase
		tone table.Tone
	}{
		Unchanged: {outcomeSame, table.Good}, Tied: {outcomeTies, table.Caution}, Changed: {outcomeDiffer, table.Bad},
		LessRight: {outcomeWorse, table.Bad}, MoreRight: {outcomeBetter, table.Good},
	}[o]
	if !ok {
		return table.Cell{Text: outcomeUndecided.Text(), Tone: table.Faint}
	}
	return table.Cell{Text: w.word.Text(), Tone: w.tone}
}

// Cell returns the share and the verdict in a cell: "58/60 ties", "81 % (77-85) same".
func (c Checked) Cell() table.Cell {
	if c.Share == "" {
		return table.Absent()
	}
	cell := table.Cell{Text: lang.Same(c.Share), Tone: table.Faint}
	if c.Outcome != Undecided {
		v := c.Outcome.Verdict()
		cell.Text, cell.Tone = cell.Text.Plus(lang.Same(" ")).Plus(v.Text), v.Tone
	}
	if c.Outcome == MoreRight { // under load: by chance, or by another fault
		cell.Tone = table.Caution
	}
	return cell
}

var (
	outcomeSame      = lang.Say("same", "一致")
	outcomeTies      = lang.Say("ties", "仅平局")
	outcomeDiffer    = lang.Say("differ", "不同")
	outcomeWorse     = lang.Say("worse", "更差")
	outcomeBetter    = lang.Say("better", "更好")
	outcomeUndecided = lang.Say("undecided", "未定")
)
