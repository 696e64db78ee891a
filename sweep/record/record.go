package record

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"iter"
	"math"
	mathrand "math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/client/note"
	"llmsweep/client/wire"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// KindRecorded is the kind of a stage of recorded traffic.
const KindRecorded = "recorded"

// Log is where a recording is written.
type Log interface {
	Append(*rundir.Record) error
	AppendTraffic(part int, all []rundir.Passed) error
	Records(stage string) iter.Seq2[*rundir.Record, error]
	Flush() error
	Save(*rundir.Run) error
	Broken() <-chan struct{}
	Failure() error
}

// Options are the configuration of a [Recorder].
type Options struct {
	Address string        // host and port of the server
	TLS     *tls.Config   // nil for none
	Period  time.Duration // length of a stage of the run
	Share   float64       // of the sessions that are recorded, 0 to 1; all pass
	Most    int64         // bytes of records and traffic; after that, requests pass and are not recorded
	Part    int64         // bytes of traffic in a file; after that, another begins
	Linger  time.Duration // how long requests in flight may go on after the end
	SLO     []slo.Term

	Tolerance float64 // of drift, as in a sweep

	// Check has instants at the client's side: when a request arrived from it, and when parts of the answer were handed to it. The others, at the
	// server's side, are without the recorder's own delay.
	Check bool

	Watch Watcher // nil for none
}

// mostModels is how many names of models are counted: clients may send any.
const mostModels = 1000

// Counts are what passed.
type Counts struct {
	Requests int // recorded
	InFlight int
	Failed   int
	Left     int // not recorded: of sessions that were left out, or after Options.Most
	Other    int // requests for anything else than an answer of a model
	Unread   int // connections of which the rest was passed on and not understood
	Refused  int // connections that the server did not accept
	Tokens   int64
}

// Recorder passes connections to a server through, and records the requests on them. Its methods may be called from any goroutine.
type Recorder struct {
	Options
	run  *rundir.Run
	log  Log
	salt []byte // random, and kept nowhere: hashes cannot be compared with those of guessed texts

	began time.Time

	mu       sync.Mutex
	counts   Counts
	bytes    int64 // of records and traffic, about
	part     int   // of the traffic
	inPart   int64 // bytes of it, about
	sessions *sessions
	stage    *rundir.Stage // nil before the first request of a period
	traffic  []rundir.Passed
	clients  map[key]int // numbers from 1, by salted hashes
	models   map[string]int
	apis     map[string]int
	prompt   lengths
	output   lengths
	latest   latest
}

// begun is a recorded request that has begun.
type begun struct {
	asked
	stage   string
	epoch   time.Time // the start of the stage
	session session
	client  int
}

// New returns a recorder that fills in run and writes to log.
func New(o Options, run *rundir.Run, log Log) *Recorder {
	salt := make([]byte, 32)
	rand.Read(salt)
	return &Recorder{Options: o, run: run, log: log, salt: salt, sessions: newSessions(salt), clients: map[key]int{}, models: map[string]int{}, apis: map[string]int{}}
}

// Counts returns what has passed so far.
func (r *Recorder) Counts() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts
}

func (r *Recorder) count(change func(*Counts)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.counts)
}

// Serve passes connections on until ctx ends. Requests in flight may then go on for Options.Linger. It closes l, and returns the error of writing, if any.
func (r *Recorder) Serve(ctx context.Context, l net.Listener) error {
	wire.Listen(l)
	r.began = time.Now()
	r.run.Started, r.run.State = r.began, rundir.Running
	if err := r.log.Save(r.run); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	cut, breakOff := context.WithCancel(context.Background())
	defer breakOff()
	var open sync.WaitGroup
	open.Go(func() { r.write(ctx) })
	for {
		c, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				break
			}
			time.Sleep(10 * time.Millisecond) // out of descriptors, say: connections end, and then there are some
			continue
		}
		open.Go(func() { r.accept(cut, c.(*net.TCPConn)) })
	}
	r.linger(breakOff)
	open.Wait()
	return r.finish()
}

// linger waits until no request is in flight, or for Options.Linger, and breaks off what is left.
func (r *Recorder) linger(breakOff func()) {
	const step = 20 * time.Millisecond
	for end := time.Now().Add(r.Linger); time.Now().Before(end) && r.Counts().InFlight > 0; {
		time.Sleep(step)
	}
	breakOff()
}

// accept passes a connection on and reads what passes.
func (r *Recorder) accept(ctx context.Context, c *net.TCPConn) {
	near := wire.Accepted(c)
	far, err := wire.DialStamped(ctx, r.Address, r.TLS)
	if err != nil { // as the server's own refusal looks like
		r.count(func(c *Counts) { c.Refused++ })
		near.Reset()
		near.Close()
		return
	}
	passed := &connection{asTheClient: r.Check, near: near, far: far, up: newPipe(), down: newPipe()}
	read := &reader{Recorder: r, connection: passed, observers: map[string]*client.Observer{}}
	var both sync.WaitGroup
	both.Go(read.read)
	passed.pass(ctx)
	both.Wait()
}

// begin notes a request that was sent.
func (r *Recorder) begin(a asked, from key, sent time.Time) *begun {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sessions.of(&a, func() bool { return r.Share >= 1 || mathrand.Float64() < r.Share })
	s.kept = s.kept && r.bytes < r.Most
	r.counts.InFlight++
	b := &begun{asked: a, session: s, client: r.client(from)}
	b.messages, b.head = nil, nil
	st := r.current(sent)
	b.stage, b.epoch = st.Name, r.began.Add(rundir.Duration(st.Started))
	return b
}

// current returns the stage of an instant. The first one begins with the recording, and each lasts for a period.
func (r *Recorder) current(at time.Time) *rundir.Stage {
	if r.stage != nil && at.Before(r.began.Add(rundir.Duration(r.stage.Started)+r.Period)) {
		return r.stage
	}
	started := max(at.Sub(r.began), 0).Truncate(r.Period)
	r.run.Stages = append(r.run.Stages, rundir.Stage{
		Name: KindRecorded + "@" + r.began.Add(started).UTC().Format("01-02T15:04:05"), Kind: KindRecorded, Role: rundir.Single, State: rundir.Running,
		Started: started.Seconds(), Whole: true,
	})
	r.stage = &r.run.Stages[len(r.run.Stages)-1]
	r.latest = latest{stage: r.stage.Name, begun: r.began.Add(started), errors: map[string]int{}, tokens: r.latest.tokens}
	return r.stage
}

// ended writes the record of a request.
func (r *Recorder) ended(b *begun, res *client.Result, d api.Dialect) {
	record := recordOf(b, res)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts.InFlight--
	if !b.session.kept {
		r.counts.Left++
		return
	}
	r.counts.Requests++
	r.latest.add(b.stage, res)
	if res.Status == client.StatusError {
		r.counts.Failed++
	}
	r.bytes += int64(len(record.AppendJSON(nil)))
	r.apis[d.Name()]++
	if _, known := r.models[b.model]; known || len(r.models) < mostModels {
		r.models[b.model]++
	}
	if r.log.Append(record) != nil {
		return // Serve ends with the error
	}
	if record.PromptTokens.Known() {
		r.prompt.add(record.PromptTokens.Value())
	}
	if record.OK() && record.OutputTokens.Known() {
		r.counts.Tokens += int64(record.OutputTokens.Value())
		r.output.add(record.OutputTokens.Value())
		r.bytes += trafficBytes(b.blocks)
		r.traffic = append(r.traffic, rundir.Passed{
			Timestamp: b.epoch.Add(res.Sent).Sub(r.began).Milliseconds(), Input: int(record.PromptTokens.Or(float64(len(b.blocks) * blockBytes / 4))),
			Output: int(record.OutputTokens.Value()), Duration: (res.End - res.Sent).Milliseconds(), Hashes: b.blocks, Session: b.session.id, Client: b.client,
		})
	}
}

// write hands what waits to the disk, now and then.
func (r *Recorder) write(ctx context.Context) {
	const every = time.Second
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			r.writeTraffic()
			r.watch()
			r.closePeriods(time.Now())
		}
	}
}

// trafficBytes returns the bytes of a line of traffic with such hashes, about.
func trafficBytes(hashes []int64) int64 {
	const line, hash = 100, 17
	return line + hash*int64(len(hashes))
}

// writeTraffic writes what waits. Only one goroutine at a time calls it.
func (r *Recorder) writeTraffic() {
	r.mu.Lock()
	waiting := r.traffic
	r.traffic = nil
	r.mu.Unlock()
	if r.Part > 0 && r.inPart > r.Part {
		r.part, r.inPart = r.part+1, 0
	}
	for i := range waiting {
		r.inPart += trafficBytes(waiting[i].Hashes)
	}
	slices.SortStableFunc(waiting, func(a, b rundir.Passed) int { return int(a.Timestamp - b.Timestamp) })
	r.log.AppendTraffic(r.part, waiting) // its error is the directory's
}

// closePeriods sums up the stages that were over for a while at the given instant. Requests that are still in flight come too late for its row; they are
// in it when the recording ends.
func (r *Recorder) closePeriods(now time.Time) {
	r.mu.Lock()
	var over []*rundir.Stage
	for i := range r.run.Stages {
		st := &r.run.Stages[i]
		if st.State == rundir.Running && now.After(r.began.Add(rundir.Duration(st.Started)+r.Period+r.Linger)) {
			copied := *st
			over = append(over, &copied)
		}
	}
	r.mu.Unlock()
	if len(over) == 0 || r.sum(over) != nil || r.Watch == nil {
		return
	}
	for _, st := range over {
		r.Watch.StageEnds(st)
	}
}

// finish sums up all stages and saves the run.
func (r *Recorder) finish() error {
	r.writeTraffic()
	var all []*rundir.Stage
	for i := range r.run.Stages {
		copied := r.run.Stages[i]
		all = append(all, &copied)
	}
	err := r.sum(all)
	r.run.State, r.run.Ended = rundir.Complete, time.Now()
	r.run.Warnings = r.warnings()
	return errors.Join(err, r.log.Failure(), r.log.Save(r.run))
}

// sum sums up stages from their records, and saves the run.
func (r *Recorder) sum(stages []*rundir.Stage) error {
	if err := r.log.Flush(); err != nil {
		return err
	}
	for _, st := range stages {
		*st = rundir.Stage{Name: st.Name, Kind: st.Kind, Role: st.Role, Started: st.Started, Whole: true, State: rundir.Complete}
		st.Rate = r.rateIn(st)
		if _, err := measure.Replay([]*rundir.Stage{st}, r.Tolerance, false, r.SLO, r.log.Records(st.Name)); err != nil {
			return err
		}
		st.Ended = st.Started + st.Elapsed
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, st := range stages {
		i := slices.IndexFunc(r.run.Stages, func(old rundir.Stage) bool { return old.Name == st.Name })
		r.run.Stages[i] = *st
	}
	r.describe()
	return r.log.Save(r.run)
}

// rateIn returns the requests per second of a stage, over its period or the part of it that has passed.
func (r *Recorder) rateIn(st *rundir.Stage) rundir.Number {
	n := 0
	for _, err := range r.log.Records(st.Name) {
		if err != nil {
			return rundir.Number{}
		}
		n++
	}
	length := min(r.Period, time.Since(r.began)-rundir.Duration(st.Started))
	return rundir.Exactly(float64(n) / length.Seconds())
}

// describe fills in what is known of server and workload.
func (r *Recorder) describe() {
	t := &r.run.Target
	t.Model, t.API = most(r.models), most(r.apis)
	r.run.Workload.PromptTokens, r.run.Workload.OutputTokens = r.prompt.lengths(), r.output.lengths()
}

// warnings tell what is not in the records.
func (r *Recorder) warnings() (all []note.Note) {
	c := r.Counts()
	if c.Left > 0 {
		all = append(all, noteLeft.New(c.Left, c.Requests+c.Left))
	}
	if c.Unread > 0 {
		all = append(all, noteUnread.New(c.Unread))
	}
	if c.Refused > 0 {
		all = append(all, noteRefused.New(c.Refused))
	}
	return all
}

var (
	noteLeft    = note.Kind{Code: "record.left", Args: []string{"count", "of"}}
	noteUnread  = note.Kind{Code: "record.unread", Args: []string{"count"}}
	noteRefused = note.Kind{Code: "record.refused", Args: []string{"count"}}
)

// most returns the name that was counted most often; of several, the first by the alphabet.
func most(counted map[string]int) (name string) {
	for n, k := range counted {
		if k > counted[name] || k == counted[name] && n < name {
			name = n
		}
	}
	return name
}

// lengths sums up lengths in tokens.
type lengths struct {
	n, sum, squares float64
	min, max        float64
}

func (l *lengths) add(tokens float64) {
	if l.n == 0 || tokens < l.min {
		l.min = tokens
	}
	l.n, l.sum, l.squares, l.max = l.n+1, l.sum+tokens, l.squares+tokens*tokens, max(l.max, tokens)
}

func (l *lengths) lengths() rundir.Lengths {
	if l.n == 0 {
		return rundir.Lengths{}
	}
	mean := l.sum / l.n
	return rundir.Lengths{Mean: mean, Std: math.Sqrt(max(0, l.squares/l.n-mean*mean)), Min: int(l.min), Max: int(l.max)}
}
