package rundir

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
)

// Canaries yields the answers to canaries in a run directory; none where there is no file. A last line without a newline, which a killed process
// leaves, is skipped.
func Canaries(path string) iter.Seq2[*CanaryAnswer, error] {
	return func(yield func(*CanaryAnswer, error) bool) {
		name := filepath.Join(path, CanariesFile)
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
			a := &CanaryAnswer{}
			if err == nil {
				err = json.Unmarshal(b, a)
			}
			if err != nil {
				yield(nil, fmt.Errorf("%s:%d: %w", name, line, err))
				return
			}
			if !yield(a, nil) {
				return
			}
		}
	}
}
