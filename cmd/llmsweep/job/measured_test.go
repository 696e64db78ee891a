package job

import (
	"context"
	"slices"
	"testing"

	"llmsweep/sweep/cluster"
)

// opener notes up to how many connections it was asked to open.
type opener struct {
	cluster.Sender
	asked []int
}

func (o *opener) Warm(_ context.Context, n int) error {
	o.asked = append(o.asked, n)
	return nil
}

// Connections are opened a few at once, and no more than the machine lets the process have.
func TestConnectionsAreOpenedInSteps(t *testing.T) {
	for _, c := range []struct {
		most int
		want []int
	}{{0, []int{128, 256, 300}}, {1000, []int{128, 256, 300}}, {200, []int{128, 200}}} {
		o := &opener{}
		if err := warming(o, c.most)(t.Context(), 300); err != nil || !slices.Equal(o.asked, c.want) {
			t.Errorf("with %d files: %v, %v; want %v", c.most, o.asked, err, c.want)
		}
	}
}
