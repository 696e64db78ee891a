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

type failure struct {
	class, example string
	count          int
	rows           []string // with counts
}

func failuresByClass(run *rundir.Run) []*failure {
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
	return slices.SortedFunc(maps.Values(byClass), func(a, b *failure) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.class, b.class))
	})
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

// shorten cuts messages: servers answer errors with whole web pages.
func shorten(s string) string {
	const most = 160
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}
