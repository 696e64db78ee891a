package cluster

import "time"

// queued is how many messages may wait to be sent.
const queued = 64

// maxLate is how much later than the others a rank may begin a stage.
const maxLate = 100 * time.Millisecond

// chunk is how many bytes of records a message carries: large enough for speed, and small enough for looks at the clock between two.
const chunk = 256 << 10
