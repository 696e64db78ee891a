// Package sim is a simulated LLM server: a discrete-event model of continuous batching, whose step times follow a
// roofline ([Config.StepTime]). Load generators are tested and demonstrated against it, because the instant of every
// token is known. [Engine] runs the model against the clock, real or virtual; [Config.Capacity] computes the throughput
// that it reaches. Package sim/server puts HTTP around it.
//
// The scheduler is the core of vLLM V1's: a FIFO queue; at most MaxNumSeqs sequences running; KV-cache blocks taken as
// a sequence grows; one token budget per step, used by decodes first and then by chunks of prompts; and when blocks
// run out, the youngest sequence is preempted and later recomputed.
//
// No model is computed and nothing is measured here. The package shares no code with the client that measures, so that
// each can reveal errors of the other.
package sim
