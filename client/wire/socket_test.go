package wire

import (
	"testing"
	"time"
)

// A receive has the kernel's timestamp where that is possible, and this program's where it is not. A wall clock that
// was set in between has no effect.
func TestDates(t *testing.T) {
	const ms = time.Millisecond
	base := time.Now()
	type receive struct {
		read   time.Duration // when the read returned
		stamp  time.Duration // the kernel's, from base; negative for none
		full   bool
		at     time.Duration // wanted
		seq    int64
		kernel bool
	}
	for name, receives := range map[string][]receive{
		"stamped":          {{1 * ms, 0, false, 0, 1, true}, {9 * ms, 3 * ms, false, 3 * ms, 2, true}},
		"not stamped":      {{1 * ms, -1, false, 1 * ms, 1, false}, {2 * ms, -1, false, 2 * ms, 2, false}},
		"the future":       {{1 * ms, 2 * ms, false, 1 * ms, 1, false}, {9 * ms, 5 * ms, false, 5 * ms, 2, true}},
		"the distant past": {{500 * ms, 400 * ms, false, 400 * ms, 1, true}, {600 * ms, 200 * ms, false, 600 * ms, 2, false}},
		"never back": {{5 * ms, -1, false, 5 * ms, 1, false}, {6 * ms, 4 * ms, false, 5 * ms, 2, true},
			{7 * ms, 6 * ms, false, 6 * ms, 3, true}},
		"merged": {{5 * ms, 3 * ms, false, 3 * ms, 1, true}, {6 * ms, 3 * ms, false, 3 * ms, 1, true},
			{7 * ms, 4 * ms, false, 4 * ms, 2, true}},
		"a full buffer": {{5 * ms, 1 * ms, true, 1 * ms, 1, true}, {6 * ms, 2 * ms, false, 2 * ms, 1, true},
			{7 * ms, 3 * ms, false, 3 * ms, 2, true}},
	} {
		t.Run(name, func(t *testing.T) {
			var s socket
			for i, r := range receives {
				stamp := int64(0)
				if r.stamp >= 0 {
					stamp = base.Add(r.stamp).UnixNano()
				}
				s.stampReceive(base.Add(r.read), stamp, r.full)
				got := s.last
				if got.At.Sub(base) != r.at || got.Seq != r.seq || got.Kernel != r.kernel {
					t.Errorf("%d: at %v, number %d, kernel %v; want %+v", i, got.At.Sub(base), got.Seq, got.Kernel, r)
				}
				if r.kernel && r.at == r.stamp && i == 0 && got.Delay != r.read-r.stamp {
					t.Errorf("delay %v", got.Delay)
				}
			}
		})
	}
	s := socket{}
	s.emptiedAt = base
	if s.stampReceive(base.Add(ms), base.Add(-time.Second).UnixNano(), false); s.last.Kernel {
		t.Error("a stamp from long before the socket was empty was taken")
	}
}
