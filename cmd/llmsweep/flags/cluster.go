package flags

import (
	"errors"

	"llmsweep/sweep/cluster"
)

// Cluster holds the flags that tell which of several ranks this process is, where srun or Kubernetes do not.
type Cluster struct {
	Rank        int    `default:"-1" placeholder:"N" help:"Place of this process among --ranks, from 0. srun and Kubernetes set it themselves. See llmsweep help cluster." group:"Cluster"`
	Ranks       int    `placeholder:"N" positive:"" help:"Number of processes that send the load together." group:"Cluster"`
	Coordinator string `placeholder:"HOST:PORT" help:"Address of rank 0, with a port that is free there." group:"Cluster"`
	Token       string `name:"cluster-token" placeholder:"TEXT" help:"What the ranks prove to each other that they know. Better set LLMSWEEP_CLUSTER_TOKEN: other users can read command lines." group:"Cluster"`
}

// Place returns the place of this process among the ranks; nil where it is the only one. env returns the value of an environment variable.
func (f *Cluster) Place(env func(string) string) (*cluster.Place, error) {
	if f == nil {
		return nil, nil
	}
	return cluster.FindPlace(cluster.PlaceFlags{Rank: f.Rank, Ranks: f.Ranks, Coordinator: f.Coordinator, Token: f.Token}, env)
}

// Apart holds the flags of ranks that have no connection to each other.
type Apart struct {
	StartAt string `name:"start-at" placeholder:"TIME" help:"With --rank and --ranks, without a connection to the other ranks: begin at this time (2026-01-31T15:04:05Z, or seconds since 1970) and write this rank's part. llmsweep merge joins the parts." group:"Cluster"`
}

// Rank returns the rank that runs apart from the others; nil where none does. env returns the value of an environment variable.
func (f *Apart) Rank(c *Cluster, env func(string) string) (*cluster.ApartRank, error) {
	if f == nil || f.StartAt == "" {
		return nil, nil
	}
	at, err := cluster.ParseApart(f.StartAt)
	if err != nil {
		return nil, err
	}
	if c.Coordinator != "" {
		return nil, errors.New("--start-at is for ranks without a connection, and --coordinator connects them: give one of them")
	}
	rank, ranks, err := cluster.Apart(cluster.PlaceFlags{Rank: c.Rank, Ranks: c.Ranks}, env)
	return &cluster.ApartRank{Rank: rank, Ranks: ranks, Start: at}, err
}
