// Package sim is a pretend LLM server. It exists so that a load generator can be tried, demonstrated and tested
// against a server whose every instant is known: a discrete-event engine that batches continuously on a stated
// roofline (Config.StepTime), a driver that runs the engine against the clock (Live), an HTTP server around that which
// speaks as vLLM, SGLang, lmdeploy, llama.cpp, Ollama, TGI or Triton would (NewHandler), and the capacity such a server
// must show (Config.Capacity). Whatever it speaks, it schedules as vLLM.
//
// The engine is what vLLM V1's scheduler is at heart: a FIFO queue, at most MaxNumSeqs running, KV-cache blocks taken
// as a sequence grows, one token budget per step shared by decodes (first) and chunks of prompts, and the youngest
// sequence preempted, to be recomputed, when blocks run out.
//
// Habits make a server go wrong on purpose, in virtual time as over HTTP: it collapses under a queue, sheds, limits rates,
// drifts, scales, pauses, batches its output, answers from a cache, drops connections or freezes (package habit,
// Config.Habits). Config.Truth computes what such a server sustains, so that a measurement can be compared with it. The preset
// plain8 is a server simple enough to compute by hand: 8 slots, a first token after 100 ms, then one each 10 ms.
//
// It never computes a model: texts are picked from a short list of words. It never measures anything, and it shares
// no code with the client that does, so that the two can contradict each other.
package sim
