package findings

import (
	"cmp"
	"slices"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Columns returns every quantity of a stage, in the order of CSV, which alone has many of them. Each other rendering picks
// some: see [Pick].
func Columns() []Column {
	all := slices.Concat(runColumns(), settingColumns(), countColumns(), rateColumns())
	for _, d := range []struct {
		id   string
		head lang.Text
		of   func(*rundir.Stage) *rundir.Dist
		when func([]rundir.Run) bool
	}{
		{"latency_s", lang.HeadLatency.Text(), Latency, nil},
		{"ttft_s", lang.Same("TTFT"), TTFT, nil},
		{"ttft_due_s", lang.Text{}, func(s *rundir.Stage) *rundir.Dist { return &s.TTFTDue }, nil},
		{"first_answer_s", headFirstAnswer.Text(), func(s *rundir.Stage) *rundir.Dist { return &s.FirstAnswer },
			anyStage(func(s *rundir.Stage) bool { return s.FirstAnswer.N > 0 })},
		{"tpot_s", lang.Same("TPOT"), func(s *rundir.Stage) *rundir.Dist { return &s.TPOT },
			anyStage(func(s *rundir.Stage) bool { return !s.TPOT.Mean.IsZero() })},
		{"itl_s", lang.Same("ITL"), ITL, nil},
		{"chunk_gap_s", lang.Text{}, func(s *rundir.Stage) *rundir.Dist { return &s.ChunkGap }, nil},
		{"lag_s", lang.Text{}, func(s *rundir.Stage) *rundir.Dist { return &s.Lag }, nil},
		{"queued_s", lang.Text{}, func(s *rundir.Stage) *rundir.Dist { return &s.Queued }, nil},
	} {
		for _, c := range distColumns(d.id, d.head, d.of) {
			c.When = d.when
			all = append(all, c)
		}
	}
	return slices.Concat(all, judgementColumns(), sessionColumns(), serverColumns())
}

// Pick returns the columns with these IDs, in this order.
func Pick(ids ...string) []Column {
	all, picked := Columns(), make([]Column, len(ids))
	for i, id := range ids {
		at := slices.IndexFunc(all, func(c Column) bool { return c.ID == id })
		if at < 0 {
			panic("no column " + id) // a test picks all that are named
		}
		picked[i] = all[at]
	}
	return picked
}

func wordColumn(id string, head lang.Text, word func(StageRow) string, cell func(StageRow) table.Cell) Column {
	return Column{ID: id, Head: head, Left: true, Word: word, Cell: cell}
}

func numberColumn(id string, head lang.Text, unit string, of StageNumber, print lang.Printer) Column {
	return Column{ID: id, Head: head, Unit: unit, Number: of,
		Cell: func(r StageRow) table.Cell { return table.Number(of(r.Stage), "", print) }}
}

// rateColumn is empty where nothing was completed.
func rateColumn(id string, head lang.Phrase, unit string, of StageNumber, print lang.Printer) Column {
	c := numberColumn(id, head.Text(), unit, of, print)
	c.Cell = func(r StageRow) table.Cell { return table.Number(lang.NonZero(of(r.Stage)), "", print) }
	return c
}

// countColumn is empty where a published table does not have the count.
func countColumn(id string, head lang.Text, of func(*rundir.Stage) int) Column {
	key := strings.Replace(id, "_", ".", 1)
	word := func(r StageRow) string { return csvNumber(r.Stage, key, float64(of(r.Stage))) }
	return Column{ID: id, Head: head, Word: word, Cell: func(r StageRow) table.Cell {
		n := of(r.Stage)
		if n == 0 && r.Stage.Source != nil {
			return table.Absent()
		}
		return table.Count(n)
	}}
}

func csvTextColumn(id string, word func(StageRow) string) Column { return Column{ID: id, Word: word} }

func csvNumberColumn(id string, of StageNumber) Column { return Column{ID: id, Number: of} }

func anyStage(test func(*rundir.Stage) bool) func([]rundir.Run) bool {
	return func(runs []rundir.Run) bool {
		return slices.ContainsFunc(runs, func(run rundir.Run) bool {
			return slices.ContainsFunc(run.Stages, func(s rundir.Stage) bool { return test(&s) })
		})
	}
}

func countColumns() []Column {
	return []Column{
		countColumn("requests_due", headRequests.Text(), func(s *rundir.Stage) int { return s.Requests.Due }),
		countColumn("requests_sent", lang.Text{}, func(s *rundir.Stage) int { return s.Requests.Sent }),
		countColumn("requests_ok", headAnswered.Text(), func(s *rundir.Stage) int { return s.Requests.OK }),
		countColumn("requests_error", lang.Text{}, func(s *rundir.Stage) int { return s.Requests.Error }),
		countColumn("requests_incomplete", lang.Text{}, func(s *rundir.Stage) int { return s.Requests.Incomplete }),
		countColumn("requests_resent", lang.Text{}, func(s *rundir.Stage) int { return s.Requests.Resent }),
		csvTextColumn("errors", func(r StageRow) string { return errorCounts(r.Stage.Errors) }),
	}
}

func rateColumns() []Column {
	offered := numberColumn("rates_offered", headOffered.Text(), "req/s",
		func(s *rundir.Stage) rundir.Number { return s.Rates.Offered }, lang.Rate)
	offered.Cell = func(r StageRow) table.Cell {
		if r.Stage.Rates.Offered.IsZero() { // a closed loop offers none
			return table.None()
		}
		return table.Number(r.Stage.Rates.Offered, "", lang.Rate)
	}
	chunks := numberColumn("tokens_per_chunk", headPerChunk.Text(), "tok",
		func(s *rundir.Stage) rundir.Number { return s.TokensPerChunk }, lang.Short)
	chunks.When = anyStage(func(s *rundir.Stage) bool { // it stands beside what speculative decoding accepts
		return s.Server != nil && s.Server.AcceptLength.Known()
	})
	return []Column{
		offered,
		csvNumberColumn("rates_sent", func(s *rundir.Stage) rundir.Number { return s.Rates.Sent }),
		rateColumn("rates_completed", lang.HeadDone, "req/s", Completed, lang.Rate),
		rateColumn("tokens_per_s_output", lang.HeadOutput, "tok/s", Output, lang.Short),
		rateColumn("tokens_per_s_input", headInput, "tok/s",
			func(s *rundir.Stage) rundir.Number { return s.TokensPerS.Input }, lang.Short),
		csvNumberColumn("tokens_per_s_total", func(s *rundir.Stage) rundir.Number { return s.TokensPerS.Total }),
		wholeRunColumn("whole_run_rates_completed", "req/s",
			func(w *rundir.WholeRun) rundir.Number { return w.Rates.Completed }, lang.Rate),
		wholeRunColumn("whole_run_tokens_per_s_output", "tok/s",
			func(w *rundir.WholeRun) rundir.Number { return w.TokensPerS.Output }, lang.Short),
		numberColumn("concurrency_mean", headInFlight.Text(), "",
			func(s *rundir.Stage) rundir.Number { return s.Concurrency.Mean }, lang.Tenths),
		csvTextColumn("concurrency_peak", func(r StageRow) string {
			return csvNumber(r.Stage, "concurrency.peak", float64(r.Stage.Concurrency.Peak))
		}),
		csvNumberColumn("prompt_tokens_mean", func(s *rundir.Stage) rundir.Number { return s.PromptTokens.Mean }),
		csvNumberColumn("asked_tokens", func(s *rundir.Stage) rundir.Number { return s.AskedTokens }),
		outputTokensColumn("mean", lang.SubMean.Text(), func(t *rundir.TokenStats) rundir.Number { return t.Mean }),
		csvNumberColumn("output_tokens_min", func(s *rundir.Stage) rundir.Number { return s.OutputTokens.Min }),
		outputTokensColumn("p50", lang.Same("p50"), func(t *rundir.TokenStats) rundir.Number { return t.P50 }),
		outputTokensColumn("p90", lang.Same("p90"), func(t *rundir.TokenStats) rundir.Number { return t.P90 }),
		outputTokensColumn("max", lang.Same("max"), func(t *rundir.TokenStats) rundir.Number { return t.Max }),
		{ID: "output_tokens_at_limit", Head: headAtLimit.Text(),
			Number: func(s *rundir.Stage) rundir.Number { return s.OutputTokens.AtLimit },
			Cell:   func(r StageRow) table.Cell { return table.Percent(r.Stage.OutputTokens.AtLimit) }},
		csvNumberColumn("cached_tokens", func(s *rundir.Stage) rundir.Number { return s.CachedTokens }),
		chunks,
		csvTextColumn("token_source", func(r StageRow) string { return r.Stage.TokenSource }),
		{ID: "inter_token_s", Head: lang.Same("ITL"), Sub: lang.SubMean.Text(),
			Number: func(s *rundir.Stage) rundir.Number { return s.InterToken },
			Cell:   func(r StageRow) table.Cell { return table.InterToken(r.Stage.InterToken, &r.Stage.ITL) }},
		{ID: "length", Head: headLength.Text(), Unit: "tokens", When: lengthDiffers, Cell: lengthCell},
	}
}

// wholeRunColumn is a rate of a closed loop that includes its start and its end.
func wholeRunColumn(id, unit string, of func(*rundir.WholeRun) rundir.Number, print lang.Printer) Column {
	c := numberColumn(id, headWholeRun.Text(), unit, func(s *rundir.Stage) (n rundir.Number) {
		if s.WholeRun != nil {
			n = of(s.WholeRun)
		}
		return n
	}, print)
	c.When = anyStage(func(s *rundir.Stage) bool { return s.WholeRun != nil })
	return c
}

func outputTokensColumn(id string, sub lang.Text, of func(*rundir.TokenStats) rundir.Number) Column {
	c := numberColumn("output_tokens_"+id, headLength.Text(), "",
		func(s *rundir.Stage) rundir.Number { return of(&s.OutputTokens) }, lang.Short)
	c.Sub = sub
	return c
}

func lengthDiffers(runs []rundir.Run) bool {
	return slices.ContainsFunc(runs, func(run rundir.Run) bool {
		return run.Workload.Capped || slices.ContainsFunc(run.Stages,
			func(s rundir.Stage) bool { return WrongLength(&run, &s, lang.English) != "" })
	})
}

func lengthCell(r StageRow) table.Cell {
	got := r.Stage.OutputTokens.Mean
	if !got.Known() {
		return table.Absent()
	}
	if WrongLength(r.Run, r.Stage, lang.English) == "" {
		return table.Literal(lang.Number(got, lang.Short))
	}
	return table.Cell{Text: sayOfAsked.Text(lang.Number(got, lang.Short), lang.Number(r.Stage.AskedTokens, lang.Short)),
		Tone: table.Bad}
}

func distColumns(id string, head lang.Text, of func(*rundir.Stage) *rundir.Dist) []Column {
	all := []Column{
		csvTextColumn(id+"_n", func(r StageRow) string { return csvNumber(r.Stage, id+".n", float64(of(r.Stage).N)) }),
	}
	for _, f := range new(rundir.Dist).Numbers() {
		c := Column{ID: id + "_" + f.Name, Head: head,
			Number: func(s *rundir.Stage) rundir.Number { return of(s).Get(f.Name) }}
		c.Sub, c.Cell = lang.Same(f.Name), func(r StageRow) table.Cell { return table.Statistic(of(r.Stage), f.Name) }
		if f.Name == "mean" {
			c.Sub = lang.SubMean.Text()
		}
		all = append(all, c)
	}
	return append(all,
		csvTextColumn(id+"_over", func(r StageRow) string { return lowerBounds(of(r.Stage)) }),
		csvTextColumn(id+"_unsupported", func(r StageRow) string { return strings.Join(of(r.Stage).Unsupported, " ") }))
}

func judgementColumns() []Column {
	hasSLO := anyStage(func(s *rundir.Stage) bool { return s.Goodput != nil })
	good := numberColumn("goodput_rate", headGoodput.Text(), "req/s",
		func(s *rundir.Stage) rundir.Number { return goodput(s).Rate }, lang.Rate)
	tokens := numberColumn("goodput_tokens_per_s", headGoodput.Text(), "tok/s",
		func(s *rundir.Stage) rundir.Number { return goodput(s).Tokens }, lang.Short)
	good.When, tokens.When = hasSLO, anyStage(func(s *rundir.Stage) bool { return !goodput(s).Tokens.IsZero() })
	met := wordColumn("goodput_verdict", headSLO.Text(),
		func(r StageRow) string { return string(goodput(r.Stage).Verdict) },
		func(r StageRow) table.Cell {
			if r.Stage.Goodput == nil {
				return table.Absent()
			}
			return SLOCell(r.Stage.Goodput.Verdict)
		})
	met.When = hasSLO
	return []Column{
		wordColumn("verdict", headVerdict.Text(),
			func(r StageRow) string { return string(countedVerdict(r.Stage)) }, VerdictCell),
		csvNumberColumn("drift_value", func(s *rundir.Stage) rundir.Number { return s.Drift.Value }),
		csvNumberColumn("drift_low", func(s *rundir.Stage) rundir.Number { return s.Drift.Low }),
		csvNumberColumn("drift_high", func(s *rundir.Stage) rundir.Number { return s.Drift.High }),
		good, tokens,
		csvNumberColumn("goodput_share", func(s *rundir.Stage) rundir.Number { return goodput(s).Share }),
		csvTextColumn("goodput_unknown", func(r StageRow) string { return nonZeroText(float64(goodput(r.Stage).Unknown)) }),
		met,
		csvTextColumn("goodput_terms", func(r StageRow) string {
			var parts []string
			for _, p := range goodput(r.Stage).Terms {
				parts = append(parts, p.Term+"="+string(p.Verdict))
			}
			return strings.Join(parts, " ")
		}),
		csvNumberColumn("client_cpu_fraction", func(s *rundir.Stage) rundir.Number { return s.ClientCPU }),
		csvTextColumn("invalid", func(r StageRow) string { return joinNotes(r.Stage.Invalid) }),
		csvTextColumn("warnings", func(r StageRow) string { return joinNotes(r.Stage.Warnings...) }),
		{ID: "remark", Head: headRemark.Text(), Left: true, Cell: remarkCell},
		{ID: "grades", Head: headAccuracy.Text(), Left: true,
			When: func(runs []rundir.Run) bool {
				return slices.ContainsFunc(runs, func(r rundir.Run) bool { return r.Grades != nil })
			},
			Cell: func(r StageRow) table.Cell { return gradesCell(r.Stage.Graded) }},
	}
}

// SLOCell returns the cell with the verdict on what was promised.
func SLOCell(v rundir.SLOVerdict) table.Cell {
	switch v {
	case rundir.Met:
		return table.Cell{Text: sloMet.Text(), Tone: table.Good}
	case rundir.Missed:
		return table.Cell{Text: sloMissed.Text(), Tone: table.Bad}
	}
	return table.Cell{Text: sloUnsure.Text(), Tone: table.Caution}
}

func countedVerdict(s *rundir.Stage) rundir.Verdict {
	if !s.Invalid.IsZero() {
		return lang.NotCounted
	}
	return s.Verdict
}

// VerdictName returns the word for a verdict.
func VerdictName(v rundir.Verdict) lang.Text {
	return lang.Both(func(l lang.Lang) string { return lang.Verdict(v, l) })
}

// VerdictCell returns the cell with the verdict on a stage. A rate below one that was held is held.
func VerdictCell(r StageRow) table.Cell {
	v := countedVerdict(r.Stage)
	switch {
	case v == rundir.Undecided && atOrBelowHeldRate(r):
		v = rundir.Stable
	case v == rundir.Saturated && atOrBelowHeldRate(r): // the row was too short
		v = rundir.Undecided
	}
	c := table.Cell{Text: VerdictName(v), Badge: cmp.Or(v, "none"), Tone: table.Faint}
	switch v {
	case rundir.Stable:
		c.Tone = table.Good
	case rundir.Saturated, rundir.Shedding:
		c.Tone = table.Bad
	case rundir.Undecided, lang.NotCounted:
		c.Tone = table.Caution
	}
	return c
}

// serverColumns are means over the window and the highest share of the cache. Times are by the engine's own clock.
func serverColumns() []Column {
	gauge := func(id string, head, unit lang.Text, cell func(rundir.Number) table.Cell,
		of func(*rundir.Server) rundir.Number) Column {
		number := func(s *rundir.Stage) (n rundir.Number) {
			if s.Server != nil {
				n = of(s.Server)
			}
			return n
		}
		return Column{ID: id, Head: head, Sub: unit, Number: number,
			When: anyStage(func(s *rundir.Stage) bool { return number(s).Known() }),
			Cell: func(r StageRow) table.Cell { return cell(number(r.Stage)) }}
	}
	plain := func(print lang.Printer) func(rundir.Number) table.Cell {
		return func(n rundir.Number) table.Cell { return table.Number(n, "", print) }
	}
	percentCell := func(n rundir.Number) table.Cell { return table.Number(lang.Scale(n, 100), "", lang.Tenths) }
	mean, none := lang.SubMean.Text(), lang.Same("")
	return []Column{
		gauge("server_running", headRunning.Text(), none, plain(lang.Tenths),
			func(s *rundir.Server) rundir.Number { return s.Running }),
		gauge("server_waiting", headWaiting.Text(), none, plain(lang.Tenths),
			func(s *rundir.Server) rundir.Number { return s.Waiting }),
		gauge("server_kv_usage_max", headKV.Text(), lang.Same("%"), percentCell,
			func(s *rundir.Server) rundir.Number { return s.KVUsageMax }),
		gauge("server_preemptions", headPreemptions.Text(), none, plain(lang.Fixed(0)),
			func(s *rundir.Server) rundir.Number { return s.Preemptions }),
		gauge("server_steps_per_s", headSteps.Text(), lang.Same("/s"), plain(lang.Tenths),
			func(s *rundir.Server) rundir.Number { return s.Steps }),
		gauge("server_ttft_s", lang.Same("TTFT"), mean, table.Seconds,
			func(s *rundir.Server) rundir.Number { return s.TTFT }),
		gauge("server_queue_s", headQueue.Text(), mean, table.Seconds,
			func(s *rundir.Server) rundir.Number { return s.Queue }),
		gauge("server_itl_s", lang.Same("ITL"), mean, table.Seconds, func(s *rundir.Server) rundir.Number { return s.ITL }),
		gauge("server_latency_s", lang.HeadLatency.Text(), mean, table.Seconds,
			func(s *rundir.Server) rundir.Number { return s.Latency }),
		gauge("server_accept_rate", headAccepted.Text(), lang.Same("%"), percentCell,
			func(s *rundir.Server) rundir.Number { return s.AcceptRate }),
		gauge("server_accept_length", headPerStep.Text(), lang.Same("tok"), plain(lang.Short),
			func(s *rundir.Server) rundir.Number { return s.AcceptLength }),
		gauge("server_prefix_hit_rate", headPrefix.Text(), lang.Same("%"), percentCell,
			func(s *rundir.Server) rundir.Number { return s.PrefixHitRate }),
	}
}

func sessionColumns() []Column {
	share := func(id string, head lang.Phrase, of StageNumber) Column {
		return Column{ID: id, Head: head.Text(), Sub: lang.Same("%"), Number: of,
			When: anyStage(func(s *rundir.Stage) bool { return !of(s).IsZero() }),
			Cell: func(r StageRow) table.Cell {
				return table.Number(lang.Scale(of(r.Stage), 100), "", lang.Tenths)
			}}
	}
	session := func(of func(*rundir.Sessions) rundir.Number) StageNumber {
		return func(s *rundir.Stage) rundir.Number {
			if s.Sessions == nil {
				return rundir.Number{}
			}
			return of(s.Sessions)
		}
	}
	notInCSV := func(c Column) Column { // CSV has what they are made of
		c.Number = nil
		return c
	}
	cache := func(of func(*rundir.Hits) rundir.Number, noSessions bool) StageNumber {
		return func(s *rundir.Stage) rundir.Number {
			if h := s.Hits; h != nil && (h.Ideal.Value() > 0 || h.Contaminated.Known()) && (!noSessions || s.Sessions == nil) {
				return of(h)
			}
			return rundir.Number{}
		}
	}
	return []Column{
		notInCSV(share("cache_ideal", headIdeal, cache(func(h *rundir.Hits) rundir.Number { return h.Ideal }, false))),
		notInCSV(share("cache_hits", headHits, cache(func(h *rundir.Hits) rundir.Number { return h.Reported }, true))),
		share("sessions_hits", headHits, session(func(s *rundir.Sessions) rundir.Number { return s.Hits })),
		notInCSV(share("sessions_again", headAgain, session((*rundir.Sessions).Again))),
		share("sessions_good", headGood, session(func(s *rundir.Sessions) rundir.Number { return s.Good })),
		notInCSV(share("turns_good", headTurnsGood, func(s *rundir.Stage) rundir.Number {
			if s.Sessions == nil {
				return rundir.Number{}
			}
			return goodput(s).Share
		})),
	}
}
