package rundir

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCommand writes and reads the command of a run; an older run has none.
func TestCommand(t *testing.T) {
	in := Run{Command: Command{Args: []string{"llmsweep", "sweep", "sim:"}, Body: json.RawMessage(`{"a":1}`),
		Headers: []string{"X-A"}, Timeout: 600, Proxy: "http://p:1"}}
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out Run
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in.Command, out.Command); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if b, err := json.Marshal(Run{}); err != nil || strings.Contains(string(b), `"command"`) {
		t.Errorf("%s, %v", b, err)
	}
}
