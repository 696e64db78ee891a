package server

// Options say how the HTTP server behaves. The zero value behaves as vLLM, and serves the model under its own name.
type Options = ExchangeOptions
