package sim

// queue has the waiting sequences in order. It is a ring, so that a preempted one can go back to the front.
type queue struct {
	ring    []*Sequence
	head, n int
}

func (q *queue) at(i int) **Sequence { return &q.ring[(q.head+i)%len(q.ring)] }

func (q *queue) front() *Sequence { return *q.at(0) }

func (q *queue) push(s *Sequence) {
	q.makeRoom()
	*q.at(q.n) = s
	q.n++
}

func (q *queue) pushFront(s *Sequence) {
	q.makeRoom()
	q.head = (q.head + len(q.ring) - 1) % len(q.ring)
	q.n++
	*q.at(0) = s
}

func (q *queue) pop() {
	*q.at(0) = nil
	q.head = (q.head + 1) % len(q.ring)
	q.n--
}

func (q *queue) filter(keep func(*Sequence) bool) {
	kept := 0
	for i := range q.n {
		s := *q.at(i)
		*q.at(i) = nil
		if keep(s) {
			*q.at(kept) = s
			kept++
		}
	}
	q.n = kept
}

func (q *queue) makeRoom() {
	if q.n < len(q.ring) {
		return
	}
	larger := make([]*Sequence, max(16, 2*len(q.ring)))
	for i := range q.n {
		larger[i] = *q.at(i)
	}
	q.ring, q.head = larger, 0
}
