package published

import "llmsweep/client/note"

// What a tool defines otherwise than llmsweep does. Each note has the tool's name; the sources are the tools' own, of
// the versions that testdata/results/README.md names.
var (
	// noteITLWeighted: the tool's inter-token latency is one mean for each request, so a stall inside a request is
	// averaged away, and each request weighs as much as it has tokens. It is kept as TPOT, which is the same.
	noteITLWeighted = note.Kind{Code: "published.itl-weighted-by-tokens", Args: []string{"tool"}}
	// noteITLPerChunk: the tool's inter-token latency is the gap between two chunks, however many tokens a chunk holds.
	noteITLPerChunk = note.Kind{Code: "published.itl-per-chunk", Args: []string{"tool"}}
	// noteTTFTEmptyChunk: the time to first token ends at the first chunk, even at one without text that only names the
	// role.
	noteTTFTEmptyChunk = note.Kind{Code: "published.ttft-empty-chunk", Args: []string{"tool"}}
	// noteTTFTZero: a request without a first token counts as a time to first token of 0.
	noteTTFTZero = note.Kind{Code: "published.ttft-missing-is-zero", Args: []string{"tool"}}
	// noteLatencyToEnd: the latency ends with the stream, after the chunk that counts tokens, not with the last token.
	noteLatencyToEnd = note.Kind{Code: "published.latency-to-end-of-stream", Args: []string{"tool"}}
	// noteRatesWhole: the rates are over the whole test, the ramp at its beginning and the drain at its end included.
	noteRatesWhole = note.Kind{Code: "published.rates-include-ramp-and-drain", Args: []string{"tool"}}
	// noteCancelled: requests that run at the end of a stage are cancelled, and no metric of a whole request counts
	// them.
	noteCancelled = note.Kind{Code: "published.cancelled-at-end", Args: []string{"tool"}}
	// noteNoWarmup: the tool's stages begin with nothing in flight, and their opening is not left out unless a warm-up
	// was set.
	noteNoWarmup = note.Kind{Code: "published.opening-not-left-out", Args: []string{"tool"}}
)
