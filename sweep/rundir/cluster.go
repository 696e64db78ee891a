package rundir

// Cluster is the ranks that sent the requests of a run. Rank 0 planned and concluded.
type Cluster struct {
	Ranks []Rank `json:"ranks"`
}

// Rank is one of the processes that sent requests.
type Rank struct {
	Rank int    `json:"rank"`
	Host string `json:"host,omitempty"`
}
