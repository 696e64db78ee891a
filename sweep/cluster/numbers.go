package cluster

// Numbers is a workload that numbers its texts. Ranks that begin a stage with the same numbers write the same texts.
type Numbers interface {
	Numbers() (nonce, places uint64)
	Continue(nonce, places uint64)
}
