package rundir

import (
	"bytes"
	"encoding/json"
)

// parser reads lines of records.jsonl as appendJSON writes them, tens of times as fast as encoding/json, which a stage of
// a million requests needs. Whatever looks different is left to encoding/json.
type parser struct {
	line []byte
	at   int
	seen map[string]string // short strings, which repeat
}

// record is one line's. What encoding/json finds wrong is an error.
func (p *parser) record(line []byte) (*Record, error) {
	p.line, p.at = line, 0
	r := &Record{}
	if p.object(r) && p.at == len(line) {
		return r, nil
	}
	r = &Record{}
	return r, json.Unmarshal(line, r)
}

func (p *parser) object(r *Record) bool {
	if !p.skip('{') {
		return false
	}
	for {
		key, ok := p.raw()
		if !ok || !p.skip(':') || !p.value(r, key) {
			return false
		}
		if !p.skip(',') {
			return p.skip('}')
		}
	}
}

// value reads the value of a key; false where either is nothing that appendJSON writes.
func (p *parser) value(r *Record, key []byte) bool {
	switch string(key) {
	case "stage":
		return p.text(&r.Stage)
	case "seq":
		return p.count(&r.Seq)
	case "turn":
		return p.count(&r.Turn)
	case "due":
		return p.figure(&r.Due)
	case "queued":
		return p.figure(&r.Queued)
	case "sent":
		return p.figure(&r.Sent)
	case "headers":
		return p.figure(&r.Headers)
	case "first_token":
		return p.figure(&r.FirstToken)
	case "first_answer":
		return p.figure(&r.FirstAnswer)
	case "last_token":
		return p.figure(&r.LastToken)
	case "end":
		return p.figure(&r.End)
	case "dial":
		return p.figure(&r.Dial)
	case "resent":
		return p.count(&r.Resent)
	case "status":
		return p.text(&r.Status)
	case "error":
		return p.text(&r.Error)
	case "message":
		return p.text(&r.Message)
	case "http":
		return p.count(&r.HTTP)
	case "asked_tokens":
		return p.count(&r.AskedTokens)
	case "prompt_tokens":
		return p.figure(&r.PromptTokens)
	case "output_tokens":
		return p.figure(&r.OutputTokens)
	case "reasoning_tokens":
		return p.figure(&r.ReasoningTokens)
	case "cached_tokens":
		return p.figure(&r.CachedTokens)
	case "token_source":
		return p.text(&r.TokenSource)
	case "finish":
		return p.text(&r.Finish)
	case "gaps_us":
		return integers(p, &r.GapsUS)
	case "counts":
		return integers(p, &r.Counts)
	case "shared":
		return integers(p, &r.Shared)
	case "read_delay":
		return p.figure(&r.ReadDelay)
	}
	return false
}

func (p *parser) skip(c byte) bool {
	if p.at < len(p.line) && p.line[p.at] == c {
		p.at++
		return true
	}
	return false
}

// raw is a string without escapes, quotes left out.
func (p *parser) raw() ([]byte, bool) {
	if !p.skip('"') {
		return nil, false
	}
	for i, c := range p.line[p.at:] {
		switch {
		case c == '"':
			s := p.line[p.at : p.at+i]
			p.at += i + 1
			return s, true
		case c < 0x20 || c >= 0x7f || c == '\\':
			return nil, false
		}
	}
	return nil, false
}

// A file has few different strings but messages; so many of so many bytes are kept once.
const (
	mostStrings = 256
	shortString = 64
)

func (p *parser) text(to *string) bool {
	b, ok := p.raw()
	if !ok {
		return false
	}
	if s, ok := p.seen[string(b)]; ok {
		*to = s
		return true
	}
	*to = string(b)
	if len(b) <= shortString && len(p.seen) < mostStrings {
		if p.seen == nil {
			p.seen = map[string]string{}
		}
		p.seen[*to] = *to
	}
	return true
}

// digits reads decimal digits into n, and tells how many; negative where they are more than a float64 holds.
func (p *parser) digits(n *int64) int {
	from := p.at
	for ; p.at < len(p.line) && p.line[p.at]-'0' <= 9; p.at++ {
		*n = *n*10 + int64(p.line[p.at]-'0')
		if *n >= 1<<53 {
			return -1
		}
	}
	return p.at - from
}

// whole reads a whole number as JSON writes it, no leading zeros.
func (p *parser) whole(n *int64) bool {
	zero := p.at < len(p.line) && p.line[p.at] == '0'
	got := p.digits(n)
	return got == 1 || got > 1 && !zero
}

func (p *parser) integer() (int64, bool) {
	minus := p.skip('-')
	n := int64(0)
	ok := p.whole(&n)
	if minus {
		n = -n
	}
	return n, ok
}

func (p *parser) count(to *int) bool {
	n, ok := p.integer()
	*to = int(n)
	return ok && int64(*to) == n && p.ended()
}

// powers of ten are exact, and so is a division of exact numbers to the last bit: the quotient is what
// [strconv.ParseFloat] makes of the digits.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9}

func (p *parser) figure(to *Number) bool {
	minus := p.skip('-')
	n := int64(0)
	if !p.whole(&n) {
		return false
	}
	decimals := 0
	if p.skip('.') {
		if decimals = p.digits(&n); decimals < 1 || decimals >= len(powers) {
			return false
		}
	}
	v := float64(n) / powers[decimals]
	if minus {
		v = -v
	}
	*to = Exactly(v)
	return p.ended()
}

// ended reports whether a number does not go on, with an exponent say.
func (p *parser) ended() bool {
	return p.at < len(p.line) && (p.line[p.at] == ',' || p.line[p.at] == '}')
}

// integers reads an array of whole numbers.
func integers[T int32 | int64](p *parser, to *[]T) bool {
	if !p.skip('[') {
		return false
	}
	end := bytes.IndexByte(p.line[p.at:], ']')
	if end < 1 {
		return false
	}
	list := make([]T, 0, bytes.Count(p.line[p.at:p.at+end], []byte(","))+1)
	for {
		n, ok := p.integer()
		if !ok || int64(T(n)) != n {
			return false
		}
		list = append(list, T(n))
		if !p.skip(',') {
			*to = list
			return p.skip(']')
		}
	}
}
