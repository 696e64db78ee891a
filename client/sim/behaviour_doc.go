// What the habits of a simulated server do as time passes (package habit has their descriptions): it
// slows steps and stalls them, refuses requests, answers from a cache, drops connections, holds back output, and freezes.

package sim
