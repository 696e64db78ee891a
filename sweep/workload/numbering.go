package workload

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"sync/atomic"
)

// Numbering gives each text a number that no earlier text of the run had, and that no other run is likely to have: a
// server that keeps what it has seen can answer none out of another. It must not be copied once in use.
type Numbering struct {
	// Nonce is where the numbers begin. It is drawn afresh for each run; a run that is given an earlier one's repeats its
	// texts, where the seed is the same too.
	Nonce uint64

	count uint64
}

// newNumbering begins somewhere no earlier run began. The first so many numbers are set aside.
func newNumbering(aside int) Numbering {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return Numbering{Nonce: binary.LittleEndian.Uint64(b[:]), count: uint64(aside)}
}

// next is the place of the next text.
func (n *Numbering) next() uint64 { return atomic.AddUint64(&n.count, 1) }

// openingSpan is how many openings there are. All have nine digits: a tokenizer that takes digits one by one or in threes
// has the same number of tokens for each.
const openingSpan = 900_000_000

// stride scatters successive numbers over their span; it shares no factor with it.
const stride = 618_033_989

// number is the number of the text at a place, below openingSpan.
func (n *Numbering) number(place uint64) uint64 {
	return (n.Nonce%openingSpan + place%openingSpan*stride) % openingSpan
}

// opening is the number that the text at a place begins with. No two texts share their first word.
func (n *Numbering) opening(place uint64) string { return opening(n.number(place)) }

func opening(number uint64) string { return fmt.Sprintf("%09d", 100_000_000+number%openingSpan) }

// spelled is the same number in words, for a text that another one precedes: their tokens are those of any words there,
// where digits in the midst of a text would cost what nobody has measured. Four words hold it, and the first tells
// neighbours apart.
func (n *Numbering) spelled(place uint64) []string {
	number := n.number(place)
	text := make([]string, 0, 4)
	for span := uint64(openingSpan); span > 0; span /= uint64(len(words)) {
		text = append(text, words[number%uint64(len(words))])
		number /= uint64(len(words))
	}
	return text
}
