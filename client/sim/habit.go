package sim

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Habits are what a server does wrong. The zero value is a good server.
type Habits struct {
	Collapses Collapse
	Sheds     Shed
	Limits    RateLimit
	Drifts    float64 // after m minutes a step takes 1 + Drifts x m times as long
	Scales    Scale
	Pauses    Pause
	Bursts    Burst
	Caches    float64 // share of the requests that are answered at once, without the model
	Drops     Drop
	Freezes   time.Duration // after so long streams stall for good, and connections are never answered; 0: never
	Answers   WrongAnswers
}

// Collapse slows each step by Share for each waiting request per slot, so that throughput falls where more is offered
// than the server takes.
type Collapse struct {
	Share float64
	Worst float64 // the largest slowdown, such as 3; 0: no limit
	// Recovery makes the collapse metastable (Bronson et al., HotOS 2021): once as many wait as there are slots, the
	// largest slowdown so far stays until the server was idle for this long. 0: the slowdown follows the queue.
	Recovery time.Duration
}

// Never is the Recovery of a server that stays slow for good.
const Never time.Duration = math.MaxInt64

func (c Collapse) slowdown(waiting, slots int) float64 {
	f := 1 + c.Share*float64(waiting)/float64(slots)
	if c.Worst > 0 {
		f = min(f, c.Worst)
	}
	return f
}

// Shed refuses requests while others wait.
type Shed struct {
	Waiting int // refuses while so many wait; 0: never
	Status  int // 429 or 503
}

// RateLimit refuses with status 429 what a token bucket does not let through. It fills at its rate, up to its burst. A
// request passes while the bucket holds a request, or while it holds any token: then all tokens of prompt and answer
// are taken, even if there are fewer.
type RateLimit struct {
	PerMinute, Burst float64
	Tokens           bool // they count tokens, and not requests
}

// Scale multiplies the slots and the token budget of a step once. What runs beyond the new slots runs to its end.
type Scale struct {
	Factor float64
	At     time.Duration // since the server's start
}

// Slots returns how many slots there are at a time, where there were slots at first; at least 1.
func (s Scale) Slots(slots int, at time.Duration) int {
	if s.Factor == 0 || at < s.At {
		return slots
	}
	return max(1, int(math.Round(float64(slots)*s.Factor)))
}

// Pause stalls all streams together now and then. The times between the end of a pause and the next are exponential.
type Pause struct {
	Every  time.Duration // mean time from the beginning of a pause to that of the next
	Length time.Duration
}

// Burst holds the tokens of an answer back, as a proxy with a buffer does, until there are Tokens of them, or until a
// token comes Time after the first one in the buffer.
type Burst struct {
	Tokens int
	Time   time.Duration
}

// Drop reads each so-many-th request, works on it, and closes the connection without an answer.
type Drop struct {
	Every int
	After time.Duration // from the request's arrival
}

// WrongAnswers are the shares of answers that are wrong.
type WrongAnswers struct {
	Errs     float64 // sums with a wrong result, each time in the same way
	ErrsBusy float64 // answers with a wrong result while another request is in the server
}

const (
	// RefusalTime is how long a refusal takes. It is not zero: a client that sends the next request at once would never
	// let virtual time pass.
	RefusalTime = 10 * time.Millisecond
	CacheTime   = 5 * time.Millisecond // how long an answer from the cache takes
)

// HabitHelp lists the habits that [ParseHabits] reads.
const HabitHelp = `Habits (--habit): TIME is 500ms, 20s or 3m; SHARE is 0.3 or 30%.
  collapses:SHARE[,WORST[,TIME]]  slower by SHARE for each waiting request per slot, at most WORST
                                  times; stays so until it was idle for TIME
  sheds:N[,STATUS]                refuses with STATUS (429) while N requests wait
  rate-limited:N[,BURST]          refuses more than N requests a minute; N is 6000tokens for tokens
  drifts:SHARE                    slower each minute, by SHARE of its first speed
  scales:FACTOR,TIME              has FACTOR times the slots after TIME
  pauses:EVERY,LENGTH             stalls all streams for LENGTH, at random, EVERY on average
  batches:TIME|TOKENS             sends the tokens of an answer in bursts
  caches:SHARE                    answers SHARE of the requests from a cache
  drops:N,TIME                    closes the connection of each N-th request after TIME
  freezes:TIME                    stops for good after TIME
  errs:SHARE[,SHARE]              answers SHARE of all sums wrongly, and more while it is busy`

// ParseHabits reads habits as [HabitHelp] lists them.
func ParseHabits(texts []string) (h Habits, err error) {
	for _, text := range texts {
		name, rest, _ := strings.Cut(strings.TrimSpace(text), ":")
		if err := h.set(name, &values{texts: strings.Split(rest, ",")}); err != nil {
			return h, fmt.Errorf("habit %q: %w; llmsweep sim --help lists the habits", text, err)
		}
	}
	return h, nil
}

func (h *Habits) set(name string, v *values) error {
	switch name {
	case "collapses":
		h.Collapses = Collapse{Share: v.number(), Worst: v.numberOr(0), Recovery: v.optionalTime()}
	case "sheds":
		h.Sheds = Shed{Waiting: v.count(), Status: int(v.numberOr(429))}
		if h.Sheds.Status != 429 && h.Sheds.Status != 503 {
			v.fail("the status is 429 or 503")
		}
	case "rate-limited":
		h.Limits.Tokens = strings.HasSuffix(v.texts[0], "tokens")
		v.texts[0] = strings.TrimSuffix(v.texts[0], "tokens")
		n := v.number()
		h.Limits.PerMinute, h.Limits.Burst = n, v.numberOr(max(1, n/60))
	case "drifts":
		h.Drifts = v.number()
	case "scales":
		h.Scales = Scale{Factor: v.number(), At: v.time()}
	case "pauses":
		h.Pauses = Pause{Every: v.time(), Length: v.time()}
		if h.Pauses.Length >= h.Pauses.Every {
			v.fail("a pause is shorter than the time from one to the next")
		}
	case "batches":
		if n, err := strconv.Atoi(v.texts[0]); err == nil && n > 0 {
			h.Bursts.Tokens, v.texts = n, v.texts[1:]
		} else {
			h.Bursts.Time = v.time()
		}
	case "caches":
		h.Caches = v.share()
	case "drops":
		h.Drops = Drop{Every: v.count(), After: v.time()}
	case "freezes":
		h.Freezes = v.time()
	case "errs":
		h.Answers.Errs, h.Answers.ErrsBusy = v.share(), v.numberOr(0)
	default:
		v.fail("no habit has this name")
	}
	if len(v.texts) > 0 {
		v.fail("%q is one value too many", v.texts[0])
	}
	return v.err
}

// values reads the values of a habit in turn, all of them above 0, and keeps the first error.
type values struct {
	texts []string
	err   error
}

func (v *values) next() (text string) {
	if len(v.texts) > 0 {
		text, v.texts = strings.TrimSpace(v.texts[0]), v.texts[1:]
	}
	return text
}

func (v *values) fail(format string, args ...any) {
	if v.err == nil {
		v.err = fmt.Errorf(format, args...)
	}
}

func (v *values) number() float64 {
	text := v.next()
	digits, percent := strings.CutSuffix(text, "%")
	x, err := strconv.ParseFloat(digits, 64)
	if percent {
		x /= 100
	}
	if err != nil || !(x > 0 && x < 1e9) {
		v.fail("%q is no number above 0", text)
		return 1
	}
	return x
}

func (v *values) count() int {
	x := v.number()
	if x != math.Trunc(x) {
		v.fail("%v is no whole number", x)
	}
	return int(x)
}

func (v *values) share() float64 {
	x := v.number()
	if x > 1 {
		v.fail("a share is at most 1, or 100%%")
	}
	return x
}

func (v *values) time() time.Duration {
	text := v.next()
	if text == "never" {
		return Never
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		v.fail("%q is no time such as 500ms or 20s", text)
		return 1
	}
	return d
}

// numberOr is number with a default for a value that is left out.
func (v *values) numberOr(fallback float64) float64 {
	if len(v.texts) == 0 {
		return fallback
	}
	return v.number()
}

// optionalTime returns 0 for a value that is left out.
func (v *values) optionalTime() time.Duration {
	if len(v.texts) == 0 {
		return 0
	}
	return v.time()
}
