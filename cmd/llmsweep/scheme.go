package main

// simScheme begins a URL that stands for the embedded server; a preset may follow.
const simScheme = "sim:"
