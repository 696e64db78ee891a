package cluster

import (
	"fmt"
	"io"
	"os"
	"time"

	"llmsweep/sweep/rundir/store"
)

// fetch has the ranks send their records, one after the other, and appends those of all to the log, or those of none.
func (g *coordinatorStage) fetch() error {
	spool, err := os.CreateTemp("", "llmsweep-records-*")
	if err != nil {
		return err
	}
	defer os.Remove(spool.Name())
	defer spool.Close()
	for _, p := range g.parts {
		if err := g.fetchFrom(p, spool); err != nil || !g.fault.IsZero() {
			return err
		}
	}
	if _, err := spool.Seek(0, io.SeekStart); err != nil {
		return err
	}
	for lines, err := range store.EachLines(spool, chunk) {
		if err == nil {
			err = g.Log.AppendLines(g.Name, lines)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (g *coordinatorStage) fetchFrom(p *share, to io.Writer) error {
	p.send(&fetch{Attempt: g.attempt})
	timer := time.NewTimer(fetchTime)
	defer timer.Stop()
	for {
		select {
		case ev := <-g.events:
			if r, ok := ev.m.(*records); ok && r.Attempt == g.attempt && g.of[ev.from] == p {
				if r.Last {
					return nil
				}
				if _, err := to.Write(r.Lines); err != nil {
					return err
				}
				timer.Reset(fetchTime)
				continue
			}
			g.take(ev)
		case <-timer.C:
			g.lost(p, fmt.Errorf("its records did not come within %v", fetchTime))
		}
		if !g.fault.IsZero() {
			return nil
		}
	}
}
