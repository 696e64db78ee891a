package record

import (
	"cmp"
	"container/list"
	"crypto/sha256"
	"encoding/binary"
	"net"
	"net/http"
	"slices"

	"github.com/tidwall/gjson"
)

// blockBytes is the length of a block of a prompt whose hash is kept: about 16 tokens of English, as servers cache them.
const blockBytes = 64

// asked is what a request asked for.
type asked struct {
	model    string
	most     int      // output tokens; 0 for no limit
	blocks   []int64  // hashes of the prompt's blocks: equal ones mean that the prompts are equal up to the end of the block
	messages [][]byte // as they stand in the body; valid while the body is
	head     []byte   // what comes before them
}

// lengthFields are the names of the field for the longest answer, in the APIs that clients use.
var lengthFields = []string{"max_completion_tokens", "max_tokens", "max_output_tokens", "n_predict", "options.num_predict", "sampling_params.max_new_tokens", "parameters.max_new_tokens"}

// promptFields are the names of the field with the prompt.
var promptFields = []string{"messages", "prompt", "input", "inputs", "text", "text_input"}

// readAsked reads a request's body. salt keeps hashes from being compared with those of guessed texts.
func readAsked(body []byte, salt []byte) asked {
	all := gjson.ParseBytes(body)
	a := asked{model: all.Get("model").Str}
	for _, name := range lengthFields {
		if n := all.Get(name); n.Type == gjson.Number && n.Int() > 0 {
			a.most = int(n.Int())
			break
		}
	}
	for _, name := range []string{"tools", "system", "instructions"} { // templates put them before the messages
		a.head = append(a.head, all.Get(name).Raw...)
	}
	for _, name := range promptFields {
		p := all.Get(name)
		if !p.Exists() {
			continue
		}
		if p.IsArray() && p.Get("0").Type != gjson.Number { // those of numbers are tokens
			p.ForEach(func(_, m gjson.Result) bool {
				a.messages = append(a.messages, []byte(m.Raw))
				return true
			})
		} else {
			a.messages = [][]byte{[]byte(p.Raw)}
		}
		break
	}
	a.hash(salt)
	return a
}

// hash hashes the prompt in blocks. Each hash covers all that comes before its block, too.
func (a *asked) hash(salt []byte) {
	h, n := sha256.New(), 0
	h.Write(salt)
	add := func(b []byte) {
		for len(b) > 0 {
			part := b[:min(len(b), blockBytes-n)]
			h.Write(part)
			b, n = b[len(part):], n+len(part)
			if n == blockBytes {
				a.blocks, n = append(a.blocks, number(h.Sum(nil))), 0
			}
		}
	}
	add(a.head)
	for _, m := range a.messages {
		add(m)
	}
	if n > 0 {
		a.blocks = append(a.blocks, number(h.Sum(nil)))
	}
}

// number returns a hash as a number that all readers of JSON keep exactly: 52 bits.
func number(sum []byte) int64 { return int64(binary.BigEndian.Uint64(sum) >> 12) }

// keys returns hashes of the messages up to each, in full. With the n-th message they cover n+1.
func (a *asked) keys(salt []byte) []key {
	all, last := make([]key, len(a.messages)), key(sha256.Sum256(append(salt, a.head...)))
	for i, m := range a.messages {
		h := sha256.New()
		h.Write(last[:])
		h.Write(m)
		last = key(h.Sum(nil))
		all[i] = last
	}
	return all
}

// key stands for the messages of a request.
type key [sha256.Size]byte

// sessions finds which session a request belongs to: that of the request whose messages it repeats, with an answer and a new message behind them.
type sessions struct {
	salt  []byte
	next  int
	known map[key]*list.Element
	order *list.List // of *session, the latest first
}

// session is a conversation.
type session struct {
	key  key // of the messages of its latest request
	id   int
	turn int // of the latest request, from 0
	kept bool
}

const (
	mostSessions = 100_000 // are remembered, the latest
	mostNew      = 16      // messages may be new in a turn: an answer, and what follows it, such as the results of several tools
)

func newSessions(salt []byte) *sessions {
	return &sessions{salt: salt, known: map[key]*list.Element{}, order: list.New()}
}

// of returns the session of a request. keep decides whether a new one is recorded.
func (s *sessions) of(a *asked, keep func() bool) session {
	keys := a.keys(s.salt)
	if len(keys) == 0 {
		keys = []key{{}}
	}
	n := len(keys)
	for i := n - 2; i >= max(n-1-mostNew, 0); i-- {
		if e := s.known[keys[i]]; e != nil {
			was := e.Value.(*session)
			s.forget(e)
			return s.add(session{key: keys[n-1], id: was.id, turn: was.turn + 1, kept: was.kept})
		}
	}
	s.next++
	return s.add(session{key: keys[n-1], id: s.next - 1, kept: keep()})
}

func (s *sessions) forget(e *list.Element) {
	delete(s.known, e.Value.(*session).key)
	s.order.Remove(e)
}

func (s *sessions) add(one session) session {
	if old := s.known[one.key]; old != nil { // the same request again: only the newer one can go on
		s.forget(old)
	}
	s.known[one.key] = s.order.PushFront(&one)
	if s.order.Len() > mostSessions {
		s.forget(s.order.Back())
	}
	return one
}

// identity returns a hash of what tells clients apart: the key that a request has, else its address without the port.
func identity(req *http.Request, from net.Addr, salt []byte) key {
	who := cmp.Or(req.Header.Get("Authorization"), req.Header.Get("X-Api-Key"), req.Header.Get("Api-Key"))
	if who == "" {
		who, _, _ = net.SplitHostPort(from.String())
	}
	return sha256.Sum256(append(slices.Clone(salt), who...))
}

// mostClients is how many clients are told apart; the requests of further ones have none.
const mostClients = 10_000

// client returns the number of a client. r.mu is held.
func (r *Recorder) client(from key) int {
	if n, known := r.clients[from]; known || len(r.clients) >= mostClients {
		return n
	}
	r.clients[from] = len(r.clients) + 1
	return len(r.clients)
}
