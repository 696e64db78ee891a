package client

// Allowance is what requests may spend. It is asked before each request is sent, by several goroutines at once.
type Allowance interface {
	// Reserve sets aside what a request can cost at most. It returns nil where less than that is left.
	Reserve(p *Prepared) Reservation
}

// Reservation is what was set aside for a request.
type Reservation interface {
	// Settle replaces the reservation by what the request has cost, once it has ended.
	Settle(res *Result)
}
