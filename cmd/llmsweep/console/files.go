package console

import (
	"fmt"
	"os"
	"path/filepath"

	"llmsweep/sweep/rundir"
)

// CreateFile creates the file of -o, with the directories above it. The files that a run directory is read from are not
// overwritten.
func CreateFile(path string) (*os.File, error) {
	switch filepath.Base(path) {
	case rundir.RunFile, rundir.RecordsFile, rundir.PairFile:
		return nil, fmt.Errorf("-o %s: that name is reserved for the data of a run; choose another", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("-o %s: %w", path, err)
	}
	return os.Create(path)
}

// WriteTo writes a file that -o names, or one beside it.
func WriteTo(path string, b []byte) error {
	f, err := CreateFile(path)
	if err != nil {
		return Usage(err)
	}
	defer f.Close()
	if _, err := f.Write(b); err != nil {
		return err
	}
	return f.Close()
}
