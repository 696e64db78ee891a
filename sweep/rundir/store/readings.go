package store

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"llmsweep/sweep/rundir"
	"os"
	"path/filepath"
)

// AppendReadings writes the readings of a stage.
func (d *Dir) AppendReadings(all []rundir.Reading) error {
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
	name := filepath.Join(d.Path, rundir.ReadingsFile)
	err := d.append(name, b.Bytes())
	if err == nil && d.readings.Load() == 0 {
		err = d.files().SyncDir(d.Path)
	}
	if err != nil {
		return d.note(name, err)
	}
	d.readings.Add(int64(b.Len()))
	return nil
}

// append writes at the end of a file, and waits until it is on the disk.
func (d *Dir) append(name string, b []byte) error {
	f, err := d.files().Append(name)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Readings yields the readings in a run directory, in the order in which they were written; none where there is no file. A last line without
// a newline, which a killed process leaves, is skipped, and so is what a power failure damaged.
func Readings(path string) iter.Seq2[*rundir.Reading, error] {
	return func(yield func(*rundir.Reading, error) bool) {
		for r, err := range readings(path) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(&r.Reading, nil) {
				return
			}
		}
	}
}

// placed is a reading, and where its line ends in the file.
type placed struct {
	rundir.Reading
	end int64
}

func readings(path string) iter.Seq2[*placed, error] {
	return func(yield func(*placed, error) bool) {
		name := filepath.Join(path, rundir.ReadingsFile)
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
		for line, offset := 1, int64(0); ; line++ {
			b, err := readLine(in)
			if err == io.EOF {
				return
			}
			r := &placed{end: offset + int64(len(b)) + 1}
			if err == nil {
				err = json.Unmarshal(b, &r.Reading)
			}
			if err != nil {
				if !tornBeyond(path, offset, (*rundir.Synced).ReadingBytes) {
					yield(nil, fmt.Errorf("%s:%d: %w", name, line, err))
				}
				return
			}
			offset = r.end
			if !yield(r, nil) {
				return
			}
		}
	}
}
