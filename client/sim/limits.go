package sim

import (
	"errors"
	"fmt"
)

// errTooLong is the error of a request that is longer than the model allows, or than the whole KV cache.
var errTooLong = errors.New("request too long")

// Fits returns an error where a request of such lengths, in tokens, could not be served even alone. The last token
// never enters the cache. It wants a Config that has its defaults.
func (c MachineConfig) Fits(prompt, output int) error {
	if prompt+output > c.MaxModelLen {
		return fmt.Errorf("%w: %d prompt and %d output tokens, the model takes %d", errTooLong, prompt, output, c.MaxModelLen)
	}
	if c.BlocksFor(prompt+output-1) > c.Blocks() {
		return fmt.Errorf("%w: %d prompt and %d output tokens, the KV cache holds %d", errTooLong, prompt, output, c.KVTokens)
	}
	return nil
}

// Blocks returns the size of the KV cache in blocks.
func (c MachineConfig) Blocks() int { return c.KVTokens / c.BlockTokens }

// BlocksFor returns how many blocks of the KV cache a number of tokens takes.
func (c MachineConfig) BlocksFor(tokens int) int { return (tokens + c.BlockTokens - 1) / c.BlockTokens }
