package cluster

import (
	"net"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"llmsweep/client/testkit"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/load"
)

// Loads of every kind arrive as they were sent.
func TestLoadsCrossTheWire(t *testing.T) {
	a, b := net.Pipe()
	from, to := newLink(a), newLink(b)
	defer from.Close()
	for _, zero := range arrival.Kinds() {
		filled := reflect.New(reflect.TypeOf(zero))
		testkit.Fill(filled.Interface(), arrival.Gamma{Rate: 2, Gaps: 3}) // the load of sessions
		want := stage{Spec: load.Spec{Load: filled.Elem().Interface().(arrival.Load)}}
		go from.send(want)
		got, err := to.receive()
		if diff := cmp.Diff(any(want), got); err != nil || diff != "" {
			t.Fatalf("%T: %v (-sent +received):\n%s", want.Load, err, diff)
		}
	}
}
