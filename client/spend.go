package client

import (
	"math"
	"math/bits"
	"net/http"
	"sync"

	"github.com/tidwall/gjson"

	"llmsweep/client/api"
)

// SpendLimits are what may be spent, and the prices.
type SpendLimits struct {
	Cost     float64 // in the unit of the prices; 0 for no limit
	PriceIn  float64 // of a million prompt tokens
	PriceOut float64 // of a million output tokens
}

// tokensPerPrice is how many tokens a price is for.
const tokensPerPrice = 1e6

// Price returns what tokens cost.
func (l *SpendLimits) Price(prompt, output int64) float64 {
	return (float64(prompt)*l.PriceIn + float64(output)*l.PriceOut) / tokensPerPrice
}

// Share returns the share of the limit that tokens use; 0 without a limit.
func (l *SpendLimits) Share(prompt, output int64) float64 {
	if l.Cost == 0 {
		return 0
	}
	return l.Price(prompt, output) / l.Cost
}

// Spent is what was spent.
type Spent struct {
	Requests       int   // that may have cost something
	Prompt, Output int64 // tokens that the server counted
	// UnsurePrompt and UnsureOutput are upper bounds for requests whose tokens the server did not count: those that
	// were cancelled or failed in mid-stream.
	UnsurePrompt, UnsureOutput int64
	Cost                       float64
	Refused                    bool // a request was not sent, because less was left than it can cost
}

// SpendLimiter holds requests within limits. It is safe for concurrent use. The sum of what was spent and what is
// reserved never exceeds a limit, as long as prompts have no more tokens than their bound, but for one outlier at a
// time, and the server sends no more than it was asked for.
type SpendLimiter struct {
	limits  SpendLimits
	earlier Spent // before the limiter was made, and by other processes; see [SpendLimiter.Begin] and [SpendLimiter.Book]

	mu         sync.Mutex
	limit      float64 // that may be spent now: the limit, or less; see [SpendLimiter.Grant]
	spent      Spent
	reserved   struct{ prompt, output int64 }
	allPrompts promptClass
	byLength   map[int]*promptClass // by the length of the body: of each the next one's are twice as long
	minPrompt  int64                // tokens that the server counted for a prompt: its chat template has no more
	outlier    int64                // the most that one prompt can exceed its reservation by
}

// promptClass is a class of prompts that the server counted.
type promptClass struct {
	counted  int
	perByte  float64 // the largest number of prompt tokens for a byte of a body
	minBytes int     // bytes of a body
}

// add adds a prompt.
func (c *promptClass) add(tokens, bytes int) {
	if c.counted++; c.counted == 1 {
		c.minBytes = bytes
	}
	c.minBytes = min(c.minBytes, bytes)
	c.perByte = max(c.perByte, float64(tokens)/float64(max(1, bytes)))
}

// NewSpendLimiter returns a limiter.
func NewSpendLimiter(l SpendLimits) *SpendLimiter {
	return &SpendLimiter{limits: l, limit: l.Cost, byLength: map[int]*promptClass{}}
}

// Begin sets what was spent before, by an earlier part of the run; it counts towards the limits.
func (p *SpendLimiter) Begin(earlier Spent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.earlier = earlier
	p.earlier.Refused = false
}

// Spent returns what was spent so far. Requests in flight are not in it.
func (p *SpendLimiter) Spent() Spent {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.spent.Plus(p.earlier)
}

// Limits returns the limits.
func (p *SpendLimiter) Limits() SpendLimits { return p.limits }

// Bounds of a prompt's tokens. A tokenizer makes at most one token of a byte, and a chat template adds some more. Once
// the server has counted a few prompts, the bound is what it counted for a byte, with a margin. Once it has counted
// many of a length, the margin is small, and what it counted for a byte has the template in it. One outlier, which may
// be any request in flight, is provided for.
const (
	templateTokens = 256
	fewCounted     = 3
	margin         = 1.5
	manyCounted    = 20 // above the largest of 20 is one prompt in 21
	smallMargin    = 1.1
)

// unknownOutput is how many output tokens a request is reckoned with that leaves the length to the server.
const unknownOutput = 32768

// reservation is one request's.
type reservation struct {
	limiter        *SpendLimiter
	bytes          int
	prompt, output int64
}

// Reserve implements [Allowance].
func (p *SpendLimiter) Reserve(call *Prepared) Reservation {
	r := &reservation{limiter: p, bytes: bodySize(call), output: outputBound(call)}
	p.mu.Lock()
	defer p.mu.Unlock()
	r.prompt = p.promptBound(r.bytes)
	outlier := max(p.outlier, p.looseBound(r.bytes)-r.prompt)
	prompt := p.spent.Prompt + p.spent.UnsurePrompt + p.reserved.prompt + r.prompt + outlier
	output := p.spent.Output + p.spent.UnsureOutput + p.reserved.output + r.output
	if p.limit > 0 && p.earlier.Cost+p.limits.Price(prompt, output) > p.limit {
		p.spent.Refused = true
		return nil
	}
	p.outlier = outlier
	p.reserved.prompt += r.prompt
	p.reserved.output += r.output
	return r
}

// promptBound returns the most tokens that the prompt in a body has, as far as the prompts so far tell.
func (p *SpendLimiter) promptBound(bytes int) int64 {
	loose, c := p.looseBound(bytes), p.byLength[bits.Len(uint(bytes))]
	if c == nil || c.counted < manyCounted {
		c = &p.allPrompts
	}
	if c.counted < manyCounted {
		return loose
	}
	tokens := int64(math.Ceil(float64(bytes) * min(1, smallMargin*c.perByte)))
	if bytes < c.minBytes {
		tokens += p.minPrompt // the template's share of a shorter body is larger
	}
	return min(loose, tokens)
}

// looseBound returns the most tokens that the prompt in a body can have, if it is unlike the prompts so far.
func (p *SpendLimiter) looseBound(bytes int) int64 {
	perByte := 1.0
	if p.allPrompts.counted >= fewCounted {
		perByte = min(1, margin*p.allPrompts.perByte)
	}
	return int64(math.Ceil(float64(bytes)*perByte)) + templateTokens
}

// bodySize returns the bytes of a request that can become tokens: its body, since escapes never make a text shorter.
func bodySize(call *Prepared) int {
	if call.Body != nil {
		return len(call.Body)
	}
	n := 0
	for _, m := range call.Request.Messages {
		n += len(m.Content)
	}
	return max(n, call.Request.PromptTokens)
}

// outputBound returns how many tokens the answer may have: what the body asks for, which the user's own fields may have
// changed.
func outputBound(call *Prepared) int64 {
	body := gjson.ParseBytes(call.Body)
	most, choices := int64(0), int64(1)
	for _, name := range []string{"max_tokens", "max_completion_tokens", "max_output_tokens",
		"sampling_params.max_new_tokens"} {
		most = max(most, body.Get(name).Int())
	}
	for _, name := range []string{"n", "best_of", "sampling_params.n"} {
		choices = max(choices, body.Get(name).Int())
	}
	if call.Body == nil {
		most = int64(call.Request.OutputTokens)
	}
	if most <= 0 {
		most = unknownOutput
	}
	return most * choices
}

// Settle implements [Reservation].
func (r *reservation) Settle(res *Result) {
	p := r.limiter
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reserved.prompt -= r.prompt
	p.reserved.output -= r.output
	if free(res) {
		return
	}
	s := &p.spent
	s.Requests++
	if res.PromptTokens != api.Unknown {
		s.Prompt += int64(res.PromptTokens)
		p.learn(res.PromptTokens, r.bytes)
	} else {
		s.UnsurePrompt += r.prompt
	}
	switch {
	case res.Status == StatusOK && res.TokenSource == SourceServer:
		s.Output += int64(res.OutputTokens)
	default:
		s.UnsureOutput += max(r.output, int64(res.OutputTokens))
	}
	s.Cost = p.limits.Price(s.Prompt+s.UnsurePrompt, s.Output+s.UnsureOutput)
}

// learn takes in what the server counted for a body.
func (p *SpendLimiter) learn(tokens, bytes int) {
	if p.allPrompts.counted == 0 {
		p.minPrompt = int64(tokens)
	}
	p.minPrompt = min(p.minPrompt, int64(tokens))
	p.allPrompts.add(tokens, bytes)
	length := bits.Len(uint(bytes))
	if p.byLength[length] == nil {
		p.byLength[length] = &promptClass{}
	}
	p.byLength[length].add(tokens, bytes)
}

// free reports whether a request cost nothing: it was not sent, or the server refused it.
func free(res *Result) bool {
	return res.Sent == Absent || res.HTTP != 0 && (res.HTTP < http.StatusOK || res.HTTP >= http.StatusMultipleChoices)
}

// Allowance is what requests may spend. It is asked before each request is sent, by several goroutines at once.
type Allowance interface {
	// Reserve sets aside what a request can cost at most. It returns nil where less than that is left.
	Reserve(p *Prepared) Reservation
}

// Reservation is what was set aside for a request.
type Reservation interface {
	// Settle replaces the reservation by what the request has cost, once it has ended.
	Settle(res *Result)
}

// minRemaining stands for nothing that is left, since 0 is no limit. A share of it is above 0, too.
const minRemaining = 1e-200

// Remaining returns what is left of the limit; 0 for no limit. Requests in flight are not reckoned with.
func (p *SpendLimiter) Remaining() float64 {
	if p.limits.Cost == 0 {
		return 0
	}
	return max(minRemaining, p.limits.Cost-p.Spent().Cost)
}

// Grant lets requests spend no more than a part of what is left from now on, until [SpendLimiter.Release]; 0 is no
// limit.
func (p *SpendLimiter) Grant(cost float64) {
	spent := p.Spent().Cost
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limit = p.limits.Cost
	if cost > 0 {
		p.limit = spent + cost
	}
}

// Release lets requests spend what is left of the limit again.
func (p *SpendLimiter) Release() { p.Grant(0) }

// Book takes in what another process has spent. It does not count towards a part that was granted to this one.
func (p *SpendLimiter) Book(s Spent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.earlier = p.earlier.Plus(s)
	p.spent.Refused = p.spent.Refused || s.Refused
	if p.limit != p.limits.Cost {
		p.limit += s.Cost
	}
}

// Plus returns the sum of s and o. Refused stays that of s.
func (s Spent) Plus(o Spent) Spent {
	s.Requests += o.Requests
	s.Prompt, s.Output = s.Prompt+o.Prompt, s.Output+o.Output
	s.UnsurePrompt, s.UnsureOutput = s.UnsurePrompt+o.UnsurePrompt, s.UnsureOutput+o.UnsureOutput
	s.Cost += o.Cost
	return s
}

// Since returns what was spent since an earlier time.
func (s Spent) Since(before Spent) Spent {
	refused := s.Refused && !before.Refused
	s.Requests -= before.Requests
	s.Prompt, s.Output = s.Prompt-before.Prompt, s.Output-before.Output
	s.UnsurePrompt, s.UnsureOutput = s.UnsurePrompt-before.UnsurePrompt, s.UnsureOutput-before.UnsureOutput
	s.Cost, s.Refused = s.Cost-before.Cost, refused
	return s
}
