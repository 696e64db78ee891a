package choose

import (
	"slices"

	"llmsweep/report/compare"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
)

// PoolSweeps returns setups with the sweeps of one configuration, as [compare.Configuration] names it, as one setup.
// What was read in documents, and runs that are no sweeps, stay as they are.
func PoolSweeps(setups []setup.Setup, l lang.Lang) (all []setup.Setup) {
	var keys []string
	groups := map[string][]setup.Setup{}
	for i := range setups {
		s := &setups[i]
		key := s.Name
		if kind := s.Run.Plan.Kind; s.Run.Source == nil && (kind == rundir.KindSweep || kind == rundir.KindUsers) {
			key = kind + " " + compare.ConfigurationName(s.Run).EN
		}
		if groups[key] == nil {
			keys = append(keys, key)
		}
		groups[key] = append(groups[key], *s)
	}
	for _, key := range keys {
		same := groups[key]
		if len(same) == 1 {
			all = append(all, same[0])
			continue
		}
		name := sayRuns.In(l, setup.Title(same[0].Run, l), len(same))
		if slices.ContainsFunc(all, func(s setup.Setup) bool { return s.Name == name }) {
			name = sayRuns.In(l, same[0].Name, len(same))
		}
		all = append(all, setup.Pool(same, name))
	}
	return all
}
