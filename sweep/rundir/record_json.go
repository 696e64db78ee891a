package rundir

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"sync"

	"github.com/go-faster/jx"
)

// fields writes the fields of a JSON object. Numbers that are absent, zeros and empty texts are left out, except where
// the name says otherwise.
type fields struct{ *jx.Writer }

func (w fields) key(name string) {
	if w.Buf[len(w.Buf)-1] != '{' {
		w.Comma()
	}
	w.FieldStart(name)
}

func (w fields) integer(name string, v int) {
	if v != 0 {
		w.key(name)
		w.Int(v)
	}
}

func (w fields) text(name, v string) {
	if v != "" {
		w.key(name)
		w.Str(v)
	}
}

// number writes a number with at most 9 decimals, since a nanosecond is the resolution of the clock; a lower bound as
// [Number.MarshalJSON] does.
func (w fields) number(name string, n Number) {
	if n.IsZero() {
		return
	}
	w.key(name)
	const decimals = 9
	if n.Bound() {
		w.Buf = append(strconv.AppendFloat(append(w.Buf, `{"over":`...), n.v, 'g', -1, 64), '}')
		return
	}
	b := strconv.AppendFloat(w.Buf, n.v, 'f', decimals, 64)
	for b[len(b)-1] == '0' {
		b = b[:len(b)-1]
	}
	if b[len(b)-1] == '.' {
		b = b[:len(b)-1]
	}
	w.Buf = b
}

func list[T int32 | int64](w fields, name string, all []T) {
	if len(all) == 0 {
		return
	}
	w.key(name)
	w.ArrStart()
	b := w.Buf
	for _, v := range all {
		b = append(strconv.AppendInt(b, int64(v), 10), ',')
	}
	w.Buf = b[:len(b)-1]
	w.ArrEnd()
}

// AppendJSON appends r to b as one JSON object, without an allocation where b has room.
func (r *Record) AppendJSON(b []byte) []byte {
	w := fields{jx.GetWriter()}
	defer jx.PutWriter(w.Writer)
	w.Buf = b
	w.ObjStart()
	w.key("stage")
	w.Str(r.Stage)
	w.key("seq")
	w.Int(r.Seq)
	w.key("turn")
	w.Int(r.Turn)
	w.number("rank", r.Rank)
	w.integer("replica", r.Replica)
	w.number("due", r.Due)
	w.number("queued", r.Queued)
	w.number("sent", r.Sent)
	w.number("headers", r.Headers)
	w.number("first_token", r.FirstToken)
	w.number("first_answer", r.FirstAnswer)
	w.number("last_token", r.LastToken)
	w.number("end", r.End)
	w.number("dial", r.Dial)
	w.integer("resent", r.Resent)
	w.key("status")
	w.Str(r.Status)
	w.text("error", r.Error)
	w.text("message", r.Message)
	w.integer("http", r.HTTP)
	w.integer("asked_tokens", r.AskedTokens)
	w.integer("asked_prompt_tokens", r.AskedPrompt)
	w.number("prompt_tokens", r.PromptTokens)
	w.number("output_tokens", r.OutputTokens)
	w.number("reasoning_tokens", r.ReasoningTokens)
	w.number("cached_tokens", r.CachedTokens)
	w.integer("ideal_tokens", r.IdealTokens)
	w.text("token_source", r.TokenSource)
	w.text("finish", r.Finish)
	list(w, "gaps_us", r.GapsUS)
	list(w, "counts", r.Counts)
	list(w, "shared", r.Shared)
	w.number("read_delay", r.ReadDelay)
	w.ObjEnd()
	b, w.Buf = w.Buf, nil // it is the caller's, and must not stay in the pool
	return b
}

// parser reads records. Texts that many records have are interned.
type parser struct {
	jx.Decoder
	interned map[string]string
}

var parsers = sync.Pool{New: func() any { return &parser{interned: map[string]string{}} }}

func (p *parser) intern(to *string) error {
	const most = 1000 // texts: a file in which all differ must not fill the memory
	b, err := p.StrBytes()
	text, ok := p.interned[string(b)]
	if !ok {
		if len(p.interned) >= most {
			clear(p.interned)
		}
		text = string(b)
		p.interned[text] = text
	}
	*to = text
	return err
}

// ParseRecord returns the record of one line. It keeps nothing of the line. Fields that it does not know are skipped,
// and null is absent.
func ParseRecord(line []byte) (*Record, error) {
	r, p := &Record{}, parsers.Get().(*parser)
	defer parsers.Put(p)
	p.ResetBytes(line)
	err := p.ObjBytes(func(d *jx.Decoder, key []byte) error {
		if d.Next() == jx.Null {
			return d.Null()
		}
		return r.field(p, key)
	})
	if err != nil {
		return nil, err
	}
	if err := p.Skip(); !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, errors.New("there is more behind the record")
	}
	return r, nil
}

func (r *Record) field(d *parser, key []byte) error {
	switch string(key) {
	case "stage":
		return d.intern(&r.Stage)
	case "seq":
		return readInt(&d.Decoder, &r.Seq)
	case "turn":
		return readInt(&d.Decoder, &r.Turn)
	case "replica":
		return readInt(&d.Decoder, &r.Replica)
	case "resent":
		return readInt(&d.Decoder, &r.Resent)
	case "status":
		return d.intern(&r.Status)
	case "error":
		return d.intern(&r.Error)
	case "message":
		text, err := d.Str()
		r.Message = text
		return err
	case "http":
		return readInt(&d.Decoder, &r.HTTP)
	case "asked_tokens":
		return readInt(&d.Decoder, &r.AskedTokens)
	case "asked_prompt_tokens":
		return readInt(&d.Decoder, &r.AskedPrompt)
	case "ideal_tokens":
		return readInt(&d.Decoder, &r.IdealTokens)
	case "token_source":
		return d.intern(&r.TokenSource)
	case "finish":
		return d.intern(&r.Finish)
	case "gaps_us":
		return readList(&d.Decoder, &r.GapsUS, (*jx.Decoder).Int64)
	case "counts":
		return readList(&d.Decoder, &r.Counts, (*jx.Decoder).Int32)
	case "shared":
		return readList(&d.Decoder, &r.Shared, (*jx.Decoder).Int32)
	}
	if n := r.numberOf(string(key)); n != nil {
		return n.read(&d.Decoder)
	}
	return d.Skip()
}

func (r *Record) numberOf(key string) *Number {
	switch key {
	case "rank":
		return &r.Rank
	case "due":
		return &r.Due
	case "queued":
		return &r.Queued
	case "sent":
		return &r.Sent
	case "headers":
		return &r.Headers
	case "first_token":
		return &r.FirstToken
	case "first_answer":
		return &r.FirstAnswer
	case "last_token":
		return &r.LastToken
	case "end":
		return &r.End
	case "dial":
		return &r.Dial
	case "prompt_tokens":
		return &r.PromptTokens
	case "output_tokens":
		return &r.OutputTokens
	case "reasoning_tokens":
		return &r.ReasoningTokens
	case "cached_tokens":
		return &r.CachedTokens
	case "read_delay":
		return &r.ReadDelay
	}
	return nil
}

// read reads a number, or a lower bound as [Number.MarshalJSON] writes it.
func (n *Number) read(d *jx.Decoder) error {
	if d.Next() == jx.Number {
		v, err := d.Float64()
		*n = Exactly(v)
		return err
	}
	b, err := d.Raw()
	if err != nil {
		return err
	}
	return n.UnmarshalJSON(b)
}

func readInt(d *jx.Decoder, to *int) (err error) {
	*to, err = d.Int()
	return err
}

func readList[T any](d *jx.Decoder, to *[]T, one func(*jx.Decoder) (T, error)) error {
	*to = slices.Grow((*to)[:0], 8)
	return d.Arr(func(d *jx.Decoder) error {
		v, err := one(d)
		*to = append(*to, v)
		return err
	})
}
