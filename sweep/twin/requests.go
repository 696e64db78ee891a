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

// StageRequest is one request of a stage.
type StageRequest struct {
	Sent   float64
	Prompt int       // tokens as the server counted them
	Asked  int       // tokens as the workload wanted them; 0 where that is not known
	Output int       // tokens that were asked for, or that came
	Tokens []float64 // the instant of each output token that came
	Whole  bool      // it ended well
	Gone   float64   // when it left the server, whether or not it ended well

	end     float64 // of the answer
	hidden  int     // tokens that the server counted and of which nothing came
	unseen  int     // of those, tokens that no other request showed
	limited bool    // it ended because its tokens were used up: the last token is no mark of an end
}

// unseparated is the longest time in seconds between two tokens of a request that came in one piece. No step is as short.
const unseparated = 50e-6

// Requests returns the requests of a stage in the order in which they were sent.
func (s *Stage) Requests() (all []StageRequest) {
	each := packed(s.Records)
	for _, r := range s.Records {
		if !r.Sent.Known() || !r.PromptTokens.Known() && r.AskedTokens == 0 {
			continue
		}
		q := StageRequest{Sent: r.Sent.Value(), Whole: r.Status == "ok", Gone: never, limited: r.Finish == finishLength}
		if r.End.Known() {
			q.Gone = r.End.Value()
		}
		if r.FirstToken.Known() {
			q.Tokens = instants(r, each)
			last := q.Tokens[len(q.Tokens)-1]
			if q.Whole {
				q.end = q.Gone
				q.Gone = last
				if r.OutputTokens.Known() {
					q.hidden = max(0, int(r.OutputTokens.Value())-len(q.Tokens))
				}
			}
			q.Gone = max(last, min(q.Gone, never))
		}
		q.Asked = r.AskedPrompt
		if r.PromptTokens.Known() {
			q.Prompt = int(r.PromptTokens.Value())
		}
		q.Output = r.AskedTokens
		if q.Whole {
			q.Output = len(q.Tokens) + q.hidden
		}
		q.spread()
		all = append(all, q)
	}
	slices.SortStableFunc(all, func(a, b StageRequest) int { return cmp.Compare(a.Sent, b.Sent) })
	fillPrompts(all)
	reveal(all)
	return all
}

// never is an instant in seconds after the end of any stage.
const never = 1e12

// fillPrompts gives requests whose prompt nobody counted, because they were cancelled, the length that was asked for, as much longer as the
// others were (a chat template), or the mean length of the others.
func fillPrompts(all []StageRequest) {
	sum, n, more, both := 0, 0, 0, 0
	for _, q := range all {
		if q.Prompt > 0 {
			sum, n = sum+q.Prompt, n+1
			if q.Asked > 0 {
				more, both = more+q.Prompt-q.Asked, both+1
			}
		}
	}
	for i := range all {
		q := &all[i]
		switch {
		case q.Prompt > 0:
		case q.Asked > 0:
			q.Prompt = max(1, q.Asked+more/max(1, both))
		case n > 0:
			q.Prompt = max(1, sum/n)
		}
	}
}
