// Holds a stage on one of several ranks that have no connection to each other: each sends its share of the schedule from an instant
// on that was agreed beforehand, and writes a run directory of its own. Package merge joins these directories.

package cluster

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	"llmsweep/client/note"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// ApartRank is a rank that runs apart from the others.
type ApartRank struct {
	Rank, Ranks int
	Start       time.Time // of the stage, for all ranks
	Seed        uint64
	Numbers     Numbers // of the workload; nil where it has none
	// Error returns the largest error of this machine's clock in seconds; ok is false where it is not known. It is nil for [Error].
	Error func() (seconds float64, ok bool)

	told *rundir.Cluster
}

// NotePart marks a stage that is a part of the load.
var NotePart = note.Kind{Code: "cluster.part", Args: []string{"rank", "ranks"}}

// ApartNotes returns the kinds of notes that this package writes.
func ApartNotes() []note.Kind { return []note.Kind{NotePart} }

// ParseApart reads the instant of --start-at: a date with time and zone, or seconds since 1970.
func ParseApart(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	var unix int64
	if err != nil {
		if _, err = fmt.Sscanf(text+"\n", "%d\n", &unix); err == nil {
			at = time.Unix(unix, 0)
		}
	}
	if err != nil {
		return at, fmt.Errorf("--start-at %s: write a date and time such as 2026-01-31T15:04:05Z, or seconds since 1970 such as $(($(date +%%s) + 60))", text)
	}
	return at, nil
}

// Describe returns what run.json has of the ranks: this one. It is kept up to date while the stage is held.
func (r *ApartRank) Describe() *rundir.Cluster {
	host, _ := os.Hostname()
	r.told = &rundir.Cluster{Source: rundir.SourceApart, Of: r.Ranks, StartAt: r.Start, Ranks: []rundir.Rank{{
		Rank: r.Rank, Host: host, OS: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(), Valid: true,
	}}}
	return r.told
}

// aside is where the numbers of a stage's texts begin: beyond those of any warm-up, so that they are the same on all ranks.
const aside = 1 << 32

// late is how much later than the agreed instant a rank may begin.
const late = 100 * time.Millisecond

// Hold runs this rank's share of a stage. It is an experiment.Holder.
func (r *ApartRank) Hold(ctx context.Context, l arrival.Load, s load.Stage, e load.Environment) (*load.Observed, error) {
	nothing := &load.Observed{Interrupted: true}
	share := NewShare(r.Rank, r.Ranks, s.Limit, s.Schedule == nil, r.Seed, s.Name)
	until := time.Until(r.Start)
	switch {
	case share.Idle():
		return nothing, fmt.Errorf("rank %d has no part in %s: %d requests in flight are fewer than %d ranks", r.Rank, s.Name, s.Limit, r.Ranks)
	case until < -late:
		return nothing, fmt.Errorf("this rank was ready %v after --start-at: choose a later time, so that preflight and warm-up are over by then", (-until).Round(time.Millisecond))
	}
	if r.Numbers != nil {
		r.Numbers.Continue(uint64(r.Start.Unix())^r.Seed, aside)
	}
	opening := s.Opening
	s.Opening = nil
	for slot := r.Rank; slot < len(opening); slot += r.Ranks {
		s.Opening = append(s.Opening, opening[slot])
	}
	s.Owns, s.Limit, s.Start = share.Owns, share.Slots(), time.Now().Add(until) // by the monotonic clock
	before, known := r.clockError()
	e.Log = ranked{e.Log, rundir.Exactly(float64(r.Rank))}
	seen, err := load.Run(ctx, s, e)
	after, still := r.clockError()
	if r.told != nil && known && still {
		r.told.Ranks[0].WallError = rundir.Exactly(max(before, after))
	}
	seen.Ranks = &rundir.StageRanks{N: r.Ranks, Each: []rundir.StageRank{{Rank: r.Rank, Late: rundir.Exactly(seen.Began.Seconds())}}}
	seen.Invalid = NotePart.New(r.Rank, r.Ranks)
	return seen, err
}

func (r *ApartRank) clockError() (float64, bool) {
	if r.Error != nil {
		return r.Error()
	}
	return ApartError()
}

// ranked is a log that notes the rank in each record.
type ranked struct {
	load.Log
	rank rundir.Number
}

// Append writes a record.
func (l ranked) Append(r *rundir.Record) error {
	r.Rank = l.rank
	return l.Log.Append(r)
}
