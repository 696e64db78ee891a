package input

import "strings"

const minPrefix = 3 // bytes of a name that can stand for it

// Nearest returns the name with the smallest edit distance from s, and whether one is near enough to be meant: at most
// two edits away, or a third of the length of s. A name that begins with s, or that s begins with but for a plural s,
// is as near as one edit.
func Nearest(s string, names []string) (string, bool) {
	s = strings.ToLower(s)
	best, least := "", max(2, len(s)/3)+1
	for _, n := range names {
		d := editDistance(s, n)
		if len(s) >= minPrefix && (strings.HasPrefix(n, s) || strings.HasPrefix(s, strings.TrimSuffix(n, "s"))) {
			d = min(d, 1)
		}
		if d < least && d < len(s) {
			best, least = n, d
		}
	}
	return best, best != ""
}

// editDistance returns the Levenshtein distance of two strings in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
