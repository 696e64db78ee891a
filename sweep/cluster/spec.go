package cluster

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strconv"
	"time"

	"llmsweep/sweep/arrival"
	"llmsweep/sweep/load"
)

// Spec is a stage as rank 0 announces it. Each rank makes schedule and sessions itself, from the seed.
type Spec struct {
	Name     string
	Kind     string
	Load     json.RawMessage
	Seed     uint64
	Limit    int
	Opening  []time.Duration
	Sessions int
	Exact    bool
	Tick     time.Duration
	Tail     time.Duration
	Drain    time.Duration
	TimeOut  time.Duration
}

// Encode returns a stage as it is announced. The offsets of a trace are left out: each rank reads its file.
func Encode(l arrival.Load, s *load.Stage, seed uint64) ([]byte, error) {
	if t, ok := l.(arrival.Trace); ok {
		t.Offsets = nil
		l = t
	}
	b, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	return json.Marshal(Spec{
		Name: s.Name, Kind: l.Kind(), Load: b, Seed: seed, Limit: s.Limit, Opening: s.Opening, Sessions: s.Sessions, Exact: s.Exact,
		Tick: s.Tick, Tail: s.Tail, Drain: s.Drain, TimeOut: s.TimeOut,
	})
}

// Decode reads what Encode wrote. offsets are those of the trace that this rank has read.
func Decode(b []byte, offsets []time.Duration) (*Spec, arrival.Load, error) {
	s := &Spec{}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, nil, err
	}
	var l arrival.Load
	var err error
	switch s.Kind {
	case arrival.KindClosed:
		l, err = loadOf[arrival.Closed](s.Load)
	case arrival.KindConstant:
		l, err = loadOf[arrival.Constant](s.Load)
	case arrival.KindPoisson:
		l, err = loadOf[arrival.Poisson](s.Load)
	case arrival.KindGamma:
		l, err = loadOf[arrival.Gamma](s.Load)
	case arrival.KindRamp:
		l, err = loadOf[arrival.Ramp](s.Load)
	case arrival.KindTrace:
		var t arrival.Trace
		t, err = loadOf[arrival.Trace](s.Load)
		t.Offsets = offsets
		l = t
	default:
		err = fmt.Errorf("this llmsweep does not know a load of kind %q", s.Kind)
	}
	return s, l, err
}

func loadOf[L arrival.Load](b []byte) (l L, err error) {
	err = json.Unmarshal(b, &l)
	return l, err
}

// Of a stage, these many arrivals and sessions are compared.
const (
	comparedArrivals = 64
	comparedSessions = 4
)

// Fingerprint sums up when the first requests of a stage are due and what they ask, so that ranks can find out that theirs differ.
func Fingerprint(schedule arrival.Schedule, source load.Source) uint64 {
	h := fnv.New64a()
	write := func(n int) { h.Write(strconv.AppendInt(nil, int64(n), 10)); h.Write([]byte{0}) }
	for range comparedArrivals {
		if schedule == nil {
			break
		}
		due, ok := schedule.Next()
		if !ok {
			break
		}
		write(int(due))
	}
	for range comparedSessions {
		s, ok := source.Next()
		if !ok {
			break
		}
		h.Write([]byte(s.System))
		for _, t := range s.Turns {
			h.Write([]byte(t.User))
			write(t.OutputTokens)
			write(int(t.Think))
		}
	}
	return h.Sum64()
}
