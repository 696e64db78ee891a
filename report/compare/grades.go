// Shows how accurate configurations are on the graded questions that a baseline was asked too.

package compare

import (
	"strconv"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/fidelity"
	"llmsweep/sweep/grade"
	"llmsweep/sweep/rundir"
)

// GradeCandidate is a configuration, and how accurate it is beside the baseline.
type GradeCandidate struct {
	Setup    string `json:"setup"`
	Baseline string `json:"baseline"`
	*grade.Paired
}

// gradesOf compares all others with the first, where both were asked some of the same questions.
func gradesOf(sides []checkedSide) (all []GradeCandidate, err error) {
	var baseline *grade.Run
	for i, s := range sides {
		if s.Run.Grades == nil || s.Path == "" {
			if i == 0 {
				return nil, nil
			}
			continue
		}
		r, err := grade.Read(s.Path)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			baseline = r
		} else if p := grade.Compare(baseline, r); p != nil {
			all = append(all, GradeCandidate{s.Name, sides[0].Name, p})
		}
	}
	return all, nil
}

var (
	gradesTitle    = lang.Say("Accuracy beside %s", "与 %s 相比的正确率")
	headAlone      = lang.Say("right alone", "单独时正确")
	headPairs      = lang.Say("same questions", "相同问题")
	headLost       = lang.Say("lost", "变差")
	headGained     = lang.Say("gained", "变好")
	headDiffers    = lang.Say("difference", "差异")
	gradesHeadLoad = lang.Say("under load", "负载下")
	subPoints      = lang.Say("points", "百分点")

	gradesSaySame  = lang.Say("%s is as accurate as %s: %s points (95 %%: %s) on the same %s questions.", "%s 与 %s 同样准确：在相同的 %[5]s 个问题上差异为 %[3]s 个百分点（95 %%：%[4]s）。")
	gradesSayWorse = lang.Say("%s is less accurate than %s: %s points (95 %%: %s) on the same %s questions; %s were lost and %s gained.",
		"%s 不如 %s 准确：在相同的 %[5]s 个问题上差异为 %[3]s 个百分点（95 %%：%[4]s）；%[6]s 个变差，%[7]s 个变好。")
	gradesSayBetter = lang.Say("%s is more accurate than %s: %s points (95 %%: %s) on the same %s questions; %s were lost and %s gained.",
		"%s 比 %s 更准确：在相同的 %[5]s 个问题上差异为 %[3]s 个百分点（95 %%：%[4]s）；%[6]s 个变差，%[7]s 个变好。")
	gradesSayOpen = lang.Say("Whether %s is as accurate as %s is undecided: %s points (95 %%: %s) on the same %s questions.", "%s 是否与 %s 同样准确尚未定论：在相同的 %[5]s 个问题上差异为 %[3]s 个百分点（95 %%：%[4]s）。")

	legendGrades = lang.Say("Graded questions that both were asked, one at a time, with 95 % intervals. Lost: right for the baseline and wrong here; gained: the other way round. Under load: both under load. Verdicts are by McNemar's exact test, with Holm's correction.",
		"双方都逐个询问过的计分问题，附 95 % 区间。变差：基准正确而此处错误；变好：相反。负载下：双方均在负载下。结论依据 McNemar 精确检验，并作 Holm 校正。")
)

// gradeSection shows candidates; level is that of its heading in Markdown.
func gradeSection(all []GradeCandidate, level int) table.Section {
	s := table.Section{Title: gradesTitle.Text(table.Clean(all[0].Baseline)), Level: level, Notes: []lang.Text{legendGrades.Text()}}
	columns := []table.Column{
		{Head: headAlone.Text()}, {Head: headPairs.Text()}, {Head: headLost.Text()}, {Head: headGained.Text()},
		{Head: headDiffers.Text(), Sub: subPoints.Text()}, {Head: gradesHeadLoad.Text(), Sub: subPoints.Text()},
	}
	baseline := checkedRow{name: all[0].Baseline, cells: []table.Cell{checkedShare(findings.CheckedGraded(&all[0].Paired.Baseline))}}
	s.Table = checkedTable(columns, nil, baseline, len(all), func(i int) checkedRow {
		c := &all[i]
		alone := findings.CheckedGraded(&c.Alone)
		return checkedRow{name: c.Setup, verdict: alone.Outcome.Verdict(), cells: []table.Cell{
			checkedShare(alone), table.Count(c.Items), table.Count(c.Alone.Lost), table.Count(c.Alone.Gained), difference(c.Alone.Difference), difference(c.Load.Difference),
		}}
	})
	for i := range all {
		s.Lines = append(s.Lines, lang.Sentences(all[i].Says)...)
	}
	return s
}

func difference(e rundir.Estimate) table.Cell {
	return estimated(e, table.Cell{Text: findings.PointsSpread(e)})
}

// Says returns what the comparison shows, and what a smaller difference takes.
func (c *GradeCandidate) Says(l lang.Lang) []string {
	a := &c.Alone
	setup, base := table.Clean(c.Setup), table.Clean(c.Baseline)
	difference, interval, items := findings.Points(a.Difference.Mean), findings.PointsRange(a.Difference, l), strconv.Itoa(c.Items)
	needs := findings.GradesNeed(c.Needs, c.Detects, l)
	switch a.Verdict {
	case rundir.GradesSame:
		return []string{gradesSaySame.In(l, setup, base, difference, interval, items), needs}
	case rundir.GradesWorse:
		return []string{gradesSayWorse.In(l, setup, base, difference, interval, items, strconv.Itoa(a.Lost), strconv.Itoa(a.Gained))}
	case rundir.GradesBetter:
		return []string{gradesSayBetter.In(l, setup, base, difference, interval, items, strconv.Itoa(a.Lost), strconv.Itoa(a.Gained))}
	}
	return []string{gradesSayOpen.In(l, setup, base, difference, interval, items), needs}
}

// Metric returns a metric with its interval, and as text, by its key.
func (c *GradeCandidate) Metric(key string) (rundir.Estimate, string) {
	if key == fidelity.KeyChange {
		e := c.Alone.Difference
		if !e.Mean.Known() {
			return e, lang.Absent
		}
		return e, findings.Points(e.Mean) + " points (" + findings.PointsRange(e, lang.English) + ")"
	}
	e := c.Alone.Accuracy
	if !e.Mean.Known() {
		return e, lang.Absent
	}
	return e, lang.Percent(e.Mean.Value()) + " (" + findings.ShareRange(e) + ")"
}
