package findings

import (
	"strconv"

	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/selftest"
)

// LevelLimit returns why a level is not trusted.
func LevelLimit(limit string, l lang.Lang) string {
	reasons := map[string]lang.Phrase{
		selftest.LimitDescriptors: limitDescriptors, selftest.LimitFailed: limitFailed,
		selftest.LimitBehind: limitBehind, selftest.LimitError: limitError, selftest.LimitLag: limitLag,
		selftest.LimitUnknown: limitUnknown, selftest.LimitUnreached: limitUnreached,
	}
	if say, ok := reasons[limit]; ok {
		return say.In(l)
	}
	return limit
}

// SelftestVerdict returns in one line up to which load a client can be trusted on its machine.
func SelftestVerdict(s *rundir.Selftest, l lang.Lang) string {
	if s.Streams == 0 {
		return sayTrustNone.In(l, strconv.Itoa(s.LimitStreams), LevelLimit(s.Limit, l))
	}
	line := sayTrust.In(l, strconv.Itoa(s.Streams), Whole(s.TokensPerS))
	if s.ArrivalsPerS.Known() {
		line += sayTrustRates.In(l, Whole(s.ArrivalsPerS))
	} else {
		line += sayNoRates.In(l)
	}
	if s.Limit == "" {
		return line + sayTrustAll.In(l)
	}
	return line + sayTrustNext.In(l, strconv.Itoa(s.LimitStreams), LevelLimit(s.Limit, l))
}

// Whole prints a whole number.
func Whole(f rundir.Number) string { return lang.Number(f, lang.Fixed(0)) }
