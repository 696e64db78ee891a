package findings

import (
	"slices"

	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// Term is a word of tables and sentences, and what it means.
type Term struct{ Name, Means lang.Text }

// Glossary returns the words that a report of stages uses.
func Glossary(stages []rundir.Stage) (all []Term) {
	any := func(test func(*rundir.Stage) bool) bool {
		return slices.ContainsFunc(stages, func(s rundir.Stage) bool { return test(&s) })
	}
	verdict := func(v rundir.Verdict) bool { return any(func(s *rundir.Stage) bool { return s.Verdict == v }) }
	streams := any(func(s *rundir.Stage) bool { return TTFT(s).N > 0 })
	known := func(of TakeStages) bool { return any(func(s *rundir.Stage) bool { return of(s).Known() }) }
	offered := known(func(s *rundir.Stage) rundir.Number { return s.Rates.Offered })
	for _, t := range []struct {
		shown bool
		name  lang.Text
		means lang.Phrase
	}{
		{any(func(s *rundir.Stage) bool { return s.Kind == rundir.KindOfUsers }), lang.Same("users@N"), meansUsers},
		{any(func(s *rundir.Stage) bool { return s.Role == rundir.Floor && s.Kind != rundir.KindOfUsers }), lang.Same("synchronous"), meansSynchronous},
		{offered, lang.Same("asynchronous@R"), meansAsynchronous},
		{any(func(s *rundir.Stage) bool { return s.Role == rundir.Ceiling }), lang.Same("throughput"), meansThroughput},
		{offered, headOffered.Text(), meansOffered},
		{known(func(s *rundir.Stage) rundir.Number { return s.Concurrency.Mean }), headInFlight.Text(), meansInFlight},
		{streams, lang.Same("TTFT"), meansTTFT},
		{any(func(s *rundir.Stage) bool { return ITL(s).N > 0 }), lang.Same("ITL"), meansITL},
		{any(func(s *rundir.Stage) bool { return Latency(s).N > 0 }), lang.HeadLatency.Text(), meansLatency},
		{known(func(s *rundir.Stage) rundir.Number { return Latency(s).P99 }), lang.Same("p50, p99"), meansPercentile},
		{verdict(rundir.Stable), verdictName(rundir.Stable), meansStable},
		{verdict(rundir.Saturated), verdictName(rundir.Saturated), meansSaturated},
		{verdict(rundir.Shedding), verdictName(rundir.Shedding), meansShedding},
		{verdict(rundir.Undecided), verdictName(rundir.Undecided), meansUndecided},
		{verdict(rundir.Closed), verdictName(rundir.Closed), meansClosed},
		{any(func(s *rundir.Stage) bool { return s.Hits != nil && s.Hits.Ideal.Value() > 0 }), headIdeal.Text(), meansIdeal},
		{any(func(s *rundir.Stage) bool { return s.Sessions != nil && s.Sessions.Again().Known() }), headAgain.Text(), meansAgain},
		{any(func(s *rundir.Stage) bool { return s.Sessions != nil && !s.Sessions.Good.IsZero() }), headGood.Text(), meansGood},
		{any(func(s *rundir.Stage) bool { return s.Goodput != nil }), headGoodput.Text(), meansGoodput},
	} {
		if t.shown {
			all = append(all, Term{t.name, t.means.Text()})
		}
	}
	return all
}

func verdictName(v rundir.Verdict) lang.Text {
	return lang.Text{EN: lang.Verdict(v, lang.English), ZH: lang.Verdict(v, lang.Chinese)}
}

var (
	meansUsers        = lang.Say("N users, each with one conversation after the other, pauses included", "N 个用户，每个用户的会话逐个进行，含停顿")
	meansIdeal        = lang.Say("share of the prompt tokens that were sent before, so that a prefix cache can have them", "此前发送过、前缀缓存可命中的提示 token 所占比例")
	meansAgain        = lang.Say("share of the later turns of which less than half of what the session had sent before was cached", "后续各轮中，会话此前内容命中缓存不足一半的轮次所占比例")
	meansGood         = lang.Say("share of the sessions of which no turn missed the SLO", "没有任何一轮违反 SLO 的会话所占比例")
	meansSynchronous  = lang.Say("one request at a time, which gives the shortest latencies", "逐个请求，时延最短")
	meansAsynchronous = lang.Say("R requests arrive per second, at random times", "每秒随机到达 R 个请求")
	meansThroughput   = lang.Say("as many requests at once as the server takes, which gives the highest rate", "尽可能多的并发请求，速率最高")
	meansOffered      = lang.Say("requests that arrived per second", "每秒到达的请求数")
	meansInFlight     = lang.Say("requests that were sent and not yet answered completely, mean", "已发出而尚未答完的请求数，取均值")
	meansTTFT         = lang.Say("time from sending the request to the first token", "从发出请求到首个 token 的时间")
	meansITL          = lang.Say("time from one token to the next", "相邻两个 token 的间隔")
	meansLatency      = lang.Say("time from sending the request to the last token", "从发出请求到末个 token 的时间")
	meansPercentile   = lang.Say("half of the values, and 99 % of them, lie below; other percentiles alike", "半数、99 % 的值低于此值；其他百分位数同理")
	meansStable       = lang.Say("the server kept up; its backlog was shown to grow by less than 5 % of the offered rate", "服务跟得上；已证明积压的增长低于到达率的 5 %")
	meansSaturated    = lang.Say("the backlog grew, and less was completed than arrived, so latencies depend on how long the row lasted", "积压增长，且完成的少于到达的，因此时延取决于该行持续的时间")
	meansShedding     = lang.Say("the backlog did not grow, because the server refused or failed a part of the requests", "服务拒绝或未能完成部分请求，因此积压不增长")
	meansUndecided    = lang.Say("the row was too short or too uneven to tell stable from saturated", "该行过短或波动过大，无法区分稳定与过载")
	meansClosed       = lang.Say("the number of requests in flight is fixed, so there is no backlog to judge", "并发数固定，没有可判定的积压")
	meansGoodput      = lang.Say("requests per second that kept every term of the SLO", "每秒满足全部 SLO 条款的请求数")
)
