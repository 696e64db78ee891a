package sim

// Scheme begins a URL that stands for the embedded server; a preset may follow.
const Scheme = "sim:"
