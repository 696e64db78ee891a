package measure

import (
	"testing"

	"llmsweep/client"
	"llmsweep/sweep/rundir"
)

// Requests that were given another connection are counted, each once.
func TestResentRequestsAreCounted(t *testing.T) {
	var q rundir.Requests
	for _, times := range []int{0, 1, 0, 3} {
		countRequest(&q, &rundir.Record{Resent: times, Status: string(client.StatusOK)})
	}
	if q.Resent != 2 || q.OK != 4 {
		t.Errorf("%+v", q)
	}
}
