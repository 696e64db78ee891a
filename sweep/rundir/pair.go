package rundir

import (
	"fmt"

	"llmsweep/client/note"
)

// A pair directory holds the run directories of two servers that were measured under the same loads, and a file with
// what they have in common.
const (
	PairFile   = "pair.json"
	PairSchema = "llmsweep.pair/v1"
)

// Sides returns the names of the two run directories.
func Sides() [2]string { return [2]string{"a", "b"} }

// SideName returns what people call a side: "A" or "B".
func SideName(side int) string { return string(rune('A' + side)) }

// Pair is pair.json. A block is four stages at each load, in the order ABBA or BAAB: two rounds, in each of which both
// servers get the same arrivals and the same prompts. The stages of a round have the same name in both runs: that of
// the load, " #" and the number of the round from 1.
type Pair struct {
	Schema  string     `json:"schema"`
	State   State      `json:"state"`
	Failure note.Note  `json:"failure,omitzero"`
	Loads   []PairLoad `json:"loads"`
	// Orders are the orders of the complete blocks. Block i, from 0, holds the rounds 2i+1 and 2i+2.
	Orders []string `json:"orders"`
}

// PairLoad is one load that both servers get.
type PairLoad struct {
	// "sync", "50" and "80" (per cent of the ceiling), "max", or as asked for: "4rps", "c8"
	Key            string `json:"key"`
	Name           string `json:"name"` // beginning of the names of its stages
	Kind           string `json:"kind"`
	Rate           Number `json:"rate,omitzero"` // absent in a closed loop
	MaxConcurrency int    `json:"max_concurrency,omitempty"`
	Requests       int    `json:"requests,omitempty"` // number of requests, all of which count
	// time left out at the start; in a closed loop, the time over which it is filled
	Opening float64 `json:"opening_s,omitempty"`
	Window  float64 `json:"window_s,omitempty"`
}

// Blocks returns the number of complete blocks.
func (p *Pair) Blocks() int { return len(p.Orders) }

// StageName returns the name of a load's stage in a round, counted from 1.
func (l *PairLoad) StageName(round int) string { return fmt.Sprintf("%s #%d", l.Name, round) }
