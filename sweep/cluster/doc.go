// Package cluster lets several processes, the ranks, send one load. Rank 0's side is [Coordinator], that of every rank, rank 0 included, is [Session].
// They exchange the messages of message.go, over TLS (rpc.go) or within a process ([Pipe]). The tables of states stand at member, coordinatorStage
// and state.
package cluster
