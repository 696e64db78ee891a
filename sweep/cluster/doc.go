// Package cluster is what the ranks of a run share: the connections between rank 0 and the others, the part of a stage that
// each sends, the stage as it is announced, and the notes on ranks. Package coordinator is rank 0's side, session that of
// every rank, rank 0 included.
package cluster
