package cluster

import "time"

// Queued is how many messages may wait to be sent.
const Queued = 64

// MaxLate is how much later than the others a rank may begin a stage.
const MaxLate = 100 * time.Millisecond

// Chunk is how many bytes of records a message carries: large enough for speed, and small enough for looks at the clock between two.
const Chunk = 256 << 10
