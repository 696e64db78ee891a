// Simulates a server for millions of requests: as package sim does, to the nanosecond, but from sums over
// the requests of a step. Plans of a fleet run on it.

package sim
