// Package flags holds the groups of flags that several commands share. Each turns what was given into the options of
// the package that does the work. A command embeds the groups that it takes.
package flags

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/report/findings"
	"llmsweep/sweep"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
)

// Target holds the flags of which server to measure, and how to speak to it.
type Target struct {
	Model           string               `placeholder:"NAME" help:"Model to ask for (the first that the server lists)." group:"Server"`
	API             string               `name:"api" default:"auto" enum:"auto,${apis}" placeholder:"NAME" help:"${apis_text} (${default})." group:"Server"`
	APIKey          string               `name:"api-key" env:"LLMSWEEP_API_KEY,OPENAI_API_KEY" placeholder:"KEY" help:"API key, written to no file ($$LLMSWEEP_API_KEY)." group:"Server"`
	Header          []string             `sep:"none" placeholder:"K:V" help:"HTTP header of each request; may be repeated." hidden:"" group:"Server"`
	Body            string               `placeholder:"JSON" help:"JSON object to merge into each request; null removes a field." hidden:"" group:"Server"`
	Think           bool                 `xor:"think" help:"Ask the model to think before it answers." hidden:"" group:"Server"`
	NoThink         bool                 `name:"no-think" xor:"think" help:"Ask the model not to think." hidden:"" group:"Server"`
	Temperature     *float64             `placeholder:"T" help:"Sampling temperature (the server's)." hidden:"" group:"Server"`
	Timeout         time.Duration        `default:"10m" placeholder:"TIME" positive:"" help:"Time limit of one request (${default})." hidden:"" group:"Server"`
	Insecure        bool                 `help:"Accept any TLS certificate." hidden:"" group:"Server"`
	CA              string               `name:"ca" type:"path" placeholder:"FILE" help:"Trust the TLS certificates in this PEM file, too." hidden:"" group:"Server"`
	Cert            string               `type:"path" placeholder:"FILE" help:"Certificate of this client (PEM), for servers that ask for one." hidden:"" group:"Server"`
	Key             string               `type:"path" placeholder:"FILE" help:"Key of --cert (PEM, without a password)." hidden:"" group:"Server"`
	HTTP            string               `name:"http" default:"auto" enum:"auto,1,2" placeholder:"VERSION" help:"Version of HTTP: auto, 1 or 2 (${default}: 2 only where the server speaks nothing else)." hidden:"" group:"Server"`
	ResetCache      bool                 `name:"reset-cache" help:"Empty the prefix cache before each row (vLLM in development mode, SGLang)." hidden:"" group:"Server"`
	MaxRPS          float64              `name:"max-rps" placeholder:"N" positive:"" help:"Send at most N requests per second (no limit)." hidden:"" group:"How long"`
	MaxTPM          float64              `name:"max-tpm" placeholder:"N" positive:"" help:"Send at most N tokens per minute (no limit)." hidden:"" group:"How long"`
	MaxCost         float64              `name:"max-cost" placeholder:"C" positive:"" help:"Most cost, by --price-in and --price-out (no limit)." group:"How long"`
	PriceIn         float64              `name:"price-in" placeholder:"P" positive:"" help:"Price of a million prompt tokens. The report then has the cost." hidden:"" group:"How long"`
	PriceOut        float64              `name:"price-out" placeholder:"P" positive:"" help:"Price of a million output tokens." hidden:"" group:"How long"`
	EarlierSpending client.Spent         `kong:"-"` // by the first part of a run that is continued
	Spending        *client.SpendLimiter `kong:"-"` // made with the options; both sides of a comparison share it
}

// Options returns the options of the client.
func (t *Target) Options(url string, conns int) (client.Options, error) {
	o := client.Options{
		URL: url, API: t.API, APIKey: t.APIKey, Timeout: t.Timeout, Insecure: t.Insecure, CAFile: t.CA, MaxConns: conns,
		CertFile: t.Cert, KeyFile: t.Key, HTTP: t.HTTP,
		Headers: http.Header{},
		Params:  api.Params{Model: t.Model, Temperature: t.Temperature, Fields: api.AllFields},
	}
	if t.Spending == nil {
		var err error
		if t.Spending, err = t.SpendLimiter(); err != nil {
			return o, err
		}
	}
	if t.Spending != nil {
		o.Allowance = t.Spending
	}
	if t.Think || t.NoThink {
		o.Params.Think = &t.Think
	}
	if t.Body != "" {
		var object map[string]any
		if err := json.Unmarshal([]byte(t.Body), &object); err != nil || object == nil {
			return o, fmt.Errorf("--body must be a JSON object, such as {\"top_p\": 0.9}, and is %.60s", t.Body)
		}
		o.Params.Extra = []byte(t.Body)
	}
	for _, h := range t.Header {
		key, value, ok := strings.Cut(h, ":")
		if key = strings.TrimSpace(key); !ok || key == "" || strings.ContainsAny(key, " \t\r\n") {
			return o, errors.New("--header must be Name:Value") // not repeated: it may hold a secret
		}
		o.Headers.Add(key, strings.TrimSpace(value))
	}
	return o, nil
}

// SpendLimiter returns what counts and limits the spending; nil where the flags ask for neither.
func (t *Target) SpendLimiter() (*client.SpendLimiter, error) {
	l := client.SpendLimits{Cost: t.MaxCost, PriceIn: t.PriceIn, PriceOut: t.PriceOut}
	switch {
	case l.Cost > 0 && l.PriceIn == 0 && l.PriceOut == 0:
		return nil, errors.New("--max-cost needs the prices of a million tokens: --price-in and --price-out")
	case l == client.SpendLimits{}:
		return nil, nil
	}
	limiter := client.NewSpendLimiter(l)
	limiter.Begin(t.EarlierSpending)
	return limiter, nil
}

// Caps returns the limits of --max-rps and --max-tpm, or nil where there is none.
func (t *Target) Caps() *load.Caps {
	if t.MaxRPS <= 0 && t.MaxTPM <= 0 {
		return nil
	}
	return load.NewCaps(t.MaxRPS, t.MaxTPM)
}

// Sweep holds the flags of how a sweep goes.
type Sweep struct {
	By             string        `default:"rate" enum:"rate,users" placeholder:"WHAT" help:"What grows: rate, or users with conversations (${default})." group:"What is found"`
	Points         int           `default:"7" placeholder:"N" help:"Rows between synchronous and throughput (${default})." group:"What is found"`
	Budget         time.Duration `placeholder:"TIME" help:"Time for all of it (no limit)." group:"How long"`
	Precision      string        `placeholder:"SHARE" help:"Prolong rows until means are this exact: 10% (no)." group:"How long"`
	MaxConcurrency int           `name:"max-concurrency" default:"512" placeholder:"N" help:"Most requests in flight, or users (${default})." group:"How long"`
	Repeats        int           `default:"1" placeholder:"N" help:"Measure N whole sweeps, into numbered directories of --out (${default})." hidden:"" group:"How long"`
	StageTime      time.Duration `name:"stage-time" default:"30s" placeholder:"TIME" help:"Shortest time of a row (${default}; 1m with --by users)." hidden:"" group:"How long"`
	StageRequests  int           `name:"stage-requests" default:"50" placeholder:"N" help:"Fewest requests of a row, within its time (${default})." hidden:"" group:"How long"`
	Rows
}

// Rows holds the flags of how rows begin and end.
type Rows struct {
	Warmup       string        `default:"auto" placeholder:"W" help:"Warm-up: auto (until requests agree), a number of requests, or a time (${default})." hidden:"" group:"How long"`
	Drain        time.Duration `default:"1m" placeholder:"TIME" help:"How long unfinished requests may go on after a row, before they are cancelled (${default})." hidden:"" group:"How long"`
	MaxErrorRate float64       `name:"max-error-rate" default:"0.5" placeholder:"SHARE" help:"End a row early when more than this share of its requests fails (${default})." hidden:"" group:"How long"`
}

// Configure sets what the flags say of rows.
func (r *Rows) Configure(c *sweep.Config) (err error) {
	c.Drain, c.MaxErrorRate = r.Drain, r.MaxErrorRate
	if c.Warmup, err = experiment.ParseWarmup(r.Warmup); err != nil {
		return fmt.Errorf("--warmup: %w", err)
	}
	switch {
	case r.Drain < 0:
		return errors.New("--drain must not be negative")
	case !(r.MaxErrorRate >= 0 && r.MaxErrorRate <= 1):
		return errors.New("--max-error-rate must be a share between 0 and 1")
	}
	return nil
}

// Config returns the configuration of the sweep.
func (p *Sweep) Config(seed uint64) (sweep.Config, error) {
	c := sweep.Defaults()
	c.Points, c.StageTime, c.StageMax, c.StageRequests = p.Points, p.StageTime, 6*p.StageTime, p.StageRequests
	if p.By == "users" && p.StageTime == sweep.Defaults().StageTime {
		c.StageTime, c.StageMax = sweep.UsersTime, 3*sweep.UsersTime
	}
	c.Budget, c.Users = p.Budget, p.By == "users"
	c.MaxConcurrency, c.Seed = p.MaxConcurrency, seed
	switch {
	case p.Budget < 0 || p.Budget > 0 && p.Budget < LeastBudget:
		return c, fmt.Errorf("--budget must be at least %v; a shorter sweep cannot decide anything", LeastBudget)
	case p.Precision != "" && c.Users:
		return c, errors.New("--precision is of rows at arrival rates, which --by users has none of")
	case p.Points < 1 || p.Points > 1000:
		return c, errors.New("--points must be between 1 and 1000")
	case p.Repeats < 1 || p.Repeats > MostRepeats:
		return c, ErrRepeats
	case p.StageTime < 100*time.Millisecond:
		return c, errors.New("--stage-time must be at least 100ms")
	case p.StageRequests < 1:
		return c, errors.New("--stage-requests must be at least 1")
	case p.MaxConcurrency < 1 || p.MaxConcurrency > MostInFlight:
		return c, fmt.Errorf("--max-concurrency must be between 1 and %d", MostInFlight)
	}
	var err error
	if c.Precision, err = parsePrecision(p.Precision); err != nil {
		return c, err
	}
	return c, p.Rows.Configure(&c)
}

// parsePrecision reads a share in per cent; 0 for none.
func parsePrecision(text string) (float64, error) {
	const least, most = 0.5, 50
	if text == "" {
		return 0, nil
	}
	digits, percent := strings.CutSuffix(text, "%")
	share, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if !percent || err != nil || !(share >= least && share <= most) {
		return 0, fmt.Errorf("--precision must be between 0.5%% and 50%%, such as 10%%, and is %.20q", text)
	}
	return share / 100, nil
}

// LeastBudget is the shortest time in which the limits of a fast server can be found.
const LeastBudget = 10 * time.Second

// MostRepeats is the largest number of repetitions; it catches slips of the finger.
const MostRepeats = 100

// MostRate is the highest arrival rate in requests per second that the flags take: far above what one client can send.
const (
	MostRate     = 1e6
	MostRateText = "1000000"
)

// MostInFlight is the largest number of requests in flight that the flags take: above it one client runs out of ports.
const MostInFlight = 100_000

// ErrRepeats is the error of a --repeats out of range.
var ErrRepeats = fmt.Errorf("--repeats must be between 1 and %d", MostRepeats)

// Objectives holds the flags of service level objectives.
type Objectives struct {
	SLO []string `name:"slo" sep:"none" placeholder:"TERM" help:"Objective, such as 'ttft:p99<500ms'; may be repeated." group:"What is found"`
}

// Percentiles holds the flag of which percentiles people see.
type Percentiles struct {
	Names Names `name:"percentiles" placeholder:"N,N" help:"Percentiles to show, such as 50,95." group:"Result"`
}

// Names are names of percentiles: "p90".
type Names []string

// UnmarshalText reads percentiles as people write them, such as 50,95 or p99.9.
func (n *Names) UnmarshalText(text []byte) (err error) {
	*n, err = findings.ParsePercentiles(strings.Split(string(text), ","))
	return err
}

// Results holds the flags of where the results of a measurement go.
type Results struct {
	Percentiles
	Out   string   `type:"path" placeholder:"DIR" help:"Run directory (llmsweep-run, or the next free number)." group:"Result"`
	Label []string `sep:"," placeholder:"K=V" help:"model=..,gpu=..,gpus=..,engine=..,quant=..,price=.." group:"Result"`
	Lang  string   `default:"en" enum:"en,zh" placeholder:"en|zh" help:"Language (that of LANG)." group:"Result"`
	Force bool     `help:"Overwrite what --out already holds." hidden:"" group:"Result"`
	Plain bool     `help:"Print plain lines, without colour or redrawing." hidden:"" group:"Result"`
	Serving
}
