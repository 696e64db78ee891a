package sim

// prefixCache records which prompt blocks were computed. It is simpler than vLLM's: it keeps the newest limit blocks,
// whether or not their memory was reused, and sequences with a common prefix do not share blocks. It saves only the
// prefill.
type prefixCache struct {
	seen  map[uint64]struct{}
	order []uint64 // ring of the hashes in seen, oldest at next once it is full
	next  int
	limit int
}

// newPrefixCache returns an empty cache of a number of blocks.
func newPrefixCache(limit int) *prefixCache {
	return &prefixCache{seen: make(map[uint64]struct{}), limit: limit}
}

// Match returns how many leading hashes are known.
func (p *prefixCache) Match(hashes []uint64) int {
	for i, h := range hashes {
		if _, ok := p.seen[h]; !ok {
			return i
		}
	}
	return len(hashes)
}

// Add notes that blocks were computed.
func (p *prefixCache) Add(hashes []uint64) {
	for _, h := range hashes {
		if _, ok := p.seen[h]; ok {
			continue
		}
		p.seen[h] = struct{}{}
		if len(p.order) < p.limit {
			p.order = append(p.order, h)
			continue
		}
		delete(p.seen, p.order[p.next])
		p.order[p.next] = h
		p.next = (p.next + 1) % p.limit
	}
}
