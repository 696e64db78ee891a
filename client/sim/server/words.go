package server

// words are the tokens of answers. Each is exactly one token of the simulated tokenizer whatever precedes it, so that
// tokenizing an answer gives its number of tokens. Some have several bytes, some need an escape in JSON.
var words = [...]string{
	" the", " of", " and", " to", " in", " is", " that", " it", " was", " for", " on", " with", " as", " at", " by",
	" this", " but", " not", " are", " from", " or", " have", " an", " they", " one", " you", " all", " her", " she",
	" we", " him", " been", " has", " when", " who", " will", " more", " no", " if", " out", " so", " said", " what",
	" up", " its", " than", " into", " them", " can", " only", " time", " new", " some", " may", " rate", " load",
	",", ".", ";", ":", "!", "?", "(", ")", "-", "7", "3", "0",
	" café", " naïf", " über", " año", " мир", " быть", " λόγο", "世", "界", "语", "速", "中", "あ", "한",
	"“", "”", "—", "€", "😀", "🚀", "\n", "\"", "\\", "/", "<", "&",
}

// Word returns the n-th token of the answer with the given seed.
func Word(seed uint64, n int) string {
	return words[mix(seed+uint64(n))%uint64(len(words))]
}
