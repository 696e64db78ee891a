package testkit

import (
	"hash/maphash"
	"math/rand/v2"
	"os"
	"reflect"
	"strconv"
	"testing"
	"time"
)

// durationVariable is how long to try changes of each input of the corpus, such as 10s. seedVariable draws the same
// changes again; without it they are others each time.
const (
	durationVariable = "FUZZ_FOR"
	seedVariable     = "FUZZ_SEED"
)

// MutatedWith returns a target for [testing.F.Fuzz] that, where FUZZ_FOR is set, also tries random changes of each
// input of the corpus in this process. Go's fuzzing engine measures coverage and hands each input to another process,
// which takes longer than most targets: this gives up coverage for a hundred times as many inputs. Without FUZZ_FOR,
// and while the engine fuzzes, it is the target itself. A target must not call t.Skip.
func MutatedWith[F any](target F) F {
	each, err := time.ParseDuration(os.Getenv(durationVariable))
	if err != nil || each <= 0 {
		return target
	}
	seed, err := strconv.ParseUint(os.Getenv(seedVariable), 10, 64)
	if err != nil {
		seed = new(maphash.Hash).Sum64()
	}
	m := &mutator{rng: rand.New(rand.NewPCG(seed, 1))}
	call := reflect.ValueOf(target)
	return reflect.MakeFunc(call.Type(), func(args []reflect.Value) []reflect.Value {
		t := args[0].Interface().(*testing.T)
		call.Call(args)
		m.learn(args[1:])
		n := 0
		defer func() { t.Logf("executions: %d", n) }() // also where the target ends the test
		for until := time.Now().Add(each); time.Now().Before(until) && !t.Failed(); {
			n++
			try(t, call, m.change(args))
		}
		return nil
	}).Interface().(F)
}

func try(t *testing.T, target reflect.Value, args []reflect.Value) {
	defer func() {
		if broken := recover(); broken != nil {
			t.Errorf("panic: %v", broken)
		}
		for i := 1; i < len(args) && t.Failed(); i++ {
			if b := text(args[i]); b != nil {
				t.Logf("input: %q", b)
			} else {
				t.Logf("input: %v", args[i])
			}
		}
	}()
	switch f := target.Interface().(type) { // without reflection, which takes longer than some targets
	case func(*testing.T, []byte):
		f(t, args[1].Bytes())
	case func(*testing.T, string):
		f(t, args[1].String())
	default:
		target.Call(args)
	}
}
