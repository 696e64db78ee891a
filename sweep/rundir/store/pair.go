package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"llmsweep/sweep/rundir"
)

// OpenPair reads the pair.json of a directory; ok is false where there is none.
func OpenPair(path string) (p *rundir.Pair, ok bool, err error) {
	name := filepath.Join(path, rundir.PairFile)
	b, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	p = &rundir.Pair{}
	if err := json.Unmarshal(b, p); err != nil {
		return nil, false, fmt.Errorf("%s is damaged: %w", name, err)
	}
	if p.Schema != rundir.PairSchema {
		return nil, false, fmt.Errorf("%s has schema %q, and this llmsweep reads %q", name, p.Schema, rundir.PairSchema)
	}
	return p, true, nil
}

// SavePair writes pair.json, whole or not at all.
func SavePair(path string, p *rundir.Pair) error {
	b, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	return WriteFile(path, rundir.PairFile, append(rundir.EscapeJSON(b), '\n'))
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
