package twin

import (
	"cmp"
	"slices"

	"llmsweep/sweep/rundir"
)

// Stage is what a fit sees of a stage: its load and its records.
type Stage struct {
	Name  string
	Width int     // requests in flight in a closed loop; 0 for arrivals at a rate
	Rate  float64 // of arrivals; 0 in a closed loop
	// From is the beginning of the window and Window its length, in seconds.
	From, Window float64
	Records      []*rundir.Record
}

// request is one request of a stage.
type request struct {
	sent   float64
	prompt int       // tokens as the server counted them
	asked  int       // tokens as the workload wanted them; 0 where that is not known
	output int       // tokens that were asked for, or that came
	tokens []float64 // the instant of each output token that came
	whole  bool      // it ended well
	gone   float64   // when it left the server, whether or not it ended well
}

// unseparated is the longest time in seconds between two tokens of a request that came in one piece. No step is as short.
const unseparated = 50e-6

// requestsOf returns the requests of a stage in the order in which they were sent, and the share of the tokens that came in one piece with
// the one before.
func requestsOf(s *Stage) (all []request, joined float64) {
	tokens, pieces := 0, 0
	for _, r := range s.Records {
		if !r.Sent.Known() || !r.PromptTokens.Known() && r.AskedTokens == 0 {
			continue
		}
		q := request{sent: r.Sent.Value(), whole: r.Status == "ok", gone: never}
		if r.End.Known() {
			q.gone = r.End.Value()
		}
		if r.FirstToken.Known() {
			q.tokens = instants(r)
			last := q.tokens[len(q.tokens)-1]
			if q.whole {
				q.gone = last
			}
			q.gone = max(last, min(q.gone, never))
		}
		q.asked = r.AskedPrompt
		if r.PromptTokens.Known() {
			q.prompt = int(r.PromptTokens.Value())
		}
		q.output = r.AskedTokens
		if q.whole {
			q.output = len(q.tokens)
		}
		tokens += max(0, len(q.tokens)-1)
		pieces += q.spread()
		all = append(all, q)
	}
	slices.SortStableFunc(all, func(a, b request) int { return cmp.Compare(a.sent, b.sent) })
	fillPrompts(all)
	if tokens > 0 {
		joined = float64(pieces) / float64(tokens)
	}
	return all, joined
}

// never is an instant in seconds after the end of any stage.
const never = 1e12

// instants returns the instant of each token of a record.
func instants(r *rundir.Record) []float64 {
	at, us := r.FirstToken.Value(), int64(0)
	var tokens []float64
	add := func(chunk int, t float64) {
		n := 1
		if chunk < len(r.Counts) {
			n = max(1, int(r.Counts[chunk]))
		}
		for range n {
			tokens = append(tokens, t)
		}
	}
	add(0, at)
	for i, g := range r.GapsUS {
		us += g
		add(i+1, at+float64(us)*1e-6)
	}
	return tokens
}

// spread spreads tokens that came in one piece over the time since the token before the piece, as the server made them, and returns how
// many there were besides the last of each piece.
func (q *request) spread() (joined int) {
	t := q.tokens
	for i := 1; i < len(t); {
		end := i + 1
		for end < len(t) && t[end]-t[end-1] <= unseparated {
			end++
		}
		if n := end - i; n > 1 {
			from, width := t[i-1], t[end-1]-t[i-1]
			for k := range n {
				t[i+k] = from + width*float64(k+1)/float64(n)
			}
			joined += n - 1
		}
		i = end
	}
	return joined
}

// fillPrompts gives requests whose prompt nobody counted, because they were cancelled, the length that was asked for, as much longer as the
// others were (a chat template), or the mean length of the others.
func fillPrompts(all []request) {
	sum, n, more, both := 0, 0, 0, 0
	for _, q := range all {
		if q.prompt > 0 {
			sum, n = sum+q.prompt, n+1
			if q.asked > 0 {
				more, both = more+q.prompt-q.asked, both+1
			}
		}
	}
	for i := range all {
		q := &all[i]
		switch {
		case q.prompt > 0:
		case q.asked > 0:
			q.prompt = max(1, q.asked+more/max(1, both))
		case n > 0:
			q.prompt = max(1, sum/n)
		}
	}
}
