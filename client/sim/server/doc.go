// Package server serves a [sim.Engine] over HTTP as vLLM, SGLang or Anthropic does: its APIs, the pages that identify
// it, and its metrics. It also injects faults. Answers are words from a short list.
//
// It shares no code with package client/api: two independent implementations of each protocol reveal each other's
// errors, and captured streams of real servers check both.
package server
