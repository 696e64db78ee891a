package workload

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"sync"
	"sync/atomic"
)

// Numbering gives each text a number that is unique in its run, and that no other run is likely to use, so that no text
// hits a cache that holds another. It must not be copied once in use.
type Numbering struct {
	// Nonce is where the numbers begin, drawn at random for each run. A run with the nonce and the seed of an earlier
	// run repeats its texts.
	Nonce uint64

	count uint64

	sentSet[int64]
}

// sentSet holds the beginnings of texts that were sent.
type sentSet[T comparable] struct {
	mu         sync.Mutex
	beginnings map[T]struct{}
}

// add reports whether a beginning was sent before. The lock is held.
func (s *sentSet[T]) add(beginning T) (known bool) {
	if s.beginnings == nil {
		s.beginnings = map[T]struct{}{}
	}
	_, known = s.beginnings[beginning]
	s.beginnings[beginning] = struct{}{}
	return known
}

// remember reports whether a beginning was sent before.
func (s *sentSet[T]) remember(beginning T) (known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.add(beginning)
}

func (s *sentSet[T]) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.beginnings)
}

// sentTexts are hashes of the beginnings of texts, a block longer each.
type sentTexts struct{ sentSet[uint64] }

// textBlock is the length of a block in bytes: about sixteen tokens, as servers cache them.
const textBlock = 64

var hashSeed = maphash.MakeSeed() // the hashes stay in this process

// remember returns how many bytes at the beginning of a text were sent before, rounded up to a block.
func (t *sentTexts) remember(text string) (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var h maphash.Hash
	h.SetSeed(hashSeed)
	known := true
	for from := 0; from < len(text); from += textBlock {
		to := min(from+textBlock, len(text))
		h.WriteString(text[from:to])
		repeated := t.add(h.Sum64())
		if known {
			n = to // up to the first block that is new, and with it, since it may begin alike
			known = repeated
		}
	}
	if !known && n <= textBlock { // not even the first block
		return 0
	}
	return n
}

// Forget lets a workload count what it sent so far as new, after the server's cache was emptied.
func Forget(w Workload) {
	if f, ok := w.(interface{ forget() }); ok {
		f.forget()
	}
}

// newNumbering reserves the first places, for groups of prompts with a prefix.
func newNumbering(reserved int) Numbering {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return Numbering{Nonce: binary.LittleEndian.Uint64(b[:]), count: uint64(reserved)}
}

// Place returns the place of the next text.
func (n *Numbering) Place() uint64 { return atomic.AddUint64(&n.count, 1) }

// openingSpan is the number of openings. All have nine digits, so that a tokenizer that splits digits one by one or in
// threes makes the same number of tokens of each.
const openingSpan = 900_000_000

// stride scatters successive numbers over the span: about the golden ratio of it, and without a common factor.
const stride = 618_033_989

func (n *Numbering) number(place uint64) uint64 {
	return (n.Nonce%openingSpan + place%openingSpan*stride) % openingSpan
}

// Opening returns the first word of the text at a place: its number, in digits.
func (n *Numbering) Opening(place uint64) string { return opening(n.number(place)) }

func opening(number uint64) string { return fmt.Sprintf("%09d", 100_000_000+number%openingSpan) }

// spelled returns the same number in words, for a text that follows a prefix: words cost what other words there cost,
// whereas the cost of digits within a text is not measured. It takes four words; the first differs between neighbours.
func (n *Numbering) spelled(place uint64) []string {
	number := n.number(place)
	text := make([]string, 0, 4)
	for span := uint64(openingSpan); span > 0; span /= uint64(len(words)) {
		text = append(text, words[number%uint64(len(words))])
		number /= uint64(len(words))
	}
	return text
}
