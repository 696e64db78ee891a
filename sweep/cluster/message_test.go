package cluster

import (
	"net"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"llmsweep/sweep/arrival"
)

// Loads of every kind arrive as they were sent.
func TestLoadsCrossTheWire(t *testing.T) {
	a, b := net.Pipe()
	from, to := newLink(a), newLink(b)
	defer from.Close()
	for _, zero := range arrival.Kinds() {
		filled := reflect.New(reflect.TypeOf(zero)).Elem()
		fill(filled)
		want := stage{Load: filled.Interface().(arrival.Load)}
		go from.send(want)
		got, err := to.receive()
		if diff := cmp.Diff(any(want), got); err != nil || diff != "" {
			t.Fatalf("%T: %v (-sent +received):\n%s", want.Load, err, diff)
		}
	}
}

// fill sets every field of a load.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0))
	case reflect.Interface: // the load of sessions
		v.Set(reflect.ValueOf(arrival.Gamma{Rate: 2, Gaps: 3}))
	case reflect.String:
		v.SetString("text")
	case reflect.Float64:
		v.SetFloat(1.5)
	default:
		v.SetInt(3)
	}
}
