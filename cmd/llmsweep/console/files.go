package console

import (
	"fmt"
	"path/filepath"

	"llmsweep/report/inputs"
	"llmsweep/sweep/rundir"
)

// WriteFiles writes the file of -o, and those beside it, as [inputs.WriteOutput] does. The files that a run directory
// is read from are not overwritten, not even with force.
func WriteFiles(force bool, files ...inputs.OutputFile) error {
	for _, f := range files {
		switch filepath.Base(f.Path) {
		case rundir.RunFile, rundir.RecordsFile, rundir.PairFile:
			return Usage(fmt.Errorf("-o %s: that name is reserved for the data of a run; choose another", f.Path))
		}
	}
	return Usage(inputs.WriteOutput(force, files...))
}
