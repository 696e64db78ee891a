// Package perplexity finds out how likely a server finds a text, and compares two servers on the same text.
//
// The text is cut into windows of a number of bytes, by its bytes alone, so that they are the same for every model and tokenizer. Each window is
// sent as a prompt. Its first half is context, and is not scored; of its second half each token is scored that begins in it. Windows overlap by
// half, so that all of the text but its first half window is scored once, and each token with at least half a window before it: the sliding
// window of Hugging Face's documentation, and of llama.cpp's perplexity tool, which scores second halves too.
//
// Sums are over tokens: negative log-likelihood / tokens is the logarithm of the perplexity, and over bytes, divided by ln 2, bits per byte. Both
// are ratios of sums over windows. Their intervals take a window as one value, with the linearization of a ratio, and reckon with the
// correlation of windows that follow each other ([stats.EffectiveN]).
package perplexity
