package compare

import (
	"strings"
	"testing"

	"llmsweep/sweep/rundir"
)

// Conversations and prompts that share a beginning are other workloads than prompts of the same first lengths.
func TestConversationsAreNotComparedWithSingleRequests(t *testing.T) {
	for name, w := range map[string]rundir.Workload{
		"8 turns, +96 tokens": {Conversation: &rundir.Conversation{Turns: rundir.Lengths{Mean: 8},
			TurnTokens: rundir.Lengths{Mean: 96}, Pause: 1}},
		"the first 256 tokens sha": {Prefix: &rundir.Prefix{Tokens: 256, Groups: 1}},
	} {
		setups := twoRuns(0.1, 0.01)
		one := &setups[1].Run.Workload
		one.Conversation, one.Prefix = w.Conversation, w.Prefix
		if _, err := Of(setups, false); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %s named", err, name)
		}
	}
}
