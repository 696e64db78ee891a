package sim

// kvCache is the KV cache of a server in blocks, as vLLM's and SGLang's hold it: sequences whose prompts begin alike
// share the blocks of that beginning, and what a sequence leaves behind stays until its memory is needed. Then the
// blocks go that were used least recently, and of one prompt the last before the first, since they are found from its
// beginning on. Blocks that hold no prefix are taken first. Answers are not found again: a later turn computes the
// answer before it.
type kvCache struct {
	total     int
	empty     int                // blocks that hold nothing
	pages     map[uint64]*kvPage // pages by their hash; nil where no prefixes are kept
	idle      kvPage             // ring of pages that no sequence uses: after it the one used least recently
	idleCount int                // pages in the ring
}

// kvPage is a block of a prompt, which can be found by the hash of all text up to its end.
type kvPage struct {
	hash         uint64
	users        int
	older, newer *kvPage // in the ring
}

// newKVCache returns an empty cache of a number of blocks, which keeps prefixes or not.
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

// Clear forgets what no sequence uses.
func (c *kvCache) Clear() {
	free := c.Free()
	c.Take(free)
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

// Hold gives a sequence the pages of hashes that are known.
func (c *kvCache) Hold(hashes []uint64) []*kvPage {
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

// Take gives a sequence n of the free blocks.
func (c *kvCache) Take(n int) {
	for c.empty < n {
		p := c.idle.newer
		c.idle.newer, p.newer.older = p.newer, &c.idle
		c.idleCount--
		delete(c.pages, p.hash)
		c.empty++
	}
	c.empty -= n
}

// Keep lets the blocks of a computed prompt be found. The sequence holds a page for each of the first hashes and blocks
// of its own for the others. It returns the pages that it holds now. Where another sequence computed the same
// meanwhile, the rest stays with the sequence alone.
func (c *kvCache) Keep(hashes []uint64, pages []*kvPage) []*kvPage {
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

// Give takes the blocks of a sequence back: its pages, and a number of blocks of its own.
func (c *kvCache) Give(pages []*kvPage, own int) {
	c.empty += own
	for i := len(pages) - 1; i >= 0; i-- {
		p := pages[i]
		if p.users--; p.users > 0 {
			continue
		}
		p.older, p.newer = c.idle.older, &c.idle
		c.idle.older.newer, c.idle.older = p, p
		c.idleCount++
	}
}
