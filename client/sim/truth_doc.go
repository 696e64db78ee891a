// Computes what a simulated server sustains, without a measurement, so that one can be compared with it:
// the capacity of a server without habits ([CapacityOf]), and what one with habits takes, answers and refuses ([Of]).

package sim
