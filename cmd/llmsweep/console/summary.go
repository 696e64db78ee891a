package console

import (
	"fmt"
	"os"
)

// Summarize appends a document to the summary of the step in which GitHub runs llmsweep. The result does not depend on
// it.
func (c *Console) Summarize(doc []byte) {
	file := c.world.Env("GITHUB_STEP_SUMMARY")
	if file == "" {
		return
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = f.Write(append([]byte("\n"), doc...))
		f.Close()
	}
	if err != nil {
		fmt.Fprintf(c.Err, "llmsweep: the summary of the CI step was not written: %v\n", err)
	}
}
