package saturation

import (
	"iter"
	"math"
	"net"
	"net/url"

	"llmsweep/client"
	"llmsweep/client/note"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
)

// Notes on habits of the server, each with its evidence. Rates are per second, times in seconds, shares from 0 to 1.
var (
	noteSheds  = note.Kind{Code: "habit.sheds", Args: []string{"stage", "offered", "share", "completed"}}
	notePauses = note.Kind{Code: "habit.pauses", Args: []string{"count", "length", "time"}}
	// the server is on this machine
	notePausesHere = note.Kind{Code: "habit.pauses-here", Args: []string{"count", "length", "time"}}
	noteBatches    = note.Kind{Code: "habit.batches", Args: []string{"tokens", "gap", "share"}}
	noteCaches     = note.Kind{Code: "habit.caches", Args: []string{"share", "time", "otherwise"}}
	noteDrops      = note.Kind{Code: "habit.drops", Args: []string{"count", "share"}}
)

// FailsAlways says that a share of the requests fails at every load. It is the first sentence of an answer.
var FailsAlways = note.Kind{Code: "habit.fails-always", Args: []string{"share", "alone", "class"}}

func habits(run *rundir.Run) (all []note.Note) {
	stages := run.Stages
	quota := run.Saturation != nil && run.Saturation.Quota != nil // the answer says it
	if st := sheddingStage(openLoops(stages)); st != nil && !quota {
		all = append(all, noteSheds.New(st.Name, st.Rates.Offered.Value(), st.Refused.Value(), st.Progress.Rate.Value()))
	}
	for _, n := range []note.Note{
		failsAlwaysNote(stages), attributePauses(run, pausesNote(stages)), burstsNote(stages), cachesNote(stages),
		dropsNote(stages),
	} {
		if !n.IsZero() {
			all = append(all, n)
		}
	}
	return all
}

// sheddingStage returns the stage with the largest share of refusals; nil where none sheds.
func sheddingStage(open []*rundir.Stage) (most *rundir.Stage) {
	for _, st := range open {
		if st.Verdict == rundir.Shedding && st.Refused.Known() && (most == nil || st.Refused.Value() > most.Refused.Value()) {
			most = st
		}
	}
	return most
}

func pausesNote(stages []rundir.Stage) note.Note {
	count, time, windows := 0, 0.0, 0.0
	for i := range stages {
		st := &stages[i]
		if !Usable(st) || st.Role != rundir.Synchronous && st.Verdict != rundir.Stable {
			continue // work on the prompts of a backlog holds streams up as well
		}
		windows += st.Elapsed
		if n := st.Traits.Stalls; n > 0 {
			count, time = count+n, time+float64(n)*st.Traits.StallTime.Value()
		}
	}
	if count < fewestPauses {
		return note.Note{}
	}
	return notePauses.New(count, time/float64(count), windows)
}

// attributePauses names this machine where the server runs on it, too: whatever stops the machine stops both.
func attributePauses(run *rundir.Run, n note.Note) note.Note {
	if n.Is(notePauses) && onThisMachine(run.Target.URL) {
		n.Code = notePausesHere.Code
	}
	return n
}

func onThisMachine(text string) bool {
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// failsAlwaysNote is about requests that fail at every load, also when sent one at a time: that is a fault and no
// overload.
func failsAlwaysNote(stages []rundir.Stage) note.Note {
	alone, all, failed := 0.0, 0, 0
	classes := map[string]int{}
	for i := range stages {
		st := &stages[i]
		q := st.Requests
		switch ended := q.OK + q.Error; {
		case ended == 0:
			continue
		case st.Role == rundir.Synchronous && q.Error >= fewestLone:
			alone = float64(q.Error) / float64(ended)
		case float64(q.Error) < leastFails*float64(ended):
			return note.Note{}
		}
		all, failed = all+q.OK+q.Error, failed+q.Error
		for class, n := range st.Errors {
			classes[class] += n
		}
	}
	if alone == 0 || all == 0 {
		return note.Note{}
	}
	most := ""
	for class, n := range classes {
		if n > classes[most] || n == classes[most] && class < most {
			most = class
		}
	}
	if most == string(client.ClassReset) { // [dropsNote] says it
		return note.Note{}
	}
	return FailsAlways.New(float64(failed)/float64(all), alone, most)
}

// serverTimed yields the stages that show when the server sent, and not when this client read.
func serverTimed(stages []rundir.Stage) iter.Seq[*rundir.Stage] {
	return func(yield func(*rundir.Stage) bool) {
		for i := range stages {
			if st := &stages[i]; !measure.ByClient(st.Invalid) && !yield(st) {
				return
			}
		}
	}
}

func burstsNote(stages []rundir.Stage) note.Note {
	n, all, tokens, gap := 0.0, 0.0, 0.0, 0.0
	for st := range serverTimed(stages) {
		weight := float64(st.Requests.OK)
		all += weight
		if t := st.Traits; t.Bursts.Known() {
			k := weight * t.Bursts.Value()
			n, tokens, gap = n+k, tokens+k*t.Burst.Value(), gap+k*t.BurstGap.Value()
		}
	}
	if all == 0 || n < mostBurst*all {
		return note.Note{}
	}
	return noteBatches.New(tokens/n, gap/n, n/all)
}

// cachesNote returns a note where some answers come in one piece, sooner than the first token of the others.
func cachesNote(stages []rundir.Stage) note.Note {
	n, all, time := 0.0, 0.0, 0.0
	otherwise := math.Inf(1)
	for st := range serverTimed(stages) {
		weight := float64(st.Requests.OK)
		all += weight
		if t := st.Traits; t.Whole.Known() {
			k := weight * t.Whole.Value()
			n, time = n+k, time+k*t.WholeTime.Value()
			otherwise = min(otherwise, st.TTFT.P95.Value())
		}
	}
	if n < fewestCached || n < leastCached*all {
		return note.Note{}
	}
	return noteCaches.New(n/all, time/n, otherwise)
}

// dropsNote allows for a few closed connections, an accident of the network.
func dropsNote(stages []rundir.Stage) note.Note {
	n, all := 0, 0
	for st := range serverTimed(stages) {
		resets := st.Errors[string(client.ClassReset)]
		n, all = n+resets, all+resets+st.Requests.OK
	}
	if n < fewestDropped || float64(n) < leastDropped*float64(all) {
		return note.Note{}
	}
	return noteDrops.New(n, float64(n)/float64(all))
}
