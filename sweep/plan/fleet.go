// Simulates replicas of a server behind a router through hours of requests: which replica gets a request, replicas that are
// started and stopped with the load, and one that is lost. It judges each minute by service level objectives. It knows no clock.

package plan

import (
	"cmp"
	"errors"
	"math"
	"time"

	"llmsweep/client/sim"
	"llmsweep/sweep/slo"
)

// FleetRequest is a request that comes to the router.
type FleetRequest struct {
	At             time.Duration
	Prompt, Output int32
	Hashes         []int64 // of the leading blocks of the prompt, each for all text up to its end; may be nil
}

// Router is how a replica is chosen.
type Router string

// The routers.
const (
	RoundRobin  Router = "round-robin"  // in turn
	LeastLoaded Router = "least-loaded" // the one with the fewest requests in flight
	PrefixAware Router = "prefix-aware" // the one that has seen the beginning of the prompt, unless it is much busier than others
)

// fleetScaling starts and stops replicas with the load, as the autoscaler of Kubernetes does.
type fleetScaling struct {
	Least, Most int
	InFlight    float64       // requests in flight for one replica
	ColdStart   time.Duration // from the decision until a replica takes requests; it is paid for
	Calm        time.Duration // how long fewer must be enough before one is stopped
}

// FleetConfig is a fleet.
type FleetConfig struct {
	Server   sim.MachineConfig
	Replicas int
	Router   Router
	Scaling  *fleetScaling // nil: the number stays
	Lost     int           // replicas that are lost at LostAt and do not come back; with Scaling others are started
	LostAt   time.Duration //
	Hits     float64       // share of each prompt that is found in the prefix cache of any replica
	Block    int           // tokens of a block of Hashes; 0 where prompts have none
	Terms    []slo.Term
	// Allowed is the share of the minutes that may break the objective. The simulation ends as soon as more do; below 0 it goes on.
	Allowed float64
}

// fleetMinute is a minute of a day.
type fleetMinute struct {
	Arrived  int
	Failed   int // refused, or lost with their replica
	Replicas int // that take requests, at the end
	Paid     int // those that start and those that drain too
	InFlight int // at the end
	// MeanInFlight is the mean of several looks in the minute.
	MeanInFlight float64
	Broken       []bool    // by term; nil where no request came
	Values       []float64 // by term, what it is about: seconds, or a share; +Inf where answers never came
}

// fleetOutcome is what became of the requests.
type fleetOutcome struct {
	Minutes     []fleetMinute
	Requests    int
	Refused     int     // too long for the server
	LostAnswers int     // answers that were cut off when a replica was lost
	Held        float64 // share of the minutes with requests in which the objective holds
	Breaks      []int   // minutes that break a term, by term
	PaidHours   float64 // of replicas
	Usage       sim.ReplicaUsage
	Ended       bool // early: too many minutes broke the objective
}

// errNone is the error of a fleet without replicas.
var errNone = errors.New("a fleet needs at least one replica")

// scaleEvery is how often the load is looked at: Kubernetes' default.
const scaleEvery = 15 * time.Second

// member is a replica of a fleet.
type member struct {
	*sim.Replica
	number   int
	serves   time.Duration // from when it takes requests
	draining bool
	seen     map[int64]struct{} // blocks of prompts that it computed
	order    []int64
	oldest   int
}

// run is a simulation under way.
type run struct {
	FleetConfig
	members  []*member
	made     int
	turn     int
	arrivals []FleetRequest
	book     book
	free     []*sim.Visit
	wanted   []want // what the load asked for, for Calm
	paid     time.Duration
	usage    sim.ReplicaUsage
	out      *fleetOutcome
}

// want is a number of replicas that the load asked for at an instant.
type want struct {
	at time.Duration
	n  int
}

// runFleet simulates a fleet that requests come to, in order. The simulation goes on after length until all are answered, but not more than an hour.
func runFleet(c FleetConfig, requests []FleetRequest, length time.Duration) (*fleetOutcome, error) {
	if c.Replicas < 1 {
		return nil, errNone
	}
	minutes := int((length + time.Minute - 1) / time.Minute)
	length = time.Duration(minutes) * time.Minute
	r := &run{FleetConfig: c, arrivals: requests, out: &fleetOutcome{Minutes: make([]fleetMinute, minutes), Requests: len(requests)}}
	r.book = newBook(c.Terms, minutes)
	for range c.Replicas {
		if err := r.start(0, 0); err != nil {
			return nil, err
		}
	}
	r.day(length)
	r.finish(length)
	return r.out, nil
}

// start makes a replica that takes requests from an instant on.
func (r *run) start(now, serves time.Duration) error {
	c := r.Server
	c.Seed += uint64(r.made)
	replica, err := sim.NewReplica(c, now, r)
	if err != nil {
		return err
	}
	m := &member{Replica: replica, number: r.made, serves: serves}
	if r.Block > 0 {
		m.seen = map[int64]struct{}{}
	}
	r.made++
	r.members = append(r.members, m)
	return nil
}

// day lets the requests come, and looks at the fleet between them.
func (r *run) day(length time.Duration) {
	next := scaleEvery
	lost := r.Lost == 0
	for i := range r.arrivals {
		at := r.arrivals[i].At
		for next <= at {
			if r.look(next); r.out.Ended {
				return
			}
			next += scaleEvery
		}
		if !lost && at >= r.LostAt {
			lost = true
			r.lose(at)
		}
		r.route(int32(i), at, at)
	}
	for ; next <= length && !r.out.Ended; next += scaleEvery {
		r.look(next)
	}
}

// look scales the fleet, and closes a minute.
func (r *run) look(at time.Duration) {
	for _, m := range r.members {
		m.Until(at)
	}
	if r.Scaling != nil {
		r.scale(at)
	}
	r.paid += scaleEvery * time.Duration(len(r.members))
	k := int((at - 1) / time.Minute)
	if k >= len(r.out.Minutes) {
		return
	}
	m := &r.out.Minutes[k]
	for _, one := range r.members {
		m.MeanInFlight += float64(one.InFlight(at)) / float64(time.Minute/scaleEvery)
	}
	if at%time.Minute != 0 {
		return
	}
	for _, one := range r.members {
		if !one.draining && one.serves <= at {
			m.Replicas++
		}
		m.InFlight += one.InFlight(at)
	}
	m.Paid = len(r.members)
	r.book.closeGaps(k)
	if r.Allowed >= 0 && k >= settled && r.book.broken(k-settled, at) > int(r.Allowed*float64(len(r.out.Minutes))) {
		r.out.Ended = true
	}
}

// unlimited is a cache in tokens that hardly runs out: of a server whose cache was never seen full.
const unlimited = 1 << 24

// settled is how many minutes later a minute is judged before the end: its requests have mostly ended.
const settled = 3

// route sends a request to a replica at an instant. came is when it came to the router.
func (r *run) route(tag int32, came, at time.Duration) {
	q := &r.arrivals[tag]
	m := r.choose(q, at)
	minute := min(int(came/time.Minute), len(r.out.Minutes)-1)
	if came == at {
		r.out.Minutes[minute].Arrived++
		r.book.came(minute)
	}
	if m == nil || !m.Fits(int(q.Prompt), int(q.Output)) {
		r.out.Refused++
		r.out.Minutes[minute].Failed++
		r.book.failed(minute)
		return
	}
	m.Until(at)
	v := r.visit()
	v.Arrived, v.Prompt, v.Output, v.Tag = at, int(q.Prompt), int(q.Output), int(tag)
	v.Cached = int(r.Hits * float64(q.Prompt))
	if r.Block > 0 {
		v.Cached = max(v.Cached, m.match(q.Hashes)*r.Block)
		m.learn(q.Hashes, cmp.Or(r.Server.KVTokens, unlimited)/r.Block)
	}
	m.Add(v)
}

// visit returns a visit that is not used any more, or a new one.
func (r *run) visit() *sim.Visit {
	if n := len(r.free); n > 0 {
		v := r.free[n-1]
		r.free = r.free[:n-1]
		*v = sim.Visit{}
		return v
	}
	return &sim.Visit{}
}

// choose returns the replica for a request; nil where none takes requests.
func (r *run) choose(q *FleetRequest, at time.Duration) *member {
	if r.Router == RoundRobin || r.Router == "" {
		for range r.members {
			r.turn++
			if m := r.members[r.turn%len(r.members)]; m.takes(at) {
				return m
			}
		}
		return nil
	}
	least, sum, n := r.least(at)
	if r.Router == PrefixAware && len(q.Hashes) > 0 && least != nil {
		const busier, few = 1.5, 4 // a replica that exceeds the mean by this factor, and by this number of requests, is too busy
		if home := r.home(q.Hashes[0], at); float64(home.InFlight(at)) <= busier*float64(sum)/float64(n)+few {
			return home
		}
	}
	return least
}

// least returns the replica with the fewest requests, in turn among equals, and the requests and the number of all that take requests.
func (r *run) least(at time.Duration) (best *member, sum, n int) {
	r.turn++
	fewest := math.MaxInt
	for i := range r.members {
		m := r.members[(r.turn+i)%len(r.members)]
		if !m.takes(at) {
			continue
		}
		m.Until(at)
		k := m.InFlight(at)
		if k < fewest {
			best, fewest = m, k
		}
		sum, n = sum+k, n+1
	}
	return best, sum, n
}

// home returns the replica that a prefix belongs to: it changes little when replicas come and go (rendezvous hashing).
func (r *run) home(prefix int64, at time.Duration) (best *member) {
	highest := uint64(0)
	for _, m := range r.members {
		if !m.takes(at) {
			continue
		}
		// A round of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
		h := uint64(prefix)*0x9e3779b97f4a7c15 + uint64(m.number)*0xbf58476d1ce4e5b9
		h ^= h >> 30
		h *= 0xbf58476d1ce4e5b9
		h ^= h >> 27
		h *= 0x94d049bb133111eb
		h ^= h >> 31
		if best == nil || h > highest {
			best, highest = m, h
		}
	}
	return best
}

func (m *member) takes(at time.Duration) bool { return !m.draining && m.serves <= at }

// match returns how many leading blocks a replica has computed before.
func (m *member) match(hashes []int64) int {
	for i, h := range hashes {
		if _, ok := m.seen[h]; !ok {
			return i
		}
	}
	return len(hashes)
}

// learn notes blocks, and forgets the oldest where there are more than fit.
func (m *member) learn(hashes []int64, most int) {
	for _, h := range hashes {
		if _, ok := m.seen[h]; ok || most < 1 {
			continue
		}
		m.seen[h] = struct{}{}
		if len(m.order) < most {
			m.order = append(m.order, h)
			continue
		}
		delete(m.seen, m.order[m.oldest])
		m.order[m.oldest] = h
		m.oldest = (m.oldest + 1) % most
	}
}

// lose takes replicas away. Requests without a token are sent again; answers that had begun are lost.
func (r *run) lose(at time.Duration) {
	for range min(r.Lost, len(r.members)) {
		m := r.members[0]
		m.Until(at)
		r.members = r.members[1:]
		r.add(m.Usage())
		began := map[int]bool{}
		for _, v := range m.Running() {
			began[v.Tag] = v.First > 0
		}
		for _, v := range m.Cancel() {
			q := &r.arrivals[v.Tag]
			minute := min(int(q.At/time.Minute), len(r.out.Minutes)-1)
			if began[v.Tag] {
				r.out.LostAnswers++
				r.out.Minutes[minute].Failed++
				r.book.failed(minute)
				continue
			}
			if len(r.members) > 0 {
				r.route(int32(v.Tag), q.At-1, at) // it came before
			}
		}
	}
}

// scale starts and stops replicas.
func (r *run) scale(at time.Duration) {
	s := r.Scaling
	load, have := 0, 0
	kept := r.members[:0]
	for _, m := range r.members {
		n := m.InFlight(at)
		if m.draining && n == 0 {
			r.add(m.Usage())
			continue
		}
		load += n
		if !m.draining {
			have++
		}
		kept = append(kept, m)
	}
	r.members = kept
	need := min(max(int(math.Ceil(float64(load)/s.InFlight)), s.Least), s.Most)
	r.wanted = append(r.wanted, want{at, need})
	for len(r.wanted) > 0 && r.wanted[0].at < at-s.Calm {
		r.wanted = r.wanted[1:]
	}
	for ; have < need; have++ {
		if r.start(at, at+s.ColdStart) != nil {
			return
		}
	}
	for _, w := range r.wanted {
		need = max(need, w.n)
	}
	for i := len(r.members) - 1; i >= 0 && have > need; i-- {
		if m := r.members[i]; !m.draining {
			m.draining = true
			have--
		}
	}
}

// finish waits for the last answers, and judges.
func (r *run) finish(length time.Duration) {
	const patience = time.Hour
	for _, m := range r.members {
		if !r.out.Ended {
			m.Until(length + patience)
		}
		r.add(m.Usage())
	}
	r.out.PaidHours = r.paid.Hours()
	r.out.Usage = r.usage
	r.out.Breaks = make([]int, len(r.Terms))
	with, held := 0, 0
	for k := range r.out.Minutes {
		m := &r.out.Minutes[k]
		if m.Arrived == 0 {
			continue
		}
		with++
		r.book.closeGaps(k)
		m.Broken, m.Values = r.book.judge(k, length+patience), r.book.values(k)
		good := true
		for i, b := range m.Broken {
			if b {
				good = false
				r.out.Breaks[i]++
			}
		}
		if good {
			held++
		}
	}
	if with > 0 {
		r.out.Held = float64(held) / float64(with)
	}
	if r.out.Ended { // the rest is not known
		r.out.Held = math.NaN()
	}
}

func (r *run) add(u sim.ReplicaUsage) {
	r.usage.Steps += u.Steps
	r.usage.Preemptions += u.Preemptions
	r.usage.SlotsFull += u.SlotsFull
	r.usage.CacheFull += u.CacheFull
	r.usage.StepFull += u.StepFull
	r.usage.PromptTokens += u.PromptTokens
	r.usage.CachedTokens += u.CachedTokens
}

// Gaps implements replica.Watcher.
func (r *run) Gaps(at, length time.Duration, tokens int) {
	r.book.gaps(int(at/time.Minute), length, tokens)
}

// Answered implements replica.Watcher.
func (r *run) Answered(v *sim.Visit) {
	came := r.arrivals[v.Tag].At
	r.book.answered(int(came/time.Minute), v.First-came)
}

// Ended implements replica.Watcher.
func (r *run) Ended(v *sim.Visit) {
	came := r.arrivals[v.Tag].At
	r.book.ended(int(came/time.Minute), v.Last-came, v.Last-v.First, v.Output)
	r.free = append(r.free, v)
}
