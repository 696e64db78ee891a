// Package sim is a simulated LLM server. Load generators are tested and demonstrated against it, because the instant of
// every token is known. [Engine] runs it against the clock, real or virtual; [Simulation] runs it as fast as the machine
// can. Package sim/server puts HTTP around an engine.
//
// The parts are packages: machine describes a server and computes the time of a step from a roofline; batching is the
// scheduler; habit and behaviour make a server go wrong on purpose, in virtual time as over HTTP (it collapses under a
// queue, sheds, limits rates, drifts, scales, pauses, batches its output, answers from a cache, drops connections or
// freezes); truth computes what a server sustains, so that a measurement can be compared with it; replica simulates
// millions of requests.
//
// No model is computed and nothing is measured here. The packages share no code with the client that measures, so that
// each can reveal errors of the other.
package sim
