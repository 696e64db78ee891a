package report

import "llmsweep/sweep/rundir"

// What a server said of itself, row by row.
var (
	wordServer      = phrase{"What the server said", "服务端指标"}
	headRunning     = phrase{"running", "运行中"}
	headWaiting     = phrase{"waiting", "排队"}
	headKV          = phrase{"KV cache", "KV 缓存"}
	headPreemptions = phrase{"preempted", "抢占"}
	headPrefix      = phrase{"prefix hits", "前缀命中"}
)

// gauge is a column with one of the server's own figures.
func gauge(head string, print printer, of func(*rundir.Server) rundir.Number) field {
	return field{Column{Head: head}, func(r row) Cell {
		if r.stage.Server == nil {
			return Cell{Text: absent, Tone: Faint}
		}
		return quantity(of(r.stage.Server), "", print)
	}}
}

// serverFields are what a server said of itself: means over the window, and the highest share of its cache.
func serverFields(l Lang) []field {
	share := func(f rundir.Number) rundir.Number { return scaled(f, 100) }
	return []field{
		{Column{Head: headBenchmark.in(l), Left: true}, func(r row) Cell { return Cell{Text: r.stage.Name, Mark: marks(r.stage)} }},
		gauge(headRunning.in(l), tenths, func(s *rundir.Server) rundir.Number { return s.Running }),
		gauge(headWaiting.in(l), tenths, func(s *rundir.Server) rundir.Number { return s.Waiting }),
		gauge(headKV.in(l)+" %", tenths, func(s *rundir.Server) rundir.Number { return share(s.KVUsageMax) }),
		gauge(headPreemptions.in(l), fixed(0), func(s *rundir.Server) rundir.Number { return s.Preemptions }),
		gauge(headPrefix.in(l)+" %", tenths, func(s *rundir.Server) rundir.Number { return share(s.PrefixHitRate) }),
	}
}

// anyServer reports whether some row has such figures.
func anyServer(run *rundir.Run) bool {
	for i := range run.Stages {
		if run.Stages[i].Server != nil {
			return true
		}
	}
	return false
}

// limit says what a saturated server ran out of.
func limit(run *rundir.Run, l Lang) string {
	for i := range run.Stages {
		st := &run.Stages[i]
		if st.Name != run.Saturation.LimitStage || st.Server == nil {
			continue
		}
		s := st.Server
		switch run.Saturation.Limit {
		case rundir.LimitKV:
			return sayLimitKV.in(l, number(scaled(s.KVUsageMax, 100), fixed(0)), number(s.Preemptions, fixed(0)))
		case rundir.LimitSlots:
			return sayLimitSlots.in(l, number(s.RunningMax, fixed(0)), number(s.Waiting, fixed(0)))
		case rundir.LimitCompute:
			return sayLimitCompute.in(l, number(s.Running, fixed(0)))
		}
	}
	return ""
}
