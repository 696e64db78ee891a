package findings

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// failure counts the errors of one kind.
type failure struct {
	class, example string
	count          int
	rows           []string // with counts
}

// failuresByClass gathers a run's failed requests, the most frequent class first.
func failuresByClass(run *rundir.Run) []failure {
	byClass := map[string]*failure{}
	for _, r := range AllStages(run) {
		for _, class := range slices.Sorted(maps.Keys(r.Stage.Errors)) {
			f := byClass[class]
			if f == nil {
				f = &failure{class: class}
				byClass[class] = f
			}
			n := r.Stage.Errors[class]
			f.count += n
			f.rows = append(f.rows, StageName(r.Stage)+" "+strconv.Itoa(n))
			f.example = cmp.Or(f.example, r.Stage.Examples[class])
		}
	}
	var all []failure
	for _, f := range byClass {
		all = append(all, *f)
	}
	slices.SortFunc(all, func(a, b failure) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.class, b.class))
	})
	return all
}

// Errors are the failed requests by class.
func Errors(run *rundir.Run, l lang.Lang) []string {
	var lines []string
	for _, f := range failuresByClass(run) {
		s := f.class + lang.Colon.In(l) + sayFailures.In(l, strconv.Itoa(f.count)) +
			lang.InParens.In(l, strings.Join(f.rows, lang.ListComma.In(l)))
		if f.example != "" {
			s += sayExample.In(l, shorten(table.Clean(f.example)))
		}
		lines = append(lines, s)
	}
	return lines
}

// shorten keeps a message readable: servers answer errors with whole web pages.
func shorten(s string) string {
	const most = 160
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}
