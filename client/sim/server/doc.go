// Package server serves a [sim.Engine] over HTTP in the way of vLLM, SGLang, lmdeploy, llama.cpp, Ollama, TGI or Triton:
// their APIs and their differences within one API, the pages that identify them, and their metrics. It also injects
// faults. Every engine schedules as vLLM does; only the HTTP side differs. Texts are picked from a short list of words.
//
// Package exchange has one request and its answer, package dialect the APIs. They share no code with package client/api: two
// independent implementations of each protocol reveal each other's errors, and captured streams of real servers in testdata
// check both.
package server
