// Package fidelity finds out whether a server answers under load as it does alone, and as another server does.
//
// Canaries are prompts that are asked for their most likely answer, at temperature 0: alone, alone again, and as a few per cent of the
// requests of every stage. All answers are compared with those of the first time alone, token for token. How far the second time differs
// from the first is the null: what the server does by itself. A stage differs where more of its answers differ than that explains.
//
// The test is exact, and paired by canary: if load made no difference, any of a canary's later answers could as well be the one that was
// got alone. So, given how many of a canary's answers differ, how many of them came under load has a hypergeometric distribution, and
// their sum over the canaries has the convolution of those ([Test]). It is the exact form of the test of Cochran, Mantel and Haenszel,
// and for one answer each that of McNemar. Holm's procedure corrects for the number of stages.
package fidelity
