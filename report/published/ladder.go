package published

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// Join returns the document with the stress tables and serving blocks of one configuration as one run: a ladder of
// concurrencies, with repeats where several have the same one.
func Join(doc *Document) *Document {
	joined := *doc
	joined.Runs = nil
	at := map[string]int{}
	for i := range doc.Runs {
		run := &doc.Runs[i]
		key := ladderKey(run)
		if j, seen := at[key]; seen {
			addStages(&joined.Runs[j], run)
			continue
		}
		if key != "" {
			at[key] = len(joined.Runs)
		}
		copied := *run
		copied.Stages, copied.Warnings = slices.Clone(run.Stages), slices.Clone(run.Warnings)
		joined.Runs = append(joined.Runs, copied)
	}
	for i := range joined.Runs {
		if len(joined.Runs[i].Stages) > 1 && ladderKey(&joined.Runs[i]) != "" {
			finishLadder(&joined.Runs[i])
		}
	}
	noteOrder(joined.Runs)
	return &joined
}

const warmUpSuffix = "-warm-up"

// ladderKey is what the tables of one run have in common; empty for a result that stays by itself.
func ladderKey(run *rundir.Run) string {
	if f := run.Source.Format; f != Stress && f != Serving || len(run.Stages) == 0 ||
		run.Stages[0].Kind != rundir.StageConcurrent {
		return ""
	}
	b, err := json.Marshal([]any{run.Source.File, run.Source.Format, run.Source.Heading, run.Target, run.Labels,
		run.Workload, run.Source.Labels["launch"].Line})
	if err != nil { // numbers and strings alone
		return ""
	}
	return string(b)
}

func addStages(run, table *rundir.Run) {
	if !table.Started.IsZero() && (run.Started.IsZero() || table.Started.Before(run.Started)) {
		shift := run.Started.Sub(table.Started).Seconds()
		if !run.Started.IsZero() {
			for i := range run.Stages {
				run.Stages[i].Started += shift
			}
		}
		run.Started = table.Started
	}
	for _, s := range table.Stages {
		if !table.Started.IsZero() {
			s.Started += table.Started.Sub(run.Started).Seconds()
		}
		run.Stages = append(run.Stages, s)
	}
	if table.Ended.After(run.Ended) {
		run.Ended = table.Ended
	}
	if len(table.Source.Responses) > len(run.Source.Responses) {
		run.Source.Responses = table.Source.Responses
	}
	for _, n := range table.Warnings {
		same := func(o note.Note) bool { return o.Code == n.Code && fmt.Sprint(o.Args) == fmt.Sprint(n.Args) }
		if n.Code != noteReadFrom.Code && !slices.ContainsFunc(run.Warnings, same) {
			run.Warnings = append(run.Warnings, n)
		}
	}
}

// finishLadder sorts the stages by their load and numbers the repeats. A warm-up is no repeat.
func finishLadder(run *rundir.Run) {
	var lines []string
	for _, s := range run.Stages {
		lines = append(lines, fmt.Sprint(s.Source.Line))
	}
	slices.SortStableFunc(run.Stages, func(a, b rundir.Stage) int {
		return cmp.Or(cmp.Compare(a.MaxConcurrency, b.MaxConcurrency), cmp.Compare(warmUpOrder(b), warmUpOrder(a)))
	})
	measured := map[int]int{}
	for i := range run.Stages {
		if run.Stages[i].Role != rundir.WarmUp {
			measured[run.Stages[i].MaxConcurrency]++
		}
	}
	number, warm := map[int]int{}, map[int]int{}
	run.Plan.Repeats, run.Plan.StageRequests = 0, 0
	for i := range run.Stages {
		s := &run.Stages[i]
		c := s.MaxConcurrency
		nameConcurrent(s)
		if s.Role == rundir.WarmUp {
			s.Name += warmUpSuffix
			warm[c]++
			if warm[c] > 1 {
				s.Name += fmt.Sprintf("-%d", warm[c])
			}
			continue
		}
		if measured[c] < 2 {
			continue
		}
		number[c]++
		s.Repeat = number[c]
		if s.Repeat > 1 {
			s.Name += fmt.Sprintf("#%d", s.Repeat)
		}
		run.Plan.Repeats = max(run.Plan.Repeats, measured[c])
	}
	run.Warnings = append(run.Warnings, noteJoined.New(len(run.Stages), lines))
}

func warmUpOrder(s rundir.Stage) int {
	if s.Role == rundir.WarmUp {
		return 1
	}
	return 0
}

// noteOrder notes the tables beneath one command that are dated after tables beneath a later one: the server must have
// been started again in between, which the document does not say.
func noteOrder(runs []rundir.Run) {
	for i := range runs {
		a := &runs[i]
		from := a.Source.Labels["launch"].Line
		if from == 0 || a.Started.IsZero() {
			continue
		}
		for j := range runs {
			b := &runs[j]
			other := b.Source.Labels["launch"].Line
			if other <= from || b.Started.IsZero() || b.Source.File != a.Source.File || b.Target.URL != a.Target.URL {
				continue
			}
			var lines []string
			for _, s := range a.Stages {
				if s.Started > b.Started.Sub(a.Started).Seconds() {
					lines = append(lines, fmt.Sprint(s.Source.Line))
				}
			}
			if len(lines) > 0 {
				a.Warnings = append(a.Warnings, noteOutOfOrder.New(lines, from, other))
				break
			}
		}
	}
}
