package habit

import (
	"errors"
	"math"
	"strconv"
)

// busy is how many requests a server has at least when it is under load, where a habit does not say.
const busy = 2

// checkShare returns an error unless a share is above 0 and at most 1.
func checkShare(share float64) error {
	if !(share > 0 && share <= 1) {
		return errors.New("the share must be above 0 and at most 1 (1%: one answer in a hundred)")
	}
	return nil
}

// Ties has a share of the answers that begin under load take the second most likely token where two are nearly as likely, as kernels do
// whose sums depend on the batch. The rest of the answer is another one.
type Ties struct {
	Share float64
	From  int // requests in the server, this one included
}

func (Ties) Name() string     { return "ties" }
func (t Ties) String() string { return underLoad("ties", t.Share, t.From) }

func (t Ties) Validate() error { return validLoad(t.Share, t.From) }

func tiesKind() Kind {
	return Kind{
		Name: "ties", Form: "ties:SHARE[,from=N]", Example: "ties:5%",
		About:    "while N requests (2) are in the server, SHARE of the answers take the second of two tokens that are nearly as likely, and go on otherwise",
		standard: "5%", keys: []string{"share", "from"}, places: 1,
		build: func(p *params) Habit { return Ties{p.number("share", 0.05), p.integer("from", busy)} },
	}
}

// Confuses has a share of the answers that begin under load go on as the answer to another prompt, as a broken cache does.
type Confuses struct {
	Share float64
	From  int // requests in the server, this one included
}

func (Confuses) Name() string     { return "confuses" }
func (c Confuses) String() string { return underLoad("confuses", c.Share, c.From) }

func (c Confuses) Validate() error { return validLoad(c.Share, c.From) }

func confusesKind() Kind {
	return Kind{
		Name: "confuses", Form: "confuses:SHARE[,from=N]", Example: "confuses:1%",
		About:    "while N requests (2) are in the server, SHARE of the answers go on as the answer to another prompt, as with a broken cache",
		standard: "1%", keys: []string{"share", "from"}, places: 1,
		build: func(p *params) Habit { return Confuses{p.number("share", 0.01), p.integer("from", busy)} },
	}
}

// Rounds has the log-probabilities of all answers off at random, and a share of the prompts answered otherwise, each time in the same way,
// as a quantized model does.
type Rounds struct {
	Share float64
	Shift float64 // standard deviation of the log-probabilities, in nats
}

func (Rounds) Name() string { return "rounds" }

func (r Rounds) String() string {
	return new(text).name("rounds", number(r.Share)).with("shift", number(r.Shift), number(roundsShift)).String()
}

func (r Rounds) Validate() error {
	if math.IsNaN(r.Shift) || r.Shift < 0 || r.Shift > 5 {
		return errors.New("shift must be between 0 and 5 nats")
	}
	return checkShare(r.Share)
}

// roundsShift is the shift where none is given.
const roundsShift = 0.05

func roundsKind() Kind {
	return Kind{
		Name: "rounds", Form: "rounds:SHARE[,shift=NATS]", Example: "rounds:20%,shift=0.1",
		About:    "answers SHARE of the prompts otherwise, each time in the same way, and shifts all log-probabilities by NATS (0.05), as a quantized model does",
		standard: "20%", keys: []string{"share", "shift"}, places: 1,
		build: func(p *params) Habit { return Rounds{p.number("share", 0.2), p.number("shift", roundsShift)} },
	}
}

// Samples has a share of the answers drawn at random, also where the most likely one or a seed is asked for.
type Samples struct{ Share float64 }

func (Samples) Name() string     { return "samples" }
func (s Samples) String() string { return new(text).name("samples", number(s.Share)).String() }

func (s Samples) Validate() error { return checkShare(s.Share) }

func samplesKind() Kind {
	return Kind{
		Name: "samples", Form: "samples:SHARE", Example: "samples:30%",
		About:    "draws SHARE of the answers at random, whatever temperature and seed are asked for",
		standard: "30%", keys: []string{"share"}, places: 1,
		build: func(p *params) Habit { return Samples{p.number("share", 0.3)} },
	}
}

// Errs has sums answered wrongly: a share of them each time, and a share of the answers that begin under load.
type Errs struct {
	Share float64 // of the sums
	Load  float64 // of the answers under load
	From  int     // requests in the server, this one included
}

func (Errs) Name() string { return "errs" }

func (e Errs) String() string {
	return new(text).name("errs", number(e.Share)).with("load", number(e.Load), "0").with("from", strconv.Itoa(e.From), strconv.Itoa(busy)).String()
}

func (e Errs) Validate() error {
	if !(e.Share >= 0 && e.Share <= 1 && e.Load >= 0 && e.Load <= 1) {
		return errors.New("a share must be between 0 and 1 (10%: one answer in ten)")
	}
	if e.From < 1 {
		return errors.New("from must be at least 1 request")
	}
	return nil
}

func errsKind() Kind {
	return Kind{
		Name: "errs", Form: "errs:SHARE[,LOAD][,from=N]", Example: "errs:20%,5%",
		About:    "answers SHARE of all sums wrongly (\"What is 12 + 30?\"; other servers of this kind answer them rightly), each time in the same way, and while N requests (2) are in the server, LOAD of the answers (0) wrongly too",
		standard: "20%", keys: []string{"share", "load", "from"}, places: 2,
		build: func(p *params) Habit {
			return Errs{p.number("share", 0.2), p.number("load", 0), p.integer("from", busy)}
		},
	}
}

// underLoad writes a habit that shows while a number of requests is in the server.
func underLoad(name string, share float64, from int) string {
	return new(text).name(name, number(share)).with("from", strconv.Itoa(from), strconv.Itoa(busy)).String()
}

func validLoad(share float64, from int) error {
	if from < 1 {
		return errors.New("from must be at least 1 request")
	}
	return checkShare(share)
}
