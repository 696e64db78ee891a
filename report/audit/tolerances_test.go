package audit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTolerances: numbers a little beyond a tolerance are found, and those a little within it are not.
func TestTolerances(t *testing.T) {
	row := func(cells string) string { return heading + cells + "\n" }
	cold := func(mean, std string) string {
		return box("1.00 seconds", "4.90 seconds", "9.00 seconds", "17.00 seconds", "5.50 seconds", mean+" seconds",
			"7.50 seconds", "5.10 seconds", "2.00 seconds", std+" seconds", "11.11", "5.88",
			"60.00 seconds", "70.00 seconds", "1.67", "1.43", "500.00", "428.57")
	}
	even := func(std, tokens, mean, rate string) string {
		return box("1.00 seconds", "5.40 seconds", "9.00 seconds", "5.80 seconds", "7.50 seconds", "5.70 seconds",
			"5.00 seconds", "5.50 seconds", "2.00 seconds", std+" seconds", "11.11", "17.24", "5.50 seconds", "5.60 seconds",
			"30000", tokens, "300.00", mean, "500.00", rate)
	}
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"one at a time, 18 % off", row("| synchronous | 1.00 req/sec | 1.18 sec | 50.00 ms | 8.90 ms | 128.00 tokens/sec |"),
			[]string{"latency 4"}},
		{"one at a time, 13 % off", row("| synchronous | 1.00 req/sec | 1.13 sec | 50.00 ms | 8.50 ms | 128.00 tokens/sec |"),
			[]string{}},
		{"output 0.56 % off", block("502.50", "505.30"), []string{"arithmetic 13"}},
		{"output 0.46 % off", block("502.50", "504.80"), []string{}},
		{"10.4 % more tokens by the text", block("20000", "18000"), []string{"stream 10"}},
		{"a time a hundred thousandth of the column's, if in its unit",
			heading + good + good + good + "| x | 9 req/sec | 9.00 sec | 4.50 sec | n/a | n/a |\n", []string{}},
		{"5.5 % more tokens than the limit", box("30000", "54000", "300.00", "540.00", "500.00", "900.00"),
			[]string{"tokens 22"}},
		{"4.5 % more", box("30000", "53500", "300.00", "535.00", "500.00", "891.67"), []string{}},
		{"5.1 % longer than a closed loop", box("60.00 seconds", "66.30 seconds", "1.67", "1.51", "500.00", "452.49"),
			[]string{"closed-loop 6"}},
		{"4.9 % longer", box("60.00 seconds", "66.20 seconds", "1.67", "1.51", "500.00", "453.17"), []string{}},
		{"ten of a hundred take 3.4 medians", cold("6.20", "3.60"), []string{"cold 13"}},
		{"thirteen are no batch of ten", cold("6.54", "4.01"), []string{}},
		{"times that differ by 2.1 %", even("0.12", "30000", "300.00", "500.00"), []string{"limit 22"}},
		{"times that differ by 2.7 %", even("0.15", "30000", "300.00", "500.00"), []string{}},
		{"11 % fewer tokens than the limit", even("0.05", "45500", "455.00", "758.33"), []string{"limit 22"}},
		{"9 % fewer", even("0.05", "46600", "466.00", "776.67"), []string{}},
	} {
		if diff := cmp.Diff(c.want, audited(t, c.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
