package cluster

import (
	"fmt"
	"strconv"
	"strings"
)

// hosts returns the first hosts of a list as Slurm writes it: "node[01-04,07],gpu1". most is how many are wanted; 0 for all.
func hosts(list string, most int) (all []string, err error) {
	for rest := list; rest != "" && (most == 0 || len(all) < most); {
		var item string
		if item, rest, err = cutItem(rest); err != nil {
			return nil, fmt.Errorf("%q: %w", list, err)
		}
		if all, err = expand(all, item, most); err != nil {
			return nil, fmt.Errorf("%q: %w", list, err)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%q names no host", list)
	}
	return all, nil
}

// cutItem returns what comes before the first comma outside of brackets.
func cutItem(s string) (item, rest string, err error) {
	depth := 0
	for i, c := range s {
		switch c {
		case '[':
			depth++
		case ']':
			depth--
		case ',':
			if depth == 0 {
				return s[:i], s[i+1:], nil
			}
		}
		if depth < 0 || depth > 1 {
			return "", "", fmt.Errorf("a bracket is in the wrong place")
		}
	}
	if depth != 0 {
		return "", "", fmt.Errorf("a bracket is not closed")
	}
	return s, "", nil
}

// expand appends the hosts of an item: "rack[1-2]n[01-03]-ib". The last bracket counts fastest.
func expand(all []string, item string, most int) ([]string, error) {
	before, rest, ranged := strings.Cut(item, "[")
	if !ranged {
		if item == "" {
			return nil, fmt.Errorf("a host has no name")
		}
		return append(all, item), nil
	}
	inner, after, _ := strings.Cut(rest, "]")
	for _, part := range strings.Split(inner, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		from, err := strconv.Atoi(low)
		to, also := strconv.Atoi(high)
		if err != nil || also != nil || to < from {
			return nil, fmt.Errorf("%q is no range of numbers", part)
		}
		for n := from; n <= to && (most == 0 || len(all) < most); n++ {
			if all, err = expand(all, fmt.Sprintf("%s%0*d%s", before, len(low), n, after), most); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}
