package selftest

import (
	"slices"

	"llmsweep/sweep/rundir"
)

// Why a level is not to be trusted.
const (
	LimitDescriptors = "descriptors"   // more streams than files may be open
	LimitFailed      = "failed"        // streams or requests did not end well
	LimitShared      = "shared_reads"  // the client fell behind, and had tokens of a stream at once
	LimitUnreached   = "not_reached"   // this machine, server and all, did not send so much: the level shows nothing
	LimitError       = "stamp_error"   // instants were off
	LimitCPU         = "cpu"           // this client used too much of the machine
	LimitLag         = "lag"           // requests were written late
	LimitUnknown     = "nothing_known" // nothing was compared
)

// A level is trusted within these. A token that comes together with the next one spoils two gaps, so that beyond a hundredth
// a p99 of gaps is not the server's. What people notice begins far beyond a millisecond.
const (
	maxShared = 0.01
	maxError  = 1e-3 // seconds, p99
	maxLag    = 1e-3 // seconds, p99
	maxCPU    = 0.8  // of all cores
	minSent   = 0.9  // of the tokens that a level asks for
)

// within reports whether a figure is at most a limit; one that does not exist shows nothing to the contrary.
func within(f rundir.Number, limit float64) bool { return !f.Known() || f.Value() <= limit }

// limit is why a level is not to be trusted; empty where it is.
func (l *Level) limit(cpus int) string {
	switch {
	case l.Failed > 0:
		return LimitFailed
	case l.TokensPerS.Known() && l.TokensPerS.Value() < minSent*l.Rate*float64(l.Streams):
		return LimitUnreached
	case !within(l.Shared, maxShared):
		return LimitShared
	case l.Error.N == 0:
		return LimitUnknown
	case !within(l.Error.P99, maxError):
		return LimitError
	case !within(l.Cores, maxCPU*float64(cpus)):
		return LimitCPU
	}
	return ""
}

// limit is likewise. Where there are too few requests for a p99, their median decides.
func (a *Arrivals) limit() string {
	lag := a.Written.P99
	if !a.Written.Supported(0.99) {
		lag = a.Written.P50
	}
	switch {
	case a.Failed > 0:
		return LimitFailed
	case !lag.Known():
		return LimitUnknown
	case !within(lag, maxLag):
		return LimitLag
	}
	return ""
}

// Trust is how far this client can be trusted on this machine: up to the highest level that was tried, with all below
// it, and found good. What lies between two levels was not tried, nor what lies beyond the last.
type Trust struct {
	Streams      int           `json:"streams"`                    // open at once; 0 where not even the lowest level was good
	TokensPerS   rundir.Number `json:"tokens_per_s,omitzero"`      // all streams together
	ArrivalsPerS rundir.Number `json:"arrivals_per_s,omitzero"`    // requests
	StampP99     rundir.Number `json:"stamp_error_p99_s,omitzero"` // the largest among the levels trusted
	LagP99       rundir.Number `json:"lag_p99_s,omitzero"`         // likewise, of requests' being written
	// Limit is why the next level is not trusted, LimitStreams how many streams it has; empty and 0 where all that were
	// tried are.
	Limit        string `json:"limit,omitempty"`
	LimitStreams int    `json:"limit_streams,omitempty"`
}

// trust judges from the levels without busy cores.
func trust(r *Result) Trust {
	var t Trust
	for _, n := range r.numbers() {
		quiet := r.quiet(n)
		if i := slices.IndexFunc(quiet, func(l Level) bool { return l.Limit != "" }); i >= 0 {
			t.Limit, t.LimitStreams = quiet[i].Limit, n
			break
		}
		t.Streams = n
		for _, l := range quiet {
			t.TokensPerS, t.StampP99 = larger(t.TokensPerS, l.TokensPerS), larger(t.StampP99, l.Error.P99)
		}
	}
	for _, a := range r.Arrivals {
		if a.Limit != "" {
			break
		}
		t.ArrivalsPerS = rundir.Exactly(a.Rate)
		if a.Written.Supported(0.99) {
			t.LagP99 = larger(t.LagP99, a.Written.P99)
		}
	}
	return t
}

// numbers are the numbers of streams that were to be tried, ascending.
func (r *Result) numbers() []int {
	var all []int
	for _, l := range r.Levels {
		all = append(all, l.Streams)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// quiet are the levels of so many streams without busy cores.
func (r *Result) quiet(streams int) []Level {
	var some []Level
	for _, l := range r.Levels {
		if l.Streams == streams && !l.Busy {
			some = append(some, l)
		}
	}
	return some
}

// larger is the larger of two figures, or the one there is.
func larger(a, b rundir.Number) rundir.Number {
	if !a.Known() || b.Known() && b.Value() > a.Value() {
		return b
	}
	return a
}

// Summary is what run.json keeps.
func (r *Result) Summary() *rundir.Selftest {
	s := &rundir.Selftest{
		Streams: r.Trust.Streams, TokensPerS: r.Trust.TokensPerS, ArrivalsPerS: r.Trust.ArrivalsPerS,
		StampErrorP99: r.Trust.StampP99, LagP99: r.Trust.LagP99, Limit: r.Trust.Limit, LimitStreams: r.Trust.LimitStreams, Load: r.Load,
	}
	if r.Decode != nil {
		s.CPUPerEvent = r.Decode.PerEvent
	}
	return s
}
