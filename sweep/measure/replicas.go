package measure

import (
	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

type replicas []*replica

type replica struct {
	requests rundir.Requests
	rates    rates
	tokens   tokenRates
	latency  latencies
	gaps     tokenGaps
}

func (all *replicas) add(r *rundir.Record, m *metrics) {
	if r.Replica < 1 {
		return
	}
	for len(*all) < r.Replica {
		*all = append(*all, &replica{gaps: newGaps(m.count, false)})
	}
	one := (*all)[r.Replica-1]
	one.rates.add(r, m.w)
	one.tokens.add(r, m.w, m.count)
	if !m.w.Holds(r.Due.Value()) {
		return
	}
	countRequest(&one.requests, r)
	one.latency.add(r)
	one.gaps.add(r, m.count)
}

func (all replicas) shares(st *rundir.Stage, m *metrics) []rundir.ReplicaShare {
	var shares []rundir.ReplicaShare
	for _, one := range all {
		part := rundir.Stage{Rate: st.Rate, Whole: st.Whole, MaxConcurrency: st.MaxConcurrency}
		one.rates.fill(&part, m.w, &one.tokens)
		one.tokens.fill(&part, m.w)
		one.latency.fill(&part, nil)
		one.gaps.fill(&part, m.count)
		shares = append(shares, rundir.ReplicaShare{
			Requests: one.requests, Completed: part.Rates.Completed, Output: part.TokensPerS.Output,
			TTFT: part.TTFT, Latency: part.Latency, InterToken: part.InterToken,
		})
	}
	return shares
}

func replicaNotes(shares []rundir.ReplicaShare) (all []note.Note) {
	if len(shares) < 2 {
		return nil
	}
	fastest := -1
	for i := range shares {
		if d := &shares[i].TTFT; d.Mean.Known() && (fastest < 0 || d.Mean.Value() < shares[fastest].TTFT.Mean.Value()) {
			fastest = i
		}
	}
	for i := range shares {
		if fastest >= 0 && i != fastest {
			ci, known := shares[i].TTFT.CI["mean"]
			best, alsoKnown := shares[fastest].TTFT.CI["mean"]
			mean, least := shares[i].TTFT.Mean, shares[fastest].TTFT.Mean
			enough := min(shares[i].TTFT.N, shares[fastest].TTFT.N) >= fewestOfReplica
			if known && alsoKnown && enough && ci[0] > best[1] && mean.Value() > slowReplica*least.Value() {
				all = append(all, noteSlowReplica.New(i+1, mean.Value(), least.Value()))
			}
		}
		if n, ok := failsMore(shares, i); ok {
			all = append(all, n)
		}
	}
	return all
}

// failsMore compares the shares of failed requests by their 97.5 % bounds.
func failsMore(shares []rundir.ReplicaShare, at int) (note.Note, bool) {
	var failed, due float64
	for i := range shares {
		if i != at {
			failed, due = failed+float64(shares[i].Requests.Error), due+float64(shares[i].Requests.Due)
		}
	}
	q := shares[at].Requests
	if q.Due == 0 || due == 0 {
		return note.Note{}, false
	}
	low, _ := stats.ShareBounds(float64(q.Error), float64(q.Due), replicaLevel)
	_, high := stats.ShareBounds(failed, due, replicaLevel)
	if low <= high {
		return note.Note{}, false
	}
	return noteBadReplica.New(at+1, q.Error, q.Due, failed/due), true
}
