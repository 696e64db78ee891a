package workload

import (
	"fmt"
	"slices"
	"strings"
)

// Skip is one reason why rows of a file were left out.
type Skip struct {
	Why   string
	Count int
	Lines []int // where the first few of them begin
}

// String is "12 rows (lines 3, 17, 20, ...): an empty prompt".
func (s Skip) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s ", count(s.Count, "row"), plural(s.Count, "line"))
	for i, line := range s.Lines {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, line)
	}
	if s.Count > len(s.Lines) {
		b.WriteString(", ...")
	}
	return b.String() + "): " + s.Why
}

// skips gathers what was left out, reason by reason, in the order in which they came up.
type skips []Skip

// skipLines is how many lines are kept for each reason.
const skipLines = 5

func (s *skips) add(why string, line int) {
	for i := range *s {
		if e := &(*s)[i]; e.Why == why {
			e.Count++
			if len(e.Lines) < skipLines {
				e.Lines = append(e.Lines, line)
				slices.Sort(e.Lines)
			}
			return
		}
	}
	*s = append(*s, Skip{Why: why, Count: 1, Lines: []int{line}})
}

func (s skips) total() int {
	n := 0
	for _, e := range s {
		n += e.Count
	}
	return n
}

// nothing is the error of a file in which every row was left out.
func (s skips) nothing(name, what, remedy string) error {
	if len(s) == 0 {
		return fmt.Errorf("%s holds no %s: %s", name, what, remedy)
	}
	first := s[0]
	for _, e := range s[1:] {
		if e.Lines[0] < first.Lines[0] {
			first = e
		}
	}
	return fmt.Errorf("%s:%d: none of %s holds a usable %s; here: %s. %s",
		name, first.Lines[0], count(s.total(), "row"), what, first.Why, remedy)
}

// notes tell people what was left out.
func (s skips) notes(name string) []string {
	notes := make([]string, len(s))
	for i, e := range s {
		notes[i] = fmt.Sprintf("%s: left out %v", name, e)
	}
	return notes
}

func count(n int, what string) string { return fmt.Sprintf("%d %s", n, plural(n, what)) }

func plural(n int, what string) string {
	if n == 1 {
		return what
	}
	return what + "s"
}
