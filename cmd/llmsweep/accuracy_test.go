package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

// accuracyCells returns the cells of the comparison with other tools, by tool, in the order of the table.
func accuracyCells(t *testing.T, file string) map[string][]string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	type spread struct{ P50, P99 float64 }
	cells := map[string][]string{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r struct {
			Tool, Job string
			Load      int
			Says      struct {
				TTFT spread `json:"ttft_ms"`
			}
			Truth struct {
				TTFT    spread  `json:"ttft_ms"`
				Offered float64 `json:"offered_per_s"`
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		says, truth := r.Says.TTFT, r.Truth.TTFT
		switch {
		case r.Job == "rate":
			cells[r.Tool] = append(cells[r.Tool], fmt.Sprintf("%.0f", r.Truth.Offered))
		case r.Load == 100 || r.Load == 1000:
			cells[r.Tool] = append(cells[r.Tool], fmt.Sprintf("%.1f / %.1f, %.1f / %.1f", says.P50, truth.P50, says.P99, truth.P99))
		}
	}
	return cells
}
