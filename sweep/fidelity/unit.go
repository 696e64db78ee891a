package fidelity

import (
	"fmt"
	"slices"
	"strings"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// Notes on what limits a comparison. Side is "baseline" or "candidate".
var (
	noteNoLogProbs    = note.Kind{Code: "drift.no-logprobs"}
	noteTokenizers    = note.Kind{Code: "drift.tokenizers", Args: []string{"divided", "answers"}}
	driftNoteUnsteady = note.Kind{Code: "drift.unsteady", Args: []string{"baseline", "candidate", "of_baseline", "of_candidate"}}
	noteMissing       = note.Kind{Code: "drift.missing", Args: []string{"answered", "canaries"}}
	noteEngines       = note.Kind{Code: "drift.engines", Args: []string{"baseline", "candidate"}}
)

// templated reports whether an API puts prompts into the model's chat template. The others send them as they are.
func templated(api string) bool {
	return slices.Contains([]string{"chat", "responses", "messages"}, api)
}

// comparable returns an error where two runs did not ask the same of their servers.
func comparable(a, b *DriftRun) error {
	if a.Fidelity.Set != b.Fidelity.Set {
		return fmt.Errorf("%s asked other canaries (set %s, %d of them) than %s (set %s, %d): only answers to the same can be compared; measure both with the same --canaries",
			b.Name, b.Fidelity.Set, b.Fidelity.Canaries, a.Name, a.Fidelity.Set, a.Fidelity.Canaries)
	}
	return Alike(a.Name, a.Run, b.Name, b.Run)
}

// Alike returns an error where two runs ask their servers in ways whose answers cannot be compared. It names the runs.
func Alike(nameA string, a *rundir.Run, nameB string, b *rundir.Run) error {
	switch {
	case templated(a.Target.API) != templated(b.Target.API):
		return fmt.Errorf("%s asked by --api %s and %s by --api %s: only one of them puts prompts into the model's chat template, so that answers cannot be compared; use one --api for both",
			nameA, a.Target.API, nameB, b.Target.API)
	case thinking(a) != thinking(b):
		return fmt.Errorf("%s was measured with %s and %s with %s, so that answers cannot be compared; measure both alike",
			nameA, thinking(a), nameB, thinking(b))
	}
	return nil
}

// thinking returns the flag with which a run asked for reasoning or ruled it out.
func thinking(r *rundir.Run) string {
	switch t := r.Workload.Think; {
	case t == nil:
		return "neither --think nor --no-think"
	case *t:
		return "--think"
	}
	return "--no-think"
}

// otherTokens is the share of answers that are divided into other tokens from which on two servers have other tokenizers, or show
// tokens otherwise. With one tokenizer, a model rarely spells a text in two ways.
const otherTokens = 0.1

// chooseUnit decides whether tokens or texts are compared, and notes what limits the comparison.
func (c *comparison) chooseUnit() {
	all, divided, bare := 0, 0, 0
	for i := range c.a.Fidelity.Canaries {
		if !c.both(i) {
			continue
		}
		all++
		a, b := c.a.alone[i], c.b.alone[i]
		if len(a.Tokens) == 0 || len(b.Tokens) == 0 {
			bare++
		} else if dividedOtherwise(a, b) {
			divided++
		}
	}
	add := func(yes bool, n note.Note) {
		if yes {
			c.notes = append(c.notes, n)
		}
	}
	add(all < c.a.Fidelity.Canaries, noteMissing.New(all, c.a.Fidelity.Canaries))
	tokenizers := float64(divided) > otherTokens*float64(all)
	c.texts = tokenizers || bare > all/2
	add(tokenizers, noteTokenizers.New(divided, all))
	add(!tokenizers && c.texts, noteNoLogProbs.New())
	null := [2]rundir.Agreed{sum(c.against(c.a, c.a.again)), sum(c.against(c.b, c.b.again))}
	x, y := null[0].Differing(), null[1].Differing()
	add(x+y > 0, driftNoteUnsteady.New(x, y, null[0].Answers, null[1].Answers))
	if a, b := c.a.Target.Engine, c.b.Target.Engine; a != "" && b != "" {
		add(!strings.EqualFold(a, b), noteEngines.New(a, b))
	}
}

// dividedOtherwise reports whether a text that both answers begin with is divided into other tokens.
func dividedOtherwise(first, second *Answer) bool {
	a, b, n := first.Tokens, second.Tokens, 0
	for n < len(a) && n < len(b) && a[n].Text == b[n].Text {
		n++
	}
	if n == len(a) || n == len(b) {
		return false
	}
	if first.Text != "" && first.Text == second.Text {
		return true
	}
	x, y := spelled(a[n:]), spelled(b[n:])
	longer := max(len(a[n].Text), len(b[n].Text))
	return len(x) >= longer && len(y) >= longer && x[:longer] == y[:longer]
}
