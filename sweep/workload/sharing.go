package workload

import (
	"math"
	mathrand "math/rand/v2"
	"strconv"
	"strings"

	"llmsweep/sweep/stats"
)

// sharing makes texts that begin alike where their hash ids do. A hash id stands for a block of tokens and all that comes before it.
type sharing struct {
	seed  uint64
	costs Calibration
	block float64 // tokens of a block, on average
	// beyond is how many tokens prompts share beyond their last block that is equal: half a block on average, since the next block differs somewhere.
	beyond float64
	Numbering
}

func newSharing(seed uint64, costs Calibration) sharing {
	return sharing{seed: seed, costs: costs.Usable(), Numbering: newNumbering(0)}
}

// repeats returns how many tokens of a prompt with these hashes the run has sent before, and remembers them.
func (s *sharing) repeats(prompt int, hashes []int64) int {
	blocks, on := 0, true
	for _, h := range hashes {
		if on = s.again(h) && on; on {
			blocks++
		}
	}
	if on && blocks > 0 {
		return min(prompt, s.tokens(blocks)+int(s.beyond))
	}
	return min(prompt, s.tokens(blocks))
}

// tokens returns the tokens of a number of blocks.
func (s *sharing) tokens(blocks int) int { return int(math.Round(float64(blocks) * s.block)) }

// text returns a prompt of the given number of tokens that begins as its hashes say. The rest is its own.
func (s *sharing) text(tokens int, hashes []int64, rng *mathrand.Rand) string {
	if len(hashes) == 0 {
		return s.costs.Write(s.Opening(s.Place()), tokens, rng)
	}
	size, fill := s.costs.Fit(tokens)
	text := make([]string, 0, size)
	for block, hash := range hashes {
		ends, _ := s.costs.Fit(s.tokens(block + 1))
		if n := min(ends, size) - len(text); n > 0 {
			text = append(text, pick(n, stats.Rand(s.seed, "block", strconv.FormatInt(hash, 10)))...)
		}
	}
	if n := min(int(s.beyond), size-len(text)); n > 0 {
		text = append(text, pick(n, stats.Rand(s.seed, "beyond", strconv.FormatInt(hashes[len(hashes)-1], 10)))...)
	}
	text = append(text, pick(size-len(text), rng)...)
	return compose(s.Opening(uint64(hashes[0])), text, strings.Repeat(s.costs.Filler, fill))
}
