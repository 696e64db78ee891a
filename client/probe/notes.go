package probe

import "llmsweep/client/note"

// What the preflight learned about the server that a reader of the results should know. Lengths are in tokens.
var (
	noteTooLong    = note.Kind{Code: "probe.too-long", Args: []string{"prompt", "output", "context"}}
	noteOllamaCuts = note.Kind{Code: "probe.ollama-cuts-prompts", Args: []string{"prompt", "output", "context", "needed"}}
	noteFirstModel = note.Kind{Code: "probe.first-model", Args: []string{"models", "model"}}
	noteHTTP2      = note.Kind{Code: "probe.http2"}
	noteBusy       = note.Kind{Code: "probe.busy", Args: []string{"seconds"}}

	// Which API is measured. error is the server's refusal in its own words.
	noteCompletions = note.Kind{Code: "probe.completions", Args: []string{"error"}}
	noteNewerAPI    = note.Kind{Code: "probe.newer-api", Args: []string{"error", "api"}}
	noteRejected    = note.Kind{Code: "probe.rejected-field", Args: []string{"field", "error"}}

	// How answers arrive and how their tokens are counted. tokens is the mean number of tokens in a chunk.
	noteHeldBack      = note.Kind{Code: "probe.held-back", Args: []string{"chunks"}}
	noteChunksCounted = note.Kind{Code: "probe.chunks-counted"}
	noteCountsEach    = note.Kind{Code: "probe.packed-counts-each", Args: []string{"tokens"}}
	noteCountsRunning = note.Kind{Code: "probe.packed-running-counts", Args: []string{"tokens"}}
	noteCountsNone    = note.Kind{Code: "probe.packed-no-counts", Args: []string{"tokens"}}

	// Whether the length of answers can be set. engine is empty where it is not known.
	noteCountDoubtful = note.Kind{Code: "probe.count-doubtful", Args: []string{"asked", "chunks", "counted"}}
	noteLengthIgnored = note.Kind{Code: "probe.length-ignored", Args: []string{"asked", "sent"}}
	noteNotForced     = note.Kind{Code: "probe.length-not-forced", Args: []string{"engine"}}
	noteNoIgnoreEOS   = note.Kind{Code: "probe.no-ignore-eos"}
	noteShorter       = note.Kind{Code: "probe.shorter-than-asked", Args: []string{"asked", "sent"}}

	// Whether the model does as --think and --no-think ask.
	noteThinkNoAPI    = note.Kind{Code: "probe.think-not-in-api", Args: []string{"api"}}
	noteThinkRefused  = note.Kind{Code: "probe.think-refused"}
	noteThinkNone     = note.Kind{Code: "probe.think-no-reasoning"}
	noteThinkUnbidden = note.Kind{Code: "probe.think-although-off"}

	// Why the server's prefix cache was not emptied.
	noteCacheEngine  = note.Kind{Code: "probe.cache-engine", Args: []string{"engine"}}
	noteCacheDevMode = note.Kind{Code: "probe.cache-dev-mode", Args: []string{"url"}}
	noteCacheNeither = note.Kind{Code: "probe.cache-neither", Args: []string{"url"}}
	noteCacheBusy    = note.Kind{Code: "probe.cache-busy", Args: []string{"url", "time"}}
	noteCacheRefused = note.Kind{Code: "probe.cache-refused", Args: []string{"url", "error"}}
)
