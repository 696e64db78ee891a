package main

import (
	"encoding/json"
	"errors"
	"fmt"
	loads "llmsweep/sweep/load"
	"net/http"
	"strconv"
	"strings"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/sweep"
	"llmsweep/sweep/rundir"
)

// targetFlags say which server, and how to speak to it.
type targetFlags struct {
	API         string        `name:"api" default:"auto" enum:"auto,chat,completions,sglang,lmdeploy,llamacpp,ollama,ollama-generate,tgi,triton,triton-vllm" placeholder:"NAME" help:"How to speak to the server: auto finds out; chat and completions are OpenAI's; the engines' own: sglang, lmdeploy, llamacpp, ollama (/api/chat), ollama-generate, tgi, triton, triton-vllm." group:"Target"`
	Model       string        `placeholder:"NAME" help:"Model to ask for. Default: the first that the server lists." group:"Target"`
	APIKey      string        `name:"api-key" env:"LLMSWEEP_API_KEY,OPENAI_API_KEY" placeholder:"KEY" help:"Sent as a bearer token, and never written anywhere." group:"Target"`
	Header      []string      `sep:"none" placeholder:"K:V" help:"Extra request header; may be repeated." group:"Target"`
	Body        string        `placeholder:"JSON" help:"An object merged into each request body; a null removes a field." group:"Target"`
	Think       bool          `xor:"think" help:"Ask for thinking." group:"Target"`
	NoThink     bool          `name:"no-think" xor:"think" help:"Ask for no thinking." group:"Target"`
	Temperature *float64      `placeholder:"T" help:"Sampling temperature. Default: the server's." group:"Target"`
	Timeout     time.Duration `default:"10m" help:"Time limit of one request." group:"Target"`
	Insecure    bool          `help:"Do not verify the server's TLS certificate." group:"Target"`
	MaxRPS      float64       `name:"max-rps" placeholder:"N" help:"Send no more requests per second than a hosted API allows." group:"Target"`
	MaxTPM      float64       `name:"max-tpm" placeholder:"N" help:"Send no more tokens per minute, prompts and answers together." group:"Target"`
	CA          string        `name:"ca" type:"path" placeholder:"FILE" help:"Trust the certificates in this PEM file." group:"Target"`
}

// options are what the client needs of them.
func (t *targetFlags) options(url string, conns int) (client.Options, error) {
	o := client.Options{
		URL: url, API: t.API, APIKey: t.APIKey, Timeout: t.Timeout, Insecure: t.Insecure, CAFile: t.CA, MaxConns: conns,
		Headers: http.Header{},
		Params:  api.Params{Model: t.Model, Temperature: t.Temperature, Fields: api.AllFields},
	}
	if t.MaxRPS < 0 || t.MaxTPM < 0 {
		return o, errors.New("--max-rps and --max-tpm must not be negative")
	}
	if t.Timeout <= 0 {
		return o, errors.New("--timeout must be above 0")
	}
	if t.Think || t.NoThink {
		o.Params.Think = &t.Think
	}
	if t.Body != "" {
		var object map[string]any
		if err := json.Unmarshal([]byte(t.Body), &object); err != nil || object == nil {
			return o, fmt.Errorf("--body is no JSON object: %.60s", t.Body)
		}
		o.Params.Extra = []byte(t.Body)
	}
	for _, h := range t.Header {
		key, value, ok := strings.Cut(h, ":")
		if key = strings.TrimSpace(key); !ok || key == "" || strings.ContainsAny(key, " \t\r\n") {
			return o, errors.New("--header takes Name:Value") // the value may be a secret: it is not repeated
		}
		o.Headers.Add(key, strings.TrimSpace(value))
	}
	return o, nil
}

// caps are what --max-rps and --max-tpm ask for; nil for nothing.
func (t *targetFlags) caps() *loads.Caps {
	if t.MaxRPS <= 0 && t.MaxTPM <= 0 {
		return nil
	}
	return loads.NewCaps(t.MaxRPS, t.MaxTPM)
}

// planFlags say how the sweep goes.
type planFlags struct {
	Points         int           `default:"9" help:"Arrival rates between one at a time and as many as it takes." group:"Sweep"`
	Repeats        int           `default:"1" help:"Measure each rate so many times, all in shuffled order, and report the spread between runs." group:"Sweep"`
	StageTime      time.Duration `name:"stage-time" default:"1m" help:"Each stage measures at least this long, and up to three times as long while it is undecided." group:"Sweep"`
	StageRequests  int           `name:"stage-requests" default:"50" help:"Requests that a stage measures at least, within its time." group:"Sweep"`
	MaxConcurrency int           `name:"max-concurrency" default:"512" help:"Most in flight when the ceiling is searched for." group:"Sweep"`
	Precision      string        `default:"5%" placeholder:"SHARE" help:"Add stages until the saturation rate, and that at which the SLO ends, are known to this share on either side; 0 adds none." group:"Sweep"`
	Adaptive       bool          `help:"No even grid: spend stages only where they narrow the answer, and at 80 and 90 % of it." group:"Sweep"`
	Budget         time.Duration `placeholder:"TIME" help:"Time for the whole sweep: it sets how long stages are, and how many, and says what that can decide." group:"Sweep"`
	Warmup         string        `default:"auto" help:"Before the first stage: auto until requests agree, a number of requests, or a time." group:"Sweep"`
	Drain          time.Duration `default:"1m" help:"How long a backlog may take to end between stages before it is cancelled." group:"Sweep"`
	MaxErrorRate   float64       `name:"max-error-rate" default:"0.5" help:"A stage ends early when more than this share of its requests fails." group:"Sweep"`
}

// config fills in the sweep's plan.
func (p *planFlags) config(seed uint64) (sweep.Config, error) {
	c := sweep.Defaults()
	c.Points, c.StageTime, c.StageMax, c.StageRequests = p.Points, p.StageTime, 3*p.StageTime, p.StageRequests
	c.Repeats, c.Adaptive, c.Budget = p.Repeats, p.Adaptive, p.Budget
	c.MaxConcurrency, c.Drain, c.MaxErrorRate, c.Seed = p.MaxConcurrency, p.Drain, p.MaxErrorRate, seed
	var err error
	if c.Warmup, err = sweep.ParseWarmup(p.Warmup); err != nil {
		return c, fmt.Errorf("--warmup: %w", err)
	}
	if c.Precision, err = share(p.Precision); err != nil {
		return c, fmt.Errorf("--precision: %w", err)
	}
	switch {
	case p.Budget < 0 || p.Budget > 0 && p.Budget < leastBudget:
		return c, fmt.Errorf("--budget must be at least %v: a shorter sweep decides nothing", leastBudget)
	case p.Points < 1 || p.Points > 1000:
		return c, errors.New("--points must be between 1 and 1000")
	case p.Repeats < 1 || p.Repeats > mostRepeats:
		return c, errRepeats
	case p.Adaptive && p.Repeats > 1:
		return c, errors.New("--adaptive has no grid to repeat: leave out --repeats or --adaptive")
	case p.StageTime < 100*time.Millisecond:
		return c, errors.New("--stage-time must be at least 100ms")
	case p.StageRequests < 1:
		return c, errors.New("--stage-requests must be at least 1")
	case p.MaxConcurrency < 1 || p.MaxConcurrency > 100_000:
		return c, errors.New("--max-concurrency must be between 1 and 100000")
	case p.Drain < 0:
		return c, errors.New("--drain must not be negative")
	case !(p.MaxErrorRate >= 0 && p.MaxErrorRate <= 1):
		return c, errors.New("--max-error-rate is a share between 0 and 1")
	}
	return c, nil
}

// leastBudget is the shortest time in which a fast server's limits can be told.
const leastBudget = 10 * time.Second

// mostRepeats is more than anybody has the time for.
const mostRepeats = 100

var errRepeats = fmt.Errorf("--repeats must be between 1 and %d", mostRepeats)

// share reads "5%" or 0.05.
func share(s string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v >= 0 && v < 1) {
		return 0, fmt.Errorf("%q is no share: 5%% or 0.05", s)
	}
	return v, nil
}

// sloFlags say what is promised.
type sloFlags struct {
	SLO []string `name:"slo" sep:"none" placeholder:"TERM" help:"What must hold: ttft|ttft_due|itl|tpot|latency:mean|p50|p90|p95|p99<DURATION, or errors<1%; may be repeated. Exit code 1 where it does not, or where there are too few requests to tell." group:"Load"`
}

// outFlags say where the results go.
type outFlags struct {
	Label []string `sep:"," placeholder:"K=V" help:"What the figures belong to: model=..,gpu=..,gpus=..,engine=..,quant=..,price=.. (price: per GPU-hour)." group:"Output"`
	Out   string   `type:"path" placeholder:"DIR" help:"Run directory. Default: llmsweep-run, or the next free llmsweep-run-N." group:"Output"`
	Lang  string   `default:"en" enum:"en,zh" help:"Language of the report: en, zh." group:"Output"`
	Plain bool     `help:"Plain lines: no redrawing, no colour." group:"Output"`
}

func (o *outFlags) labels() (rundir.Labels, error) {
	var l rundir.Labels
	for _, label := range o.Label {
		key, value, ok := strings.Cut(label, "=")
		if !ok {
			return l, fmt.Errorf("--label takes key=value, and %q is none", label)
		}
		var err error
		switch strings.TrimSpace(key) {
		case "model":
			l.Model = value
		case "gpu":
			l.GPU = value
		case "gpus":
			if l.GPUs, err = strconv.Atoi(value); err != nil || l.GPUs < 1 {
				return l, fmt.Errorf("--label gpus=%s: not a number of GPUs", value)
			}
		case "engine":
			l.Engine = value
		case "quant":
			l.Quant = value
		case "price":
			if l.Price, err = strconv.ParseFloat(value, 64); err != nil || !(l.Price >= 0) || l.Price > 1e9 {
				return l, fmt.Errorf("--label price=%s: not a price per GPU-hour", value)
			}
		default:
			return l, fmt.Errorf("--label knows no %q: there are model, gpu, gpus, engine, quant, price", key)
		}
	}
	return l, nil
}
