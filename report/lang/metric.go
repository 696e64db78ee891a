package lang

import "strings"

// Metric returns the name of a metric by its key in run.json, such as ttft_s.mean; the key where it has no name.
func Metric(key string, l Lang) string {
	names := metricNames()
	if p, ok := names[key]; ok {
		return p.In(l)
	}
	dist, _, _ := strings.Cut(key, ".")
	if p, ok := names[dist]; ok {
		return p.In(l)
	}
	return key
}
