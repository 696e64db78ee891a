// Package compare compares configurations: their figures, the differences with intervals, and the effect of more GPUs,
// another engine or another quantization. It refuses to compare different workloads unless asked to, calls a difference
// shown only where its interval shows it, and gives no interval to results of other tools, which come without records.
//
// It has one kind of number, the [Figure], and one kind of difference, the [Difference] of two figures. Tables, sentences
// and gates are views of them. Begin with [Of], [OfRuns] or [OfPair]; the list of metrics is in metrics.go.
package compare

import (
	"errors"
	"io"
	"slices"

	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/report/table"
)

// schema names the version of a Comparison's JSON.
const schema = "llmsweep.compare/v2"

// Comparison is setups side by side. The first is the baseline.
type Comparison struct {
	Schema   string          `json:"schema"`
	Workload string          `json:"workload,omitempty"` // empty where they differ
	Runs     [2]int          `json:"runs,omitzero"`      // of each side, where runs are the unit
	Setups   []Configuration `json:"setups"`
	Changes  []Difference    `json:"changes"` // of each setup but the first
	Factors  []Factor        `json:"factors"` // what one thing changes, the rest being equal
	LeftOut  []setup.RowMark `json:"left_out,omitempty"`
	Marked   []setup.RowMark `json:"marked,omitempty"` // rows that were used, and that the audit doubts or remarks on
	Tails    []Tail          `json:"tails,omitempty"`
	groups   []group
	hitNotes []lang.Text // which hit rates differ
}

// Of compares setups. anyWorkload compares also runs that asked different things of their servers.
func Of(setups []setup.Setup, anyWorkload bool) (*Comparison, error) {
	if len(setups) == 1 && slices.ContainsFunc(setups[0].Marked, func(o setup.RowMark) bool { return o.Reprint }) {
		return nil, errors.New("the results are one measurement, which the document prints twice")
	}
	if len(setups) < 2 {
		return nil, errors.New("compare needs two results or more: run directories, or documents with published tables")
	}
	c := &Comparison{Schema: schema, groups: groups(setups, anyWorkload)}
	if len(c.groups) == len(setups) {
		return nil, differentWorkloads{&setups[0], &setups[1]}
	}
	several := len(c.groups) > 1
	for i := range setups {
		c.Setups = append(c.Setups, Measure(&setups[i]))
		if several {
			c.Setups[i].Workload = workload(setups[i].Run, lang.English)
		}
		c.LeftOut = append(c.LeftOut, setups[i].LeftOut...)
		c.Marked = append(c.Marked, setups[i].Marked...)
	}
	hitGroups := make([]string, len(setups))
	if !anyWorkload {
		if err := c.checkHits(); err != nil {
			return nil, err
		}
		hitGroups = c.hitGroups()
	}
	for _, g := range c.groups {
		first := g.members[0]
		for _, i := range g.members[1:] {
			c.addDifferences(&c.Setups[first], &c.Setups[i], hitGroups[i] == hitGroups[first])
		}
		c.Tails = append(c.Tails, c.tails(g)...)
	}
	if !several && c.groups[0].run != nil {
		c.Workload = workload(c.groups[0].run, lang.English)
	}
	c.Factors = c.factors(hitGroups, several)
	return c, nil
}

// addDifferences adds those of a setup from a baseline. Where they did not have like hit rates, only what these do not
// change is compared.
func (c *Comparison) addDifferences(before, after *Configuration, like bool) {
	for _, key := range Keys() {
		if !like && !slices.Contains([]string{keyUsers, keyEach, keyUncached, KeyAccuracy, KeyErrors}, key) {
			continue
		}
		if d := differenceOf(before.figure(key), after.figure(key)); !d.IsZero() {
			d.Setup, d.From = after.Name, before.Name
			c.Changes = append(c.Changes, d)
		}
	}
}

// Differences returns those of a setup, in the order of the tables.
func (c *Comparison) Differences(setup string) (all []Difference) {
	for _, d := range c.Changes {
		if d.Setup == setup {
			all = append(all, d)
		}
	}
	return all
}

// difference is that of a setup in a metric; zero where there is none.
func (c *Comparison) difference(setup, key string) (d Difference) {
	for _, d := range c.Differences(setup) {
		if d.Key == key {
			return d
		}
	}
	return d
}

// JSON writes the comparison, indented.
func (c *Comparison) JSON(w io.Writer) error { return table.WriteJSON(w, c) }
