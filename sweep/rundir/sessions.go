package rundir

// KindOfUsers is the kind of stages that hold a number of users, which is their MaxConcurrency: each has one session
// after the other, pauses included.
const KindOfUsers = "users"

// Sessions is what a stage shows of conversations: of the turns due in its window.
type Sessions struct {
	// Good is the share of the sessions of which no turn missed a term of the SLO; absent without an SLO. It is a lower
	// bound where that is not known of some turns.
	Good Number `json:"good,omitzero"`
	Of   int    `json:"of"` // sessions with turns in the window
	// Hits is the share of the prompt tokens that were found in the server's prefix cache, by the usage of answers, or
	// else by the server's counters; absent where neither tells.
	Hits Number `json:"hits,omitzero"`
	// Lost is the share of what sessions had sent before that was no longer cached in a later turn, and LostMissed that
	// in the turns that missed the SLO; each is absent where the server does not tell what is cached, or there are no
	// such turns.
	Lost       Number `json:"lost,omitzero"`
	LostMissed Number `json:"lost_missed,omitzero"`
	// Context is the mean length of a turn's prompt and answer together, in tokens: what a session holds of the KV
	// cache.
	Context Number      `json:"context_tokens,omitzero"`
	Classes []TurnGroup `json:"classes,omitempty"` // first, warm, computed again; those that there were
	Turns   []TurnGroup `json:"turns,omitempty"`   // by their place in the session, from 0
}

// Classes of turns: by what was cached of their prompts.
const (
	FirstTurn = "first" // of a session
	WarmTurn  = "warm"  // at least 90 % of what its session had before was cached
	AgainTurn = "again" // less than half of it was: computed again
)

// TurnGroup is turns that are alike. Times are in seconds, tokens are means per turn.
type TurnGroup struct {
	Class  string `json:"class,omitempty"`
	Turn   int    `json:"turn"` // place in the session; 0 in a class
	N      int    `json:"n"`
	Prompt Number `json:"prompt_tokens,omitzero"`
	Cached Number `json:"cached_tokens,omitzero"`
	P50    Number `json:"ttft_p50_s,omitzero"`
	P95    Number `json:"ttft_p95_s,omitzero"` // absent where fewer than 20 turns tell it
}

// Class returns the turns of a class; nil where there are none.
func (s *Sessions) Class(name string) *TurnGroup {
	if s == nil {
		return nil
	}
	for i := range s.Classes {
		if s.Classes[i].Class == name {
			return &s.Classes[i]
		}
	}
	return nil
}

// Again returns the share of the turns after the first that were computed again; absent where that is not known.
func (s *Sessions) Again() Number {
	warm, again := s.Class(WarmTurn), s.Class(AgainTurn)
	n, of := 0, 0
	if warm != nil {
		of += warm.N
	}
	if again != nil {
		n, of = again.N, of+again.N
	}
	if of == 0 {
		return Number{}
	}
	return Exactly(float64(n) / float64(of))
}

// UserCapacity is how many users a server carries: the most for whom it keeps the SLO, or without one, up to which more
// users bring more tokens and the cache holds their contexts.
type UserCapacity struct {
	Terms   []string   `json:"terms,omitempty"`   // of the SLO; none without one
	Verdict SLOVerdict `json:"verdict,omitempty"` // "broken" where not even one user gets what the SLO promises
	// a lower bound where no number of users was too many; absent where it is not known
	Users Number `json:"users,omitzero"`
	Low   Number `json:"low,omitzero"` // 95 % interval of the number
	High  Number `json:"high,omitzero"`
	// Cause is what runs out beyond that: LimitKV, LimitSlots or LimitCompute; empty where it is not known.
	Cause string `json:"cause,omitempty"`
	// Term is the term that is missed first; empty without one.
	Term string `json:"term,omitempty"`
	// Scattered reports whether a row with no more users misses the term, by chance. Users is then taken from the curve
	// through all rows.
	Scattered bool `json:"scattered,omitempty"`
	// Within is the row at the number of users or next below it that keeps the term, Beyond the one with the most
	// users.
	Within *CarriedRow `json:"within,omitempty"`
	Beyond *CarriedRow `json:"beyond,omitempty"`
	// Cache is the size of the KV cache in tokens, as the server states it, and Fits how many contexts of Context
	// tokens, the mean, it holds; absent where it does not tell.
	Cache   Number `json:"kv_tokens,omitzero"`
	Context Number `json:"context_tokens,omitzero"`
	Fits    Number `json:"kv_users,omitzero"`
}

// CarriedRow is a row beside the number of users that a server carries.
type CarriedRow struct {
	Stage  string `json:"stage"`
	Users  int    `json:"users"`
	Hits   Number `json:"hits,omitzero"`
	Value  Number `json:"value,omitzero"` // of Term, or of ttft:p95; seconds, or a share
	Output Number `json:"output_tokens_per_s,omitzero"`
}
