package sweep

import (
	"testing"
)

func TestGrid(t *testing.T) {
	t.Parallel()
	if got := grid(1, 10, 9); got[0] != 2 || got[8] != 10 || len(got) != 9 {
		t.Errorf("grid %v", got)
	}
	if got := grid(1, 1.1, 4); got[0] > 0.3 || got[3] != 1.1 {
		t.Errorf("the grid of a server that takes one at a time is %v", got)
	}
}
