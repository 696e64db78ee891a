// Package sim is a simulated LLM server. Load generators are tested and demonstrated against it, because the instant of
// every token is known. [Engine] runs it against the clock, real or virtual. Package sim/server puts HTTP around an
// engine.
//
// The parts:
//   - config, roofline, plain: a server is described by GPU, model, quantization and the limits of its scheduler
//     ([MachineConfig], [Preset]). They give the requests that it takes ([MachineConfig.Fits]) and the time of a step
//     ([MachineConfig.StepTime]), which follows a roofline from data sheets or fixed times ([Plain]).
//   - scheduler, queue, cache: a discrete-event model of continuous batching after vLLM V1. The queue is first in,
//     first out. At most MaxNumSeqs sequences run. KV-cache blocks are taken as a sequence grows. Each step has one
//     token budget, used by decodes first and then by chunks of prompts. When blocks run out, the youngest sequence is
//     preempted and computed again.
//   - habit, behaviour: what a server does wrong ([Habits]): it slows steps, stalls, refuses requests, answers from a
//     cache, drops connections, holds back output, and freezes.
//   - capacity: what a server without habits sustains, computed without a measurement ([CapacityOf]).
//
// No model is computed and nothing is measured here. The package shares no code with the client that measures, so that
// each can reveal errors of the other.
package sim
