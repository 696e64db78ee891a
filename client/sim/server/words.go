package server

// words are the tokens that answers are made of. Each is exactly one token of the simulated tokenizer whatever stands
// before it, so that a text counted again comes to the same. Some take several bytes, some an escape in JSON.
var words = [...]string{
	" the", " of", " and", " to", " in", " is", " that", " it", " was", " for", " on", " with", " as", " at", " by",
	" this", " but", " not", " are", " from", " or", " have", " an", " they", " one", " you", " all", " her", " she",
	" we", " him", " been", " has", " when", " who", " will", " more", " no", " if", " out", " so", " said", " what",
	" up", " its", " than", " into", " them", " can", " only", " time", " new", " some", " may", " rate", " load",
	",", ".", ";", ":", "!", "?", "(", ")", "-", "7", "3", "0",
	" café", " naïf", " über", " año", " мир", " быть", " λόγο", "世", "界", "语", "速", "中", "あ", "한",
	"“", "”", "—", "€", "😀", "🚀", "\n", "\"", "\\", "/", "<", "&",
}

// wordAt picks the n-th token of the answer that a seed gives.
func wordAt(seed uint64, n int) int {
	return int(mix(seed+uint64(n)) % uint64(len(words)))
}
