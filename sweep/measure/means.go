package measure

import (
	"slices"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/sample"
	"llmsweep/sweep/slo"
)

// means are the times of a row that goes on until they are known.
type means struct{ ttft, latency, perToken sample.Sample }

func (m *means) add(r *rundir.Record) {
	addMetric(&m.ttft, slo.TTFT, r)
	addMetric(&m.latency, slo.Latency, r)
	addMetric(&m.perToken, slo.TPOT, r)
}

// within reports whether the means are known to within a share of themselves, with a little to spare for the requests
// that have not ended. Answers of one token have no time for each.
func (m *means) within(precision float64) bool {
	const few, spare = 3, 0.9
	all := []*sample.Sample{&m.ttft, &m.latency, &m.perToken}
	return m.latency.Known() >= few && !slices.ContainsFunc(all, func(s *sample.Sample) bool {
		d := s.Dist()
		d.JudgeMean(spare * precision)
		return !d.Supported("mean")
	})
}

// judgeMeans marks the means of a row by the precision that was asked for.
func (a *Account) judgeMeans(st *rundir.Stage) {
	if a.Precision == 0 {
		return
	}
	for _, d := range []*rundir.Dist{&st.Latency, &st.TTFT, &st.TTFTDue, &st.TPOT, &st.ITL, &st.ChunkGap} {
		d.JudgeMean(a.Precision)
	}
}
