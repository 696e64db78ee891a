package sim

import "slices"

// kvCache is a KV cache in blocks, as vLLM and SGLang have it: sequences whose prompts begin alike share the blocks of
// that beginning, and a sequence's blocks stay until their memory is needed. Then the least recently used are evicted,
// and of one prompt the last before the first, since they are found from its beginning on. Blocks without a prefix are
// taken first. Answers are not found again: a later turn computes the answer before it.
type kvCache struct {
	total     int
	empty     int                // blocks without content
	pages     map[uint64]*kvPage // by hash; nil without a prefix cache
	idle      kvPage             // head of a ring of unused pages, least recently used first
	idleCount int                // pages in the ring
}

// kvPage is a block of a prompt. Its hash is that of all text up to its end.
type kvPage struct {
	hash         uint64
	users        int
	older, newer *kvPage // in the ring
}

func newKVCache(blocks int, prefixes bool) *kvCache {
	c := &kvCache{total: blocks, empty: blocks}
	c.idle.older, c.idle.newer = &c.idle, &c.idle
	if prefixes {
		c.pages = map[uint64]*kvPage{}
	}
	return c
}

// Free returns how many blocks no sequence uses.
func (c *kvCache) Free() int { return c.empty + c.idleCount }

// Clear forgets the pages that no sequence uses.
func (c *kvCache) Clear() {
	free := c.Free()
	c.Allocate(free)
	c.empty += free
}

// Match returns how many leading hashes are known, and how many of their pages no sequence uses.
func (c *kvCache) Match(hashes []uint64) (known, idle int) {
	for _, h := range hashes {
		p := c.pages[h]
		if p == nil {
			break
		}
		known++
		if p.users == 0 {
			idle++
		}
	}
	return known, idle
}

// Acquire returns the pages of known hashes for one more sequence.
func (c *kvCache) Acquire(hashes []uint64) []*kvPage {
	if len(hashes) == 0 {
		return nil
	}
	pages := make([]*kvPage, len(hashes))
	for i, h := range hashes {
		p := c.pages[h]
		if p.users == 0 {
			p.older.newer, p.newer.older = p.newer, p.older
			c.idleCount--
		}
		p.users++
		pages[i] = p
	}
	return pages
}

// Allocate takes n of the free blocks for a sequence, and evicts pages where no others are left.
func (c *kvCache) Allocate(n int) {
	for c.empty < n {
		p := c.idle.newer
		c.idle.newer, p.newer.older = p.newer, &c.idle
		c.idleCount--
		delete(c.pages, p.hash)
		c.empty++
	}
	c.empty -= n
}

// Share lets the blocks of a computed prompt be found by their hashes. The sequence has pages of the first hashes;
// Share returns all that it has then. Where another sequence has computed the same meanwhile, the rest stays private.
func (c *kvCache) Share(hashes []uint64, pages []*kvPage) []*kvPage {
	if c.pages == nil {
		return pages
	}
	for _, h := range hashes[min(len(pages), len(hashes)):] {
		if c.pages[h] != nil {
			break
		}
		p := &kvPage{hash: h, users: 1}
		c.pages[h] = p
		pages = append(pages, p)
	}
	return pages
}

// Release takes the pages and the private blocks of a sequence back.
func (c *kvCache) Release(pages []*kvPage, private int) {
	c.empty += private
	for _, p := range slices.Backward(pages) {
		p.users--
		if p.users > 0 {
			continue
		}
		p.older, p.newer = c.idle.older, &c.idle
		c.idle.older.newer, c.idle.older = p, p
		c.idleCount++
	}
}
