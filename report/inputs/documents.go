// Finds the claims of the documents that results were read from.

package inputs

import (
	"slices"

	"llmsweep/report/claims"
	"llmsweep/report/published"
	"llmsweep/report/setup"
)

// ClaimsIn returns what the documents that results were read from claim about them, a list for each document that claims
// something. A document that is gone claims nothing.
func ClaimsIn(setups []setup.Setup) [][]claims.Claim {
	var all [][]claims.Claim
	var seen []string
	for i := range setups {
		src := setups[i].Run.Source
		if src == nil || src.Format != published.Stress && src.Format != published.Serving || slices.Contains(seen, src.File) {
			continue
		}
		seen = append(seen, src.File)
		doc, err := published.ParseFile(src.File)
		if err != nil {
			continue
		}
		if found := claims.Of(doc, setups); len(found) > 0 {
			all = append(all, found)
		}
	}
	return all
}
