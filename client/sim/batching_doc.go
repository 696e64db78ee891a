// The scheduler of a simulated LLM server: a discrete-event model of continuous batching, without a
// clock. Its core is vLLM V1's: a FIFO queue; at most MaxNumSeqs sequences running; KV-cache blocks taken as a sequence
// grows; one token budget per step, used by decodes first and then by chunks of prompts; and when blocks run out, the
// youngest sequence is preempted and later recomputed.

package sim
