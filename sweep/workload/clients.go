package workload

import (
	"cmp"
	"slices"

	"llmsweep/sweep/arrival"
	"llmsweep/sweep/stats"
)

// clientsOf describes how the sessions of clients begin: clients with like numbers of sessions together, at least k of them. It returns nil where the recording
// does not tell clients apart, or has fewer than k.
func clientsOf(all []visit, k int) (groups []arrival.Client) {
	by := map[int][]float64{} // when sessions began, in seconds
	for _, v := range all {
		if v.client > 0 && v.caller == 0 {
			by[v.client] = append(by[v.client], v.at.Seconds())
		}
	}
	var clients [][]float64
	sessions := 0
	for _, began := range by {
		clients, sessions = append(clients, began), sessions+len(began)
	}
	slices.SortFunc(clients, func(a, b []float64) int { return cmp.Or(len(b)-len(a), cmp.Compare(a[0], b[0])) })
	const most = 50 // groups
	size := max(k, (len(clients)+most-1)/most)
	for len(clients) >= size {
		n := size
		if len(clients) < 2*size {
			n = len(clients)
		}
		groups = append(groups, alikeClients(clients[:n], sessions))
		clients = clients[n:]
	}
	return groups
}

// alikeClients describes clients together, of so many sessions of all clients.
func alikeClients(clients [][]float64, sessions int) arrival.Client {
	const fewest, least, highest = 10, 0.01, 1000 // gaps that tell a shape; shapes
	own, squares, free := 0, 0.0, 0
	for _, began := range clients {
		own += len(began)
		var gaps []float64
		for i := 1; i < len(began); i++ {
			gaps = append(gaps, began[i]-began[i-1])
		}
		if mean := stats.Mean(gaps); len(gaps) > 1 && mean > 0 {
			for _, g := range gaps {
				squares += (g/mean - 1) * (g/mean - 1)
			}
			free += len(gaps) - 1
		}
	}
	c := arrival.Client{Number: len(clients), Share: rounded(float64(own) / float64(sessions)), Shape: 1}
	if free >= fewest {
		c.Shape = rounded(min(max(float64(free)/max(squares, 1e-9), least), highest))
	}
	return c
}

// Clients returns how the sessions of clients begin; nil where the recording does not tell clients apart.
func (w *Traffic) Clients() []arrival.Client { return w.clients }
