package measure

import (
	"iter"
	"slices"
	"time"

	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/sample"
	"llmsweep/sweep/slo"
)

// Recover fills in stages that were killed, from the records that they left, as far as they got. records yields those
// of all stages in any order, and is read twice; an error is of reading. A stage without records stays as it is. capped
// is as in [Criteria].
func Recover(
	stages []*rundir.Stage, inProgress bool, tolerance float64, capped bool, terms []slo.Term,
	records iter.Seq2[*rundir.Record, error],
) error {
	unfinished := noteKilled
	if inProgress {
		unfinished = noteInProgress
	}
	accounts := map[string]*replay{}
	for _, st := range stages {
		accounts[st.Name] = newReplay(st, tolerance, terms)
		accounts[st.Name].Capped = capped
	}
	for r, err := range records {
		if err != nil {
			return err
		}
		if p := accounts[r.Stage]; p != nil {
			p.add(r)
		}
	}
	summaries := map[string]*summary{}
	for _, st := range stages {
		if p := accounts[st.Name]; p.ended > 0 {
			summaries[st.Name] = p.begin(*st, p.outcomeSeen())
		}
	}
	for r, err := range records {
		if err != nil {
			return err
		}
		if s := summaries[r.Stage]; s != nil {
			s.add(r)
		}
	}
	for _, st := range stages {
		if s := summaries[st.Name]; s != nil {
			*st = s.finish()
			st.Warnings = append(st.Warnings, unfinished.New(s.ended))
		}
	}
	return nil
}

// replay makes the account of a stage from its records. It keeps nothing of them but their instants.
type replay struct {
	*Account
	sent, ends []time.Duration // when requests went into flight, and left
	end        time.Duration   // of the last request
	tick       time.Duration
	changes    []change
}

// change is what came within a tick. Where only the number of chunks is known, and not yet how many tokens a chunk of
// the stage holds, it is counted in chunks.
type change struct{ tokens, chunks, owed, owedChunks float64 }

func newReplay(st *rundir.Stage, tolerance float64, terms []slo.Term) *replay {
	c := Criteria{Rate: st.Rate.Or(0), Concurrency: st.MaxConcurrency, Whole: st.Whole, Tolerance: tolerance, SLO: terms}
	if st.Kind == rundir.KindOfUsers {
		c.Steady, c.Turns = true, 2 // or more turns
	}
	usual := Criteria{Extent: Extent{MinTime: 20 * time.Second}} // that of a killed stage is not recorded
	return &replay{Account: NewAccount(c), tick: usual.Tick()}
}

func (p *replay) add(r *rundir.Record) {
	p.Due(int(owed(r)))
	p.Ended(r, countTokens(r))
	end := rundir.Duration(r.End.Value())
	p.end = max(p.end, end)
	if r.Sent.Known() {
		p.sent, p.ends = append(p.sent, rundir.Duration(r.Sent.Value())), append(p.ends, end)
	}
	left := change{owed: owed(r)}
	p.change(rundir.Duration(r.Due.Value()), left)
	share, known := ownShare(r)
	for i, at := range chunkInstants(r) {
		var c change
		switch {
		case i < len(r.Counts):
			c.tokens = float64(r.Counts[i])
		case known:
			c.tokens = share
		default:
			c.chunks = 1
		}
		c.owed, c.owedChunks = -c.tokens, -c.chunks
		left.owed, left.owedChunks = left.owed+c.owed, left.owedChunks+c.owedChunks
		p.change(rundir.Duration(at), c)
	}
	p.change(end, change{owed: -left.owed, owedChunks: -left.owedChunks})
}

func countTokens(r *rundir.Record) int {
	n := 0
	for _, k := range r.Counts {
		n += int(k)
	}
	if len(r.Counts) == 0 && r.FirstToken.Known() {
		n = int(chunks(r))
	}
	return n
}

func (p *replay) change(at time.Duration, c change) {
	for int(at/p.tick) >= sample.MaxTicks {
		p.changes = sample.MergePairs(p.changes, change.sum)
		p.tick *= 2
	}
	tick := int(at / p.tick)
	for len(p.changes) <= tick {
		p.changes = append(p.changes, change{})
	}
	p.changes[tick] = p.changes[tick].sum(c)
}

func (c change) sum(d change) change {
	return change{c.tokens + d.tokens, c.chunks + d.chunks, c.owed + d.owed, c.owedChunks + d.owedChunks}
}

// outcomeSeen completes the account, and returns what the runner would have seen.
func (p *replay) outcomeSeen() *load.Outcome {
	perChunk := p.tally.counter().perChunk
	p.ticks = sample.Ticks{Width: p.tick}
	p.closedAt = p.end
	level := 0.0
	for _, c := range p.changes {
		level += c.owed + c.owedChunks*perChunk
		p.ticks.Sums = append(p.ticks.Sums, c.tokens+c.chunks*perChunk)
		p.ticks.Ends = append(p.ticks.Ends, level)
	}
	return &load.Outcome{ClosedAt: p.end, Elapsed: p.end, CPU: -1, InFlight: p.inFlight()}
}

// inFlight takes beginnings before ends at one instant, so that the number never falls below zero.
func (p *replay) inFlight() *sample.Level {
	slices.Sort(p.sent)
	slices.Sort(p.ends)
	level := sample.NewLevel(p.tick)
	begun := 0
	for _, end := range p.ends {
		for ; begun < len(p.sent) && p.sent[begun] <= end; begun++ {
			level.Add(p.sent[begun], 1)
		}
		level.Add(end, -1)
	}
	level.Advance(p.end)
	return level
}
