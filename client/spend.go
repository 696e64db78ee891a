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

// Price returns what tokens cost.
func (l *SpendLimits) Price(prompt, output int64) float64 {
	return (float64(prompt)*l.PriceIn + float64(output)*l.PriceOut) / 1e6
}

// Share returns the share of the limit that tokens use; 0 without a limit.
func (l *SpendLimits) Share(prompt, output int64) float64 {
	if l.Cost == 0 {
		return 0
	}
	return l.Price(prompt, output) / l.Cost
}

// Spent is what requests have cost so far.
type Spent struct {
	Requests       int   // that may have cost something
	Prompt, Output int64 // tokens that the server counted
	// Upper bounds for requests whose tokens the server did not count: those cancelled or failed in mid-stream.
	UnsurePrompt, UnsureOutput int64
	Cost                       float64
	Refused                    bool // a request was not sent, because it might have exceeded the limit
}

// SpendLimiter is an [Allowance] with a limit on cost, safe for concurrent use. What is spent and reserved never
// exceeds the limit, as long as at most one prompt at a time exceeds its bound, and the server sends no more than was
// asked for.
type SpendLimiter struct {
	limits  SpendLimits
	earlier Spent // before the limiter was made; see [SpendLimiter.Begin]

	mu         sync.Mutex
	spent      Spent
	reserved   struct{ prompt, output int64 }
	allPrompts promptClass
	byLength   map[int]*promptClass // by the bit length of the body's size
	minPrompt  int64                // fewest tokens of a prompt so far: the chat template has no more
	outlier    int64                // the most that one prompt can exceed its reservation by
}

// promptClass sums up prompts whose tokens the server counted.
type promptClass struct {
	counted  int
	perByte  float64 // most tokens per byte of a body
	minBytes int     // smallest body
}

func (c *promptClass) add(tokens, bytes int) {
	if c.counted == 0 {
		c.minBytes = bytes
	}
	c.counted++
	c.minBytes = min(c.minBytes, bytes)
	c.perByte = max(c.perByte, float64(tokens)/float64(max(1, bytes)))
}

// NewSpendLimiter returns a limiter.
func NewSpendLimiter(l SpendLimits) *SpendLimiter {
	return &SpendLimiter{limits: l, byLength: map[int]*promptClass{}}
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
	return p.spent.plus(p.earlier)
}

// Limits returns the limits that [NewSpendLimiter] was given.
func (p *SpendLimiter) Limits() SpendLimits { return p.limits }

// Bounds of a prompt's tokens. A tokenizer makes at most one token of a byte, and a chat template adds some more. After
// a few prompts the bound is the server's tokens per byte with a margin. After many of a length the margin is small,
// and the tokens per byte include the template. One outlier, which may be any request in flight, is provided for.
const (
	templateTokens = 256
	fewCounted     = 3
	margin         = 1.5
	manyCounted    = 20 // above the largest of 20 is one prompt in 21
	smallMargin    = 1.1
)

// unknownOutput is the assumed length of an answer, in tokens, where the request leaves it to the server.
const unknownOutput = 32768

type reservation struct {
	limiter        *SpendLimiter
	bytes          int
	prompt, output int64
}

// Reserve implements [Allowance].
func (p *SpendLimiter) Reserve(prepared *Prepared) Reservation {
	r := &reservation{limiter: p, bytes: bodySize(prepared), output: outputBound(prepared)}
	p.mu.Lock()
	defer p.mu.Unlock()
	r.prompt = p.promptBound(r.bytes)
	outlier := max(p.outlier, p.looseBound(r.bytes)-r.prompt)
	prompt := p.spent.Prompt + p.spent.UnsurePrompt + p.reserved.prompt + r.prompt + outlier
	output := p.spent.Output + p.spent.UnsureOutput + p.reserved.output + r.output
	if p.limits.Cost > 0 && p.earlier.Cost+p.limits.Price(prompt, output) > p.limits.Cost {
		p.spent.Refused = true
		return nil
	}
	p.outlier = outlier
	p.reserved.prompt += r.prompt
	p.reserved.output += r.output
	return r
}

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

// looseBound is the bound for a prompt that is unlike those counted so far.
func (p *SpendLimiter) looseBound(bytes int) int64 {
	perByte := 1.0
	if p.allPrompts.counted >= fewCounted {
		perByte = min(1, margin*p.allPrompts.perByte)
	}
	return int64(math.Ceil(float64(bytes)*perByte)) + templateTokens
}

// bodySize bounds the bytes that can become tokens: escapes never make a text shorter.
func bodySize(prepared *Prepared) int {
	if prepared.Body != nil {
		return len(prepared.Body)
	}
	n := 0
	for _, m := range prepared.Request.Messages {
		n += len(m.Content)
	}
	return max(n, prepared.Request.PromptTokens)
}

// outputBound reads the body and not the request, because the user's own fields may have changed it.
func outputBound(prepared *Prepared) int64 {
	body := gjson.ParseBytes(prepared.Body)
	longest, choices := int64(0), int64(1)
	for _, name := range []string{"max_tokens", "max_completion_tokens", "max_output_tokens",
		"sampling_params.max_new_tokens"} {
		longest = max(longest, body.Get(name).Int())
	}
	for _, name := range []string{"n", "best_of", "sampling_params.n"} {
		choices = max(choices, body.Get(name).Int())
	}
	if prepared.Body == nil {
		longest = int64(prepared.Request.OutputTokens)
	}
	if longest <= 0 {
		longest = unknownOutput
	}
	return longest * choices
}

// Settle implements [Reservation].
func (r *reservation) Settle(res *Result) {
	p := r.limiter
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reserved.prompt -= r.prompt
	p.reserved.output -= r.output
	if isFree(res) {
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
	if res.Status == StatusOK && res.TokenSource == SourceServer {
		s.Output += int64(res.OutputTokens)
	} else {
		s.UnsureOutput += max(r.output, int64(res.OutputTokens))
	}
	s.Cost = p.limits.Price(s.Prompt+s.UnsurePrompt, s.Output+s.UnsureOutput)
}

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

// isFree reports whether a request cost nothing: it was not sent, or the server refused it.
func isFree(res *Result) bool {
	return res.Sent == Absent || res.HTTP != 0 && (res.HTTP < http.StatusOK || res.HTTP >= http.StatusMultipleChoices)
}

// Allowance decides what requests may spend. Several goroutines use it at once.
type Allowance interface {
	// Reserve sets aside what a request can cost at most, before it is sent. It returns nil where less than that is left.
	Reserve(p *Prepared) Reservation
}

// Reservation is what was set aside for a request.
type Reservation interface {
	// Settle replaces the reservation by what the request has cost, once it has ended.
	Settle(res *Result)
}

// plus returns the sum of s and o. Refused stays that of s.
func (s Spent) plus(o Spent) Spent {
	s.Requests += o.Requests
	s.Prompt += o.Prompt
	s.Output += o.Output
	s.UnsurePrompt += o.UnsurePrompt
	s.UnsureOutput += o.UnsureOutput
	s.Cost += o.Cost
	return s
}
