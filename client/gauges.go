package client

import "math"

// Gauges are a server's metrics of its own load. What an engine does not report is NaN, unless a field says otherwise.
type Gauges struct {
	Running, Waiting          float64 // requests
	KVUsage                   float64 // 0 to 1; the largest of several engines
	Preemptions               float64 // requests evicted from the cache since the server started
	PrefixQueries, PrefixHits float64 // prompt tokens looked up in the prefix cache and found, since the server started
	KVTokens                  float64 // size of the KV cache; 0 where it is not reported
	Steps                     float64 // of the engine, since the server started

	// Speculative decoding. Drafts, Drafted and Accepted count since the server started. AcceptLength (accepted tokens of
	// a step and one more) and AcceptRate (share of drafted tokens) are recent means, where a server reports only those.
	Drafts, Drafted, Accepted, AcceptLength, AcceptRate float64

	TTFT, Queue, ITL, Latency Tally // of requests by the engine's own clock, since the server started
}

// Tally is the sum and the number of the values that a server measured, in seconds. Both are 0 where it reports none.
type Tally struct{ Sum, Count float64 }

// Add returns the tally of the values of both.
func (t Tally) Add(o Tally) Tally { return Tally{t.Sum + o.Sum, t.Count + o.Count} }

// SumGauges returns the gauges of several servers as those of one: sums, the highest use of a KV cache, and means.
func SumGauges(servers []Gauges) Gauges {
	sum := Gauges{KVUsage: math.Inf(-1)}
	for _, g := range servers {
		sum.Running += g.Running
		sum.Waiting += g.Waiting
		sum.KVUsage = math.Max(sum.KVUsage, g.KVUsage)
		sum.Preemptions += g.Preemptions
		sum.PrefixQueries += g.PrefixQueries
		sum.PrefixHits += g.PrefixHits
		sum.KVTokens += g.KVTokens
		sum.Steps += g.Steps
		sum.Drafts += g.Drafts
		sum.Drafted += g.Drafted
		sum.Accepted += g.Accepted
		sum.AcceptLength += g.AcceptLength / float64(len(servers))
		sum.AcceptRate += g.AcceptRate / float64(len(servers))
		sum.TTFT = sum.TTFT.Add(g.TTFT)
		sum.Queue = sum.Queue.Add(g.Queue)
		sum.ITL = sum.ITL.Add(g.ITL)
		sum.Latency = sum.Latency.Add(g.Latency)
	}
	return sum
}
