package rundir

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
)

// ReadingsFile holds what the server said of its load while it was measured, one reading a line. A run of a server that says nothing has none.
const ReadingsFile = "server.jsonl"

// Reading is the server's gauges at one instant of a stage, and a line of [ReadingsFile]. What the server does not tell is absent.
type Reading struct {
	Stage       string  `json:"stage"`
	At          float64 `json:"at"`                   // seconds from the stage's start
	Running     Number  `json:"running,omitzero"`     // requests
	Waiting     Number  `json:"waiting,omitzero"`     // requests
	KVUsage     Number  `json:"kv_usage,omitzero"`    // 0 to 1
	Preemptions Number  `json:"preemptions,omitzero"` // since the server started
}

// AppendReadings writes the readings of a stage.
func (d *Dir) AppendReadings(all []Reading) error {
	if len(all) == 0 {
		return nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for i := range all {
		if err := enc.Encode(&all[i]); err != nil {
			return err
		}
	}
	name := filepath.Join(d.Path, ReadingsFile)
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("cannot write in the run directory: %w", err)
	}
	_, err = f.Write(b.Bytes())
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("cannot write %s: %w", name, err)
	}
	return nil
}

// Readings yields the readings in a run directory, in the order in which they were written; none where there is no file. A last line without
// a newline, which a killed process leaves, is skipped.
func Readings(path string) iter.Seq2[*Reading, error] {
	return func(yield func(*Reading, error) bool) {
		name := filepath.Join(path, ReadingsFile)
		f, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		in := bufio.NewReader(f)
		for line := 1; ; line++ {
			b, err := readLine(in)
			if err == io.EOF {
				return
			}
			r := &Reading{}
			if err == nil {
				err = json.Unmarshal(b, r)
			}
			if err != nil {
				yield(nil, fmt.Errorf("%s:%d: %w", name, line, err))
				return
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}
