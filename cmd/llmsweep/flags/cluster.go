package flags

import "llmsweep/sweep/cluster"

// Cluster holds the flags that tell which of several ranks this process is, where srun or Kubernetes do not.
type Cluster struct {
	Rank        int    `default:"-1" placeholder:"N" help:"Place of this process among --ranks, from 0 (set by srun and Kubernetes)." hidden:"" group:"Server"`
	Ranks       int    `placeholder:"N" positive:"" help:"Number of processes that send the load together." hidden:"" group:"Server"`
	Coordinator string `placeholder:"HOST:PORT" help:"Address of rank 0, with a port that is free there." hidden:"" group:"Server"`
	Token       string `name:"cluster-token" placeholder:"TEXT" help:"Secret that the ranks share ($$LLMSWEEP_CLUSTER_TOKEN)." hidden:"" group:"Server"`
}

// Place returns the place of this process among the ranks; nil where it is the only one. env returns the value of an
// environment variable.
func (f *Cluster) Place(env func(string) string) (*cluster.Place, error) {
	if f == nil {
		return nil, nil
	}
	return cluster.FindPlace(cluster.PlaceFlags{Rank: f.Rank, Ranks: f.Ranks, Coordinator: f.Coordinator, Token: f.Token},
		env)
}
