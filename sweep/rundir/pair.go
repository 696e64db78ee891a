package rundir

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"llmsweep/client/note"
)

// A directory with two servers that were measured under the same load holds a run directory for each, and what the two
// have in common.
const (
	PairFile   = "pair.json"
	PairSchema = "llmsweep.pair/v1"
)

// Sides are the names of the two run directories.
func Sides() [2]string { return [2]string{"a", "b"} }

// Pair is pair.json. Its blocks are four stages at each load, in the order ABBA or BAAB: two rounds, each of which gives
// both servers the same arrivals and the same prompts. A round's stages have the same name in both runs: that of the load,
// " #" and the number of the round from 1.
type Pair struct {
	Schema  string     `json:"schema"`
	State   string     `json:"state"`
	Failure note.Note  `json:"failure,omitzero"`
	Loads   []PairLoad `json:"loads"`
	// Orders are those of the blocks that are whole. Block i, from 0, holds the rounds 2i+1 and 2i+2.
	Orders []string `json:"orders"`
	Plan   PairPlan `json:"plan"`
}

// PairLoad is one load that both servers get.
type PairLoad struct {
	Key            string  `json:"key"`  // "sync", "50" and "80" (per cent of the ceiling), "max", or "4rps", "c8" where asked for
	Name           string  `json:"name"` // begins the names of its stages
	Kind           string  `json:"kind"`
	Rate           Number  `json:"rate,omitzero"` // absent in a closed loop
	MaxConcurrency int     `json:"max_concurrency,omitempty"`
	Requests       int     `json:"requests,omitempty"`  // so many are sent, and each counts
	Opening        float64 `json:"opening_s,omitempty"` // left out at the start; of a closed loop: over which its slots are filled
	Window         float64 `json:"window_s,omitempty"`
	// Primary is the figure that the conclusion, and the time it takes, rest on; empty where none at this load does.
	Primary string `json:"primary,omitempty"`
}

// PairPlan is what was to be found, and what it takes. It is fixed after the pilot, from the pilot's spread alone.
type PairPlan struct {
	Difference     float64 `json:"difference"` // to be shown in the primary figures,
	Power          float64 `json:"power"`      // so often where it is there,
	Level          float64 `json:"level"`      // and any difference so often where none is
	Budget         float64 `json:"budget_s,omitempty"`
	Pilot          int     `json:"pilot_blocks"`
	Block          float64 `json:"block_s,omitempty"`         // what a block takes
	Spent          float64 `json:"spent_s,omitempty"`         // when the plan was made: on finding the loads, and on the pilot
	Needed         int     `json:"needed_blocks,omitempty"`   // the pilot's included; 0 where it was not known
	Blocks         int     `json:"blocks,omitempty"`          // that were to be measured: fewer where the budget ends first
	Sees           Number  `json:"sees_difference,omitzero"`  // what so many blocks show with that power
	LimitingMetric string  `json:"limiting_figure,omitempty"` // the one that takes the longest
}

// Blocks is how many blocks are whole.
func (p *Pair) Blocks() int { return len(p.Orders) }

// StageName is the name of a load's stage in a round, counted from 1.
func (l *PairLoad) StageName(round int) string { return fmt.Sprintf("%s #%d", l.Name, round) }

// OpenPair reads pair.json in a directory; ok is false where there is none.
func OpenPair(path string) (p *Pair, ok bool, err error) {
	name := filepath.Join(path, PairFile)
	b, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	p = &Pair{}
	if err := json.Unmarshal(b, p); err != nil {
		return nil, false, fmt.Errorf("%s is damaged: %w", name, err)
	}
	if p.Schema != PairSchema {
		return nil, false, fmt.Errorf("%s has schema %q, and this llmsweep reads %q", name, p.Schema, PairSchema)
	}
	return p, true, nil
}

// Save writes pair.json whole or not at all.
func (p *Pair) Save(path string) error {
	b, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	return (&Dir{Path: path}).WriteFile(PairFile, append(b, '\n'))
}

// FreePair returns path, or the first of path-2, path-3, ... that does not exist.
func FreePair(path string) string {
	for i, p := 2, path; ; i++ {
		if _, err := os.Stat(p); err != nil {
			return p
		}
		p = fmt.Sprintf("%s-%d", path, i)
	}
}
