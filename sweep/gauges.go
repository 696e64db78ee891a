package sweep

import (
	"context"
	"math"
	"time"

	"llmsweep/sweep/rundir"
)

// Gauges are what a server says about its own load. What it does not tell is NaN.
type Gauges struct {
	Running, Waiting          float64 // requests
	KVUsage                   float64 // 0 to 1
	Preemptions               float64 // since the server started
	PrefixQueries, PrefixHits float64 // prompt tokens, since the server started
}

// scrapeEvery is how often a server is asked for its gauges: as often as they change much, and no load of its own.
const scrapeEvery = time.Second

// gauged is one look at the gauges.
type gauged struct {
	at time.Duration
	Gauges
}

// watchServer looks at the server's gauges until the stage has ended.
func (s *stage) watchServer(ctx context.Context) {
	if s.scrape == nil {
		return
	}
	ticker := time.NewTicker(scrapeEvery)
	defer ticker.Stop()
	for {
		at := s.now()
		limited, cancel := context.WithTimeout(ctx, scrapeEvery)
		if g, err := s.scrape(limited); err == nil {
			s.gauges = append(s.gauges, gauged{at, g})
		}
		cancel()
		select {
		case <-ticker.C:
		case <-s.stop:
			return
		case <-ctx.Done():
			return
		}
	}
}

// serverSide sums up the gauges within a window; nil where there were none.
func serverSide(gauges []gauged, w span) *rundir.Server {
	var within []gauged
	for _, g := range gauges {
		if w.holds(g.at.Seconds()) {
			within = append(within, g)
		}
	}
	if len(within) == 0 {
		return nil
	}
	mean := func(of func(Gauges) float64) rundir.Number {
		sum := 0.0
		for _, g := range within {
			sum += of(g.Gauges)
		}
		return rundir.Exactly(sum / float64(len(within))) // NaN where it was not told
	}
	most := func(of func(Gauges) float64) rundir.Number {
		top := math.Inf(-1)
		for _, g := range within {
			top = math.Max(top, of(g.Gauges))
		}
		return rundir.Exactly(top)
	}
	growth := func(of func(Gauges) float64) float64 {
		return of(within[len(within)-1].Gauges) - of(within[0].Gauges)
	}
	running := func(g Gauges) float64 { return g.Running }
	waiting := func(g Gauges) float64 { return g.Waiting }
	usage := func(g Gauges) float64 { return g.KVUsage }
	server := &rundir.Server{
		Running: mean(running), RunningMax: most(running), Waiting: mean(waiting), WaitingMax: most(waiting),
		KVUsage: mean(usage), KVUsageMax: most(usage),
		Preemptions: rundir.Exactly(growth(func(g Gauges) float64 { return g.Preemptions })),
	}
	if queries := growth(func(g Gauges) float64 { return g.PrefixQueries }); queries > 0 {
		server.PrefixHitRate = rundir.Exactly(growth(func(g Gauges) float64 { return g.PrefixHits }) / queries)
	}
	return server
}

// What a saturated server ran out of.
const (
	fullCache = 0.95 // of the KV cache in use: the next request's blocks may not fit
	atOnce    = 0.95 // of the most running, on average: the batch is as large as it gets
)

// ranOut says what a saturated server ran out of, as far as its gauges tell: [rundir.LimitKV] where the KV cache was
// full or requests were thrown out of it; [rundir.LimitSlots] where as many ran as ever do and others waited, with room in
// the cache; [rundir.LimitCompute] where next to none waited, so that all in the system shared what it can compute.
func ranOut(s *rundir.Server) string {
	switch {
	case s == nil || !s.Running.Known() || !s.Waiting.Known():
		return ""
	case s.Preemptions.Value() > 0, s.KVUsageMax.Value() >= fullCache && s.Waiting.Value() >= 1:
		return rundir.LimitKV
	case s.Waiting.Value() >= 1 && s.Running.Value() >= atOnce*s.RunningMax.Value():
		return rundir.LimitSlots
	case s.Waiting.Value() < 1 && s.Running.Value() > 1:
		return rundir.LimitCompute
	}
	return ""
}
