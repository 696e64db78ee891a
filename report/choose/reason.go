package choose

import (
	"slices"

	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
)

type reasonKind string

const (
	missesSLO reasonKind = "misses-slo"
	noUsers   reasonKind = "no-users" // numbers of users were not measured
	noCount   reasonKind = "no-gpu-count"
	noOutput  reasonKind = "no-output"
	noPrice   reasonKind = "no-price"
	tooMany   reasonKind = "too-many-gpus"
)

type reason struct {
	kind       reasonKind
	refusal    *setup.Refusal
	gpu        string
	gpus, most int
}

func refuse(s *setup.Setup, r reason) Refusal {
	where := s.Origin()
	if r.refusal != nil && r.refusal.Row != nil {
		where = r.refusal.Row.Where
	}
	return Refusal{Name: s.Name, Where: where, Why: r.text(lang.English), why: r}
}

// undecided reports whether too little is known of the configuration to tell that it falls short.
func (r reason) undecided() bool {
	unknown := []reasonKind{noUsers, noCount, noOutput, noPrice}
	return slices.Contains(unknown, r.kind) || r.refusal != nil && r.refusal.Row != nil &&
		(r.refusal.Undecided || r.refusal.Unjudged)
}

// Undecided reports whether no configuration is shown to meet the demand, and some are not shown to miss it.
func (c *Choice) Undecided() bool {
	return len(c.Ranked) == 0 && slices.ContainsFunc(c.Refused, func(r Refusal) bool { return r.why.undecided() })
}

func (r reason) text(l lang.Lang) string {
	switch r.kind {
	case noUsers:
		return whyNoUsers.In(l)
	case noCount:
		return whyNoCount.In(l)
	case noOutput:
		return whyNoOutput.In(l)
	case noPrice:
		return whyNoPrice.In(l, r.gpu)
	case tooMany:
		return whyTooMany.In(l, GPUs(r.gpus).In(l), r.most)
	}
	f := r.refusal
	switch {
	case f.Row == nil:
		return whyNoRows.In(l)
	case f.Undecided:
		return whyUndecided.In(l)
	case f.Term == nil:
		return whySaturated.In(l, f.Row.Name())
	case f.Row.Doubted && f.Number.IsZero():
		return whyDoubtful.In(l, f.Term.Name(), f.Row.Name())
	case f.Number.IsZero():
		return whyAbsent.In(l, f.Term.Name())
	case f.MetRow != nil && f.Term.Verdict(f.Row.Stage) == rundir.Missed:
		return whyBetween.In(l, f.Term.String(), f.MetRow.Name(), f.Row.Name(), f.Term.Least(f.Number))
	case f.Unjudged:
		return whyUnsupported.In(l, f.Term.Name(), f.Row.Name())
	}
	return whyBroken.In(l, f.Term.String(), f.Row.Name(), f.Term.Least(f.Number))
}

func (k *Candidate) limitText() lang.Text {
	return lang.Both(func(l lang.Lang) string { return limitText(&k.limit, l) })
}

// limitText returns what ends a limit, with what doubtful figures leave open.
func limitText(limit *setup.Limit, l lang.Lang) string {
	text := ""
	t := limit.LimitingTerm
	switch {
	case t == nil && limit.Backlog:
		text = endBacklog.In(l)
	case t == nil && limit.LevelsOff:
		text = endFull.In(l)
	case t == nil:
		text = endRows.In(l)
	case limit.Interpolated():
		text = t.Name()
	case limit.MissedRow != nil: // the latencies are of a row that meets the term
		text = endMissed.In(l, t.Name(), limit.MissedRow.Name())
	default:
		text = endUnknown.In(l, t.Name())
	}
	if limit.Doubted {
		return endDoubted.In(l, text)
	}
	return text
}
