package sim

// calendar has the requests by the number of the step that ends them: a ring of lists.
type calendar struct{ lists []*Visit }

// grow makes room for ends up to that many steps after now, the current step.
func (c *calendar) grow(ahead int) {
	size := max(1, len(c.lists))
	for size <= ahead {
		size *= 2
	}
	if size == len(c.lists) {
		return
	}
	old := c.lists
	c.lists = make([]*Visit, size)
	for _, v := range old {
		for v != nil {
			next := v.sibling
			c.add(v, v.ending())
			v = next
		}
	}
}

// ending returns the step of a decoding request's last token.
func (v *Visit) ending() int { return v.began + v.Output - v.done }

func (c *calendar) add(v *Visit, step int) {
	list := &c.lists[step&(len(c.lists)-1)]
	v.sibling = *list
	*list = v
}

// put notes that a request ends with a step.
func (c *calendar) put(v *Visit, now, step int) {
	c.grow(step - now)
	c.add(v, step)
}

// take returns the list of the requests that end with a step, and forgets it.
func (c *calendar) take(step int) *Visit {
	list := &c.lists[step&(len(c.lists)-1)]
	v := *list
	*list = nil
	return v
}

func (c *calendar) remove(v *Visit) {
	at := &c.lists[v.ending()&(len(c.lists)-1)]
	for *at != v {
		at = &(*at).sibling
	}
	*at = v.sibling
	v.sibling = nil
}

// visits is a ring of waiting requests.
type visits struct {
	ring    []*Visit
	head, n int
}

func (q *visits) front() *Visit { return q.ring[q.head] }

func (q *visits) room() {
	if q.n < len(q.ring) {
		return
	}
	bigger := make([]*Visit, max(16, 2*len(q.ring)))
	for i := range q.n {
		bigger[i] = q.ring[(q.head+i)&(len(q.ring)-1)]
	}
	q.ring, q.head = bigger, 0
}

func (q *visits) push(v *Visit) {
	q.room()
	q.ring[(q.head+q.n)&(len(q.ring)-1)] = v
	q.n++
}

func (q *visits) pushFront(v *Visit) {
	q.room()
	q.head = (q.head - 1) & (len(q.ring) - 1)
	q.ring[q.head] = v
	q.n++
}

func (q *visits) pop() *Visit {
	v := q.ring[q.head]
	q.ring[q.head] = nil
	q.head = (q.head + 1) & (len(q.ring) - 1)
	q.n--
	return v
}
