package selftest

import (
	"slices"

	"llmsweep/sweep/rundir"
)

// Why a level or a rate is not trusted.
const (
	LimitDescriptors = "descriptors"   // there are more streams than files that may be open
	LimitFailed      = "failed"        // streams or requests failed
	LimitShared      = "shared_reads"  // the client fell behind and read several tokens of a stream at once
	LimitUnreached   = "not_reached"   // this machine, which also runs the server, did not send that many tokens
	LimitError       = "stamp_error"   // timestamps were wrong by too much
	LimitCPU         = "cpu"           // this client used too much of the processor
	LimitLag         = "lag"           // requests were sent late
	LimitUnknown     = "nothing_known" // there was nothing to compare
)

// A level is trusted within these bounds. A token that is read together with the next one makes two gaps wrong: with more than 1 %
// of such tokens, a p99 of gaps is no longer the server's. An error of 1 ms is a small part of any latency that users notice. With
// 80 % of the cores in use, bursts still find an idle one. A level that sent less than 90 % of its tokens is another level.
const (
	maxShared = 0.01
	maxError  = 1e-3 // seconds, p99
	maxLag    = 1e-3 // seconds, p99
	maxCPU    = 0.8  // of all cores
	minSent   = 0.9  // of the tokens that a level asks for
)

// within reports whether a number is at most a limit; an absent one is.
func within(f rundir.Number, limit float64) bool { return !f.Known() || f.Value() <= limit }

// limit returns why a level is not trusted; empty where it is.
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

// limit returns why a rate is not trusted; empty where it is. With too few requests for a p99, the median decides.
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

// Trust is the highest load up to which this client can be trusted on this machine: the highest level within the bounds, all lower
// ones being within them too. Loads between two levels were not tried.
type Trust struct {
	Streams      int           `json:"streams"`                    // open at once; 0 where the lowest level already failed
	TokensPerS   rundir.Number `json:"tokens_per_s,omitzero"`      // all streams together
	ArrivalsPerS rundir.Number `json:"arrivals_per_s,omitzero"`    // requests
	StampP99     rundir.Number `json:"stamp_error_p99_s,omitzero"` // the largest of the trusted levels
	LagP99       rundir.Number `json:"lag_p99_s,omitzero"`         // the largest of the trusted rates: from due to the first byte written
	// Limit is why the next level is not trusted, LimitStreams its number of streams; empty and 0 where all levels are.
	Limit        string `json:"limit,omitempty"`
	LimitStreams int    `json:"limit_streams,omitempty"`
}

// trust judges by the levels without busy cores.
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
			t.TokensPerS, t.StampP99 = rundir.Max(t.TokensPerS, l.TokensPerS), rundir.Max(t.StampP99, l.Error.P99)
		}
	}
	for _, a := range r.Arrivals {
		if a.Limit != "" {
			break
		}
		t.ArrivalsPerS = rundir.Exactly(a.Rate)
		if a.Written.Supported(0.99) {
			t.LagP99 = rundir.Max(t.LagP99, a.Written.P99)
		}
	}
	return t
}

// numbers returns the numbers of streams of the levels, ascending.
func (r *Result) numbers() []int {
	var all []int
	for _, l := range r.Levels {
		all = append(all, l.Streams)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// quiet returns the levels with that number of streams without busy cores.
func (r *Result) quiet(streams int) []Level {
	var some []Level
	for _, l := range r.Levels {
		if l.Streams == streams && !l.Busy {
			some = append(some, l)
		}
	}
	return some
}

// Summary returns the part of the result that run.json keeps.
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
