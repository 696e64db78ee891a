// The words of the notes that a measurement leaves in run.json: warnings, reasons, verdicts and hints, by code.

package findings

import (
	"sync"

	"llmsweep/report/lang"
)

// Words returns the words of all notes that packages beneath report write. They are built once, and nobody changes
// them.
var Words = sync.OnceValue(func() lang.Words {
	return lang.Join(sweepWords(), clusterWords(), probeWords(), limitsWords(), replicaWords(), workloadWords(),
		gradesWords(), importedWords())
})
