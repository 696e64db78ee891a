package measure

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
	"llmsweep/sweep/stats"
)

// sessions keeps all turns, since records come in any order.
type sessions struct {
	w     Window
	terms []slo.Term // nil for no SLO
	turns []turn
}

type turn struct {
	session, index int
	counted        bool    // due in the window, and ended well
	prompt, output float64 // tokens
	cached         rundir.Number
	ttft, latency  rundir.Number
	missed         bool // a term of the SLO, in the window
}

func (s *sessions) add(r *rundir.Record) {
	due := s.w.Holds(r.Due.Value())
	s.turns = append(s.turns, turn{
		session: r.Seq, index: r.Turn, counted: due && r.OK(), prompt: r.PromptTokens.Or(0), output: r.OutputTokens.Or(0),
		cached: r.CachedTokens,
		ttft:   SLOValue(slo.TTFT, r), latency: SLOValue(slo.Latency, r),
		missed: due && len(s.terms) > 0 && judgeRequest(s.terms, r) == rundir.Missed,
	})
}

// summary needs the other metrics of the stage.
func (s *sessions) summary(st *rundir.Stage) *rundir.Sessions {
	slices.SortFunc(s.turns, func(a, b turn) int {
		return cmp.Or(cmp.Compare(a.session, b.session), cmp.Compare(a.index, b.index))
	})
	var all turns
	var lost, lostMissed loss
	classes, places := map[string]turns{}, map[int]turns{}
	present := map[int]bool{}
	for i, t := range s.turns {
		if t.counted || t.missed {
			present[t.session] = true
		}
		if !t.counted {
			continue
		}
		all, places[t.index] = append(all, t), append(places[t.index], t)
		previous := turn{session: -1}
		if i > 0 {
			previous = s.turns[i-1]
		}
		if n, cacheable := t.lost(previous); cacheable > 0 {
			lost.add(n, cacheable)
			if t.missed {
				lostMissed.add(n, cacheable)
			}
		}
		if class := t.class(previous); class != "" {
			classes[class] = append(classes[class], t)
		}
	}
	out := &rundir.Sessions{Lost: lost.share(), LostMissed: lostMissed.share(), Hits: all.hits(),
		Context: all.mean(func(t turn) float64 { return t.prompt + t.output })}
	if out.Hits.IsZero() && st.Server != nil {
		out.Hits = st.Server.PrefixHitRate
	}
	out.Of = len(present)
	for _, class := range []string{rundir.FirstTurn, rundir.WarmTurn, rundir.AgainTurn} {
		if g := classes[class].group(); g.N > 0 {
			g.Class = class
			out.Classes = append(out.Classes, g)
		}
	}
	for _, place := range slices.Sorted(maps.Keys(places)) {
		g := places[place].group()
		g.Turn = place
		out.Turns = append(out.Turns, g)
	}
	return out
}

// effective returns how many independent values the turns of the window are worth for a metric: turns of one session
// are alike. It is infinite where there are no sessions.
func (s *sessions) effective(metric func(turn) rundir.Number) float64 {
	if s == nil {
		return math.Inf(1)
	}
	var values []float64
	for _, t := range s.turns {
		if t.counted && metric(t).Known() {
			values = append(values, metric(t).Value())
		}
	}
	slices.Sort(values)
	fewest := math.Inf(1)
	for _, p := range []float64{0.5, 0.9} {
		if len(values) == 0 {
			break
		}
		limit, clusters := stats.QuantileOf(stats.Sorted(values), p), sessionClusters{}
		for _, t := range s.turns {
			if t.counted && metric(t).Known() {
				clusters.add(t.session, metric(t).Value() > limit)
			}
		}
		fewest = min(fewest, clusters.effective())
	}
	return fewest
}

// sessionClusters counts the values beyond a limit by session.
type sessionClusters map[int]stats.Cluster

func (b sessionClusters) add(session int, beyond bool) {
	c := b[session]
	if c.Of++; beyond {
		c.Count++
	}
	b[session] = c
}

func (b sessionClusters) effective() float64 {
	all := make([]stats.Cluster, 0, len(b))
	for _, session := range slices.Sorted(maps.Keys(b)) { // in one order: sums of floating-point numbers depend on it
		all = append(all, b[session])
	}
	return stats.ClusteredN(all)
}

// lost returns how many of the tokens that the session had sent before were no longer cached, beyond the rounding to
// blocks; cacheable is 0 where that is not known.
func (t turn) lost(previous turn) (n, cacheable float64) {
	if previous.session != t.session || previous.index+1 != t.index || !t.cached.Known() {
		return 0, 0
	}
	cacheable = max(0, previous.prompt-cacheBlock)
	return max(0, cacheable-t.cached.Value()), cacheable
}

// class is empty where it is not known, and in between.
func (t turn) class(previous turn) string {
	n, cacheable := t.lost(previous)
	switch {
	case t.index == 0:
		return rundir.FirstTurn
	case cacheable == 0:
		return ""
	case n <= warmLoss*cacheable:
		return rundir.WarmTurn
	case n > againLoss*cacheable:
		return rundir.AgainTurn
	}
	return ""
}

type loss struct{ n, cacheable float64 } // tokens

func (l *loss) add(n, cacheable float64) { l.n, l.cacheable = l.n+n, l.cacheable+cacheable }

func (l *loss) share() rundir.Number { return rundir.Exactly(l.n / l.cacheable) }

type turns []turn

func (all turns) mean(value func(turn) float64) rundir.Number {
	sum := 0.0
	for _, t := range all {
		sum += value(t)
	}
	return rundir.Exactly(sum / float64(len(all)))
}

// reported returns the turns of which the server told what was cached.
func (all turns) reported() (reported turns) {
	for _, t := range all {
		if t.cached.Known() && t.prompt > 0 {
			reported = append(reported, t)
		}
	}
	return reported
}

func (all turns) hits() rundir.Number {
	reported := all.reported()
	cached := reported.mean(func(t turn) float64 { return t.cached.Value() })
	prompt := reported.mean(func(t turn) float64 { return t.prompt })
	if !prompt.Known() {
		return rundir.Number{}
	}
	return rundir.Exactly(cached.Value() / prompt.Value())
}

func (all turns) group() rundir.TurnGroup {
	g := rundir.TurnGroup{N: len(all), Prompt: all.mean(func(t turn) float64 { return t.prompt })}
	g.Cached = all.reported().mean(func(t turn) float64 { return t.cached.Value() })
	var ttft []float64
	for _, t := range all {
		if t.ttft.Known() {
			ttft = append(ttft, t.ttft.Value())
		}
	}
	slices.Sort(ttft)
	if len(ttft) > 0 {
		g.P50 = rundir.Exactly(stats.Quantile(ttft, 0.5))
	}
	if len(ttft) >= enoughForP95 {
		g.P95 = rundir.Exactly(stats.Quantile(ttft, 0.95))
	}
	return g
}
