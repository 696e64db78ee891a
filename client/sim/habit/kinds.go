package habit

import (
	"errors"
	"math"
	"strconv"
	"time"
)

// Never is the Recovery of a server that stays slow for good.
const Never time.Duration = math.MaxInt64

// The defaults of what a parameter leaves open.
const (
	// RefusalTime is how long a server takes to refuse a request. It must not be zero: a client that sends the next
	// request at once would never let virtual time pass.
	RefusalTime = 10 * time.Millisecond
	// CacheTime is how long an answer from a cache takes.
	CacheTime = 5 * time.Millisecond

	tooMany     = 429 // Too Many Requests
	unavailable = 503 // Service Unavailable
)

// Collapses slows every step down as a queue builds: a step takes 1 + Share x (W/N - From) times as long, where W requests
// wait and the server has N slots. So its throughput falls where more is offered than it can take.
type Collapses struct {
	Share float64
	From  float64 // waiting requests per slot that do no harm
	Worst float64 // the largest slowdown, such as 3; 0: no limit
	// Recovery makes the collapse metastable (Bronson et al., HotOS 2021): once From + 1 requests wait for each slot,
	// the largest slowdown so far stays until the server was idle for this long. Never: for good. 0: the slowdown follows
	// the queue.
	Recovery time.Duration
}

// Slowdown returns how many times as long a step takes while requests wait on a server of some slots.
func (c Collapses) Slowdown(waiting float64, slots int) float64 {
	f := 1 + c.Share*max(0, waiting/float64(slots)-c.From)
	if c.Worst > 0 {
		f = min(f, c.Worst)
	}
	return f
}

func (Collapses) Name() string { return "collapses" }

func (c Collapses) String() string {
	return new(text).name("collapses", number(c.Share)).with("from", number(c.From), "0").with("worst", number(c.Worst), "0").with("recovery", span(c.Recovery), "0s").String()
}

func (c Collapses) Validate() error {
	switch {
	case notFinite(c.Share, c.From, c.Worst) != nil:
		return notFinite(c.Share, c.From, c.Worst)
	case c.Share <= 0 || c.Share > 100:
		return errors.New("the share must be above 0 (0.3: each waiting request per slot slows every step by 30 %)")
	case c.From < 0:
		return errors.New("from is how many waiting requests per slot do no harm: 0 or more")
	case c.Worst != 0 && c.Worst <= 1:
		return errors.New("worst is how many times as long a step takes at most: above 1")
	case c.Recovery < 0:
		return errors.New("recovery is a time, or never")
	}
	return nil
}

func collapsesKind() Kind {
	return Kind{
		Name: "collapses", Form: "collapses:SHARE[,from=N][,worst=FACTOR][,recovery=TIME|never]", Example: "collapses:0.3,recovery=20s",
		About:    "slows every step by SHARE for each waiting request per slot beyond N (0); worst limits the slowdown; with recovery it stays slow after an overload until it was idle for TIME",
		standard: "0.3", keys: []string{"share", "from", "worst", "recovery"}, places: 1,
		build: func(p *params) Habit {
			return Collapses{Share: p.number("share", 0.3), From: p.number("from", 0), Worst: p.number("worst", 0), Recovery: p.duration("recovery", 0)}
		},
	}
}

// Sheds refuses requests while others wait.
type Sheds struct {
	Waiting    int           // refuses while this number of requests waits; 0: while no slot is free
	Status     int           // 429 or 503
	RetryAfter time.Duration // what the refusal's Retry-After header says, in whole seconds; 0: no header
	After      time.Duration // how long a refusal takes
}

func (Sheds) Name() string { return "sheds" }

func (s Sheds) String() string {
	return new(text).name("sheds", strconv.Itoa(s.Waiting)).with("status", strconv.Itoa(s.Status), strconv.Itoa(tooMany)).
		with("retry", span(s.RetryAfter), "0s").with("after", span(s.After), span(RefusalTime)).String()
}

func (s Sheds) Validate() error {
	switch {
	case s.Waiting < 0:
		return errors.New("the number of waiting requests must not be negative")
	case s.Status != tooMany && s.Status != unavailable:
		return errors.New("the status must be 429 or 503")
	case s.RetryAfter < 0 || s.RetryAfter == Never:
		return errors.New("retry must be a time such as 2s")
	case s.After <= 0 || s.After == Never:
		return errors.New("a refusal must take some time, such as after=10ms")
	}
	return nil
}

func shedsKind() Kind {
	return Kind{
		Name: "sheds", Form: "sheds:N[,status=429|503][,retry=TIME][,after=TIME]", Example: "sheds:8,status=503",
		About:    "refuses requests while N wait; retry is the Retry-After header, after is how long a refusal takes (10ms)",
		standard: "8", keys: []string{"waiting", "status", "retry", "after"}, places: 1,
		build: func(p *params) Habit {
			return Sheds{Waiting: p.integer("waiting", 8), Status: p.integer("status", tooMany), RetryAfter: p.duration("retry", 0),
				After: p.duration("after", RefusalTime)}
		},
	}
}

// RateLimited refuses what two token buckets do not let through, as hosted APIs do: one of requests, one of tokens
// (prompt and output together). Each fills at its rate up to its burst. A request passes if the one holds a request and the
// other is not empty; its tokens are taken even if there are fewer, so that long and short requests fare alike. A refusal
// takes nothing, has status 429, and says in Retry-After when the request would pass.
type RateLimited struct {
	RPM, TPM   float64 // requests and tokens a minute; 0: no limit
	Burst      float64 // requests that the bucket holds; 0: a second's worth, at least 1
	TokenBurst float64 // tokens that the bucket holds; 0: a second's worth
	After      time.Duration
}

// WithDefaults fills in the bursts.
func (r RateLimited) WithDefaults() RateLimited {
	if r.Burst == 0 {
		r.Burst = max(1, r.RPM/60)
	}
	if r.TokenBurst == 0 {
		r.TokenBurst = r.TPM / 60
	}
	return r
}

func (RateLimited) Name() string { return "rate-limited" }

func (r RateLimited) String() string {
	t := new(text)
	if r.RPM > 0 {
		t.name("rate-limited", "rpm="+number(r.RPM)).with("tpm", number(r.TPM), "0")
	} else {
		t.name("rate-limited", "tpm="+number(r.TPM))
	}
	return t.with("burst", number(r.Burst), "0").with("token-burst", number(r.TokenBurst), "0").
		with("after", span(r.After), span(RefusalTime)).String()
}

func (r RateLimited) Validate() error {
	switch {
	case notFinite(r.RPM, r.TPM, r.Burst, r.TokenBurst) != nil:
		return notFinite(r.RPM, r.TPM, r.Burst, r.TokenBurst)
	case r.RPM < 0 || r.TPM < 0 || r.RPM == 0 && r.TPM == 0:
		return errors.New("a limit is missing: RPM, TPM or both, above 0")
	case r.Burst < 0 || r.Burst > 0 && r.Burst < 1:
		return errors.New("burst is how many requests may come at once: at least 1")
	case r.TokenBurst < 0:
		return errors.New("token-burst must not be negative")
	case r.Burst > 0 && r.RPM == 0:
		return errors.New("burst belongs to RPM; the burst of TPM is token-burst")
	case r.TokenBurst > 0 && r.TPM == 0:
		return errors.New("token-burst belongs to TPM; the burst of RPM is burst")
	case r.After <= 0 || r.After == Never:
		return errors.New("a refusal must take some time, such as after=10ms")
	}
	return nil
}

func rateLimitedKind() Kind {
	return Kind{
		Name: "rate-limited", Form: "rate-limited:[RPM=N][,TPM=N][,burst=REQUESTS][,token-burst=TOKENS][,after=TIME]",
		Example:  "rate-limited:RPM=600,burst=20",
		About:    "refuses with 429 and Retry-After what token buckets of requests and tokens (prompt and output) a minute do not let through; a burst is one second's worth unless given",
		standard: "rpm=600", keys: []string{"rpm", "tpm", "burst", "token-burst", "after"},
		build: func(p *params) Habit {
			return RateLimited{RPM: p.number("rpm", 0), TPM: p.number("tpm", 0), Burst: p.number("burst", 0),
				TokenBurst: p.number("token-burst", 0), After: p.duration("after", RefusalTime)}
		},
	}
}

// Drifts makes each step slower as time passes: after m minutes it takes 1 + Share x m times as long.
type Drifts struct{ Share float64 }

// Slowdown returns how many times as long a step takes at a time since the server's start.
func (d Drifts) Slowdown(at time.Duration) float64 { return 1 + d.Share*at.Minutes() }

func (Drifts) Name() string { return "drifts" }

func (d Drifts) String() string { return new(text).name("drifts", number(d.Share)).String() }

func (d Drifts) Validate() error {
	if err := notFinite(d.Share); err != nil {
		return err
	}
	if d.Share <= 0 || d.Share > 100 {
		return errors.New("the share must be above 0 (0.05: 5 % of the first step time is added every minute)")
	}
	return nil
}

func driftsKind() Kind {
	return Kind{
		Name: "drifts", Form: "drifts:SHARE", Example: "drifts:0.05",
		About:    "gets slower every minute, by SHARE of its first speed",
		standard: "0.05", keys: []string{"share"}, places: 1,
		build: func(p *params) Habit { return Drifts{p.number("share", 0.05)} },
	}
}

// Scales multiplies the slots and the token budget of a step once. What runs beyond the new slots runs to its end.
type Scales struct {
	Factor float64
	At     time.Duration // since the server's start
}

// Slots returns how many of some slots there are at a time, at least 1.
func (s Scales) Slots(slots int, at time.Duration) int {
	if at < s.At {
		return slots
	}
	return max(1, int(math.Round(float64(slots)*s.Factor)))
}

func (Scales) Name() string { return "scales" }

func (s Scales) String() string {
	return new(text).name("scales", number(s.Factor)).String() + "@" + span(s.At)
}

func (s Scales) Validate() error {
	switch {
	case notFinite(s.Factor) != nil:
		return notFinite(s.Factor)
	case s.Factor <= 0 || s.Factor > 1000 || s.Factor == 1:
		return errors.New("the factor must be above 0, and not 1 (2 doubles the slots, 0.5 halves them)")
	case s.At < 0 || s.At == Never:
		return errors.New("the time must not be negative")
	}
	return nil
}

func scalesKind() Kind {
	return Kind{
		Name: "scales", Form: "scales:FACTOR@TIME", Example: "scales:2@3m",
		About:    "multiplies its slots TIME after its start; 0.5 halves them",
		standard: "2@3m", keys: []string{"factor", "at"}, places: 1,
		build: func(p *params) Habit {
			return Scales{Factor: p.number("factor", 2), At: p.duration("at", 3*time.Minute)}
		},
	}
}

// Pauses stalls all streams together now and then. The times between the end of a pause and the next are exponential.
type Pauses struct {
	Every  time.Duration // mean time from the beginning of a pause to that of the next
	Length time.Duration
}

// Lost returns the share of the time that is lost.
func (p Pauses) Lost() float64 { return p.Length.Seconds() / p.Every.Seconds() }

func (Pauses) Name() string { return "pauses" }

func (p Pauses) String() string {
	return new(text).name("pauses", span(p.Every)+","+span(p.Length)).String()
}

func (p Pauses) Validate() error {
	if p.Length <= 0 || p.Every <= p.Length || p.Every == Never {
		return errors.New("a pause must take some time, and be shorter than the time from one to the next")
	}
	return nil
}

func pausesKind() Kind {
	return Kind{
		Name: "pauses", Form: "pauses:EVERY,LENGTH", Example: "pauses:10s,500ms",
		About:    "stalls all streams together for LENGTH, at random, EVERY on average",
		standard: "10s,500ms", keys: []string{"every", "length"}, places: 2,
		build: func(p *params) Habit {
			return Pauses{Every: p.duration("every", 10*time.Second), Length: p.duration("length", 500*time.Millisecond)}
		},
	}
}

// Batches holds each answer's tokens back and sends them in bursts, as a proxy with a buffer does. One of its fields is
// set. A buffer that ends an answer goes out at once.
type Batches struct {
	Time   time.Duration // a burst leaves with the first token that comes so long after the buffer's first one
	Tokens int           // a burst leaves when the buffer holds this number of tokens
}

func (Batches) Name() string { return "batches" }

func (b Batches) String() string {
	if b.Tokens > 0 {
		return new(text).name("batches", strconv.Itoa(b.Tokens)).String()
	}
	return new(text).name("batches", span(b.Time)).String()
}

func (b Batches) Validate() error {
	if b.Time < 0 || b.Tokens < 0 || (b.Time == 0) == (b.Tokens == 0) {
		return errors.New("want a time or a number of tokens, above 0")
	}
	return nil
}

func batchesKind() Kind {
	return Kind{
		Name: "batches", Form: "batches:TIME|TOKENS", Example: "batches:200ms",
		About:    "holds each answer's tokens back for TIME, or until there are TOKENS of them, and sends them in one burst",
		standard: "200ms", keys: []string{"size"}, places: 1,
		build: func(p *params) Habit {
			if n, err := strconv.Atoi(p.values["size"]); err == nil {
				return Batches{Tokens: n}
			}
			return Batches{Time: p.duration("size", 0)}
		},
	}
}

// Caches answers a share of the requests, chosen at random, without the model: the whole answer comes at once.
type Caches struct {
	Share   float64
	Repeats bool          // instead of a share: those that ask what was answered before
	After   time.Duration // how long such an answer takes
}

func (Caches) Name() string { return "caches" }

func (c Caches) String() string {
	if c.Repeats {
		return new(text).name("caches", "repeats").with("after", span(c.After), span(CacheTime)).String()
	}
	return new(text).name("caches", number(c.Share)).with("after", span(c.After), span(CacheTime)).String()
}

func (c Caches) Validate() error {
	switch {
	case notFinite(c.Share) != nil:
		return notFinite(c.Share)
	case c.Repeats && c.Share != 0:
		return errors.New("want a share or repeats, not both")
	case !c.Repeats && (c.Share <= 0 || c.Share >= 1):
		return errors.New("the share must be between 0 and 1 (0.3: 30 % of the answers come from the cache)")
	case c.After <= 0 || c.After == Never:
		return errors.New("an answer must take some time, such as after=5ms")
	}
	return nil
}

func cachesKind() Kind {
	return Kind{
		Name: "caches", Form: "caches:SHARE|repeats[,after=TIME]", Example: "caches:0.3",
		About:    "answers SHARE of the requests, or those that repeat an earlier one, from a cache, whole and after TIME (5ms)",
		standard: "0.3", keys: []string{"share", "after"}, places: 1,
		build: func(p *params) Habit {
			if p.values["share"] == "repeats" {
				return Caches{Repeats: true, After: p.duration("after", CacheTime)}
			}
			return Caches{Share: p.number("share", 0.3), After: p.duration("after", CacheTime)}
		},
	}
}

// Drops reads a request, works on it, and closes the connection before the first byte of an answer. It does so with one
// in Every requests that it accepts.
type Drops struct {
	Every int
	After time.Duration // from the request's arrival
}

func (Drops) Name() string { return "drops" }

func (d Drops) String() string {
	return new(text).name("drops", strconv.Itoa(d.Every)+","+span(d.After)).String()
}

func (d Drops) Validate() error {
	switch {
	case d.Every < 1:
		return errors.New("one in how many requests is dropped must be at least 1")
	case d.After <= 0 || d.After == Never:
		return errors.New("the time before the connection is dropped must be above 0")
	}
	return nil
}

func dropsKind() Kind {
	return Kind{
		Name: "drops", Form: "drops:EVERY,AFTER", Example: "drops:3,500ms",
		About:    "reads every EVERY-th request, works on it for AFTER, and closes the connection without an answer",
		standard: "3,500ms", keys: []string{"every", "after"}, places: 2,
		build: func(p *params) Habit {
			return Drops{Every: p.integer("every", 3), After: p.duration("after", 500*time.Millisecond)}
		},
	}
}

// Freezes stops for good: streams stall, and new connections are accepted and never answered.
type Freezes struct{ At time.Duration } // since the server's start

func (Freezes) Name() string { return "freezes" }

func (f Freezes) String() string { return "freezes@" + span(f.At) }

func (f Freezes) Validate() error {
	if f.At < 0 || f.At == Never {
		return errors.New("the time must not be negative")
	}
	return nil
}

func freezesKind() Kind {
	return Kind{
		Name: "freezes", Form: "freezes@TIME", Example: "freezes@10s",
		About:    "freezes for good TIME after its start: streams stall, and new connections are never answered",
		standard: "at=10s", keys: []string{"at"}, places: 1,
		build: func(p *params) Habit { return Freezes{p.duration("at", 10*time.Second)} },
	}
}
