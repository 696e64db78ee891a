// Command routers writes the tables of README.md from the comparisons in results.
//
//	go run ./examples/routers -o examples/routers/README.md
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
)

// The lines of README.md between which the tables are.
const (
	begin = "<!-- tables -->\n"
	end   = "<!-- end -->\n"
)

func main() {
	results := flag.String("results", "examples/routers/results", "where measure.sh wrote")
	output := flag.String("o", "", "the README to write the tables into; standard output by default")
	flag.Parse()
	if err := run(*results, *output); err != nil {
		log.SetFlags(0)
		log.Fatal("routers: ", err)
	}
}

func run(results, output string) error {
	made, err := tables(results)
	if err != nil {
		return err
	}
	if output == "" {
		fmt.Print(made)
		return nil
	}
	b, err := os.ReadFile(output)
	if err != nil {
		return err
	}
	b, err = with(b, made)
	if err != nil {
		return err
	}
	return os.WriteFile(output, b, 0o644)
}

// with puts the tables into a document.
func with(document []byte, made string) ([]byte, error) {
	before, rest, ok := bytes.Cut(document, []byte(begin))
	_, after, ends := bytes.Cut(rest, []byte(end))
	if !ok || !ends {
		return nil, fmt.Errorf("the document has no lines %q and %q", begin, end)
	}
	return []byte(string(before) + begin + "\n" + made + "\n" + end + string(after)), nil
}

// comparison is what compare --format json prints.
type comparison struct {
	Rows []row `json:"rows"`
}

// row is a metric at a load. Ratio, Low and High are relative differences: 0.1 is 10 % more than A.
type row struct {
	Key              string
	A, B             float64
	Ratio, Low, High float64
	Shown            bool // the interval does not include 0
}

// swept is the part of a sweep's result that names habits.
type swept struct {
	Warnings []struct {
		Code string
		Args struct {
			Tokens, Gap, Share float64
		}
	}
}

// tables returns a table of each kind of servers, and what sweeps through the routers named.
func tables(dir string) (string, error) {
	var b strings.Builder
	for _, kind := range []struct{ name, text string }{
		{"sim", "Two simulated servers, each with 64 slots, 6 ms to the first token and 2 ms for each after it:"},
		{"llamacpp", "Two `llama-server` b10434 with the model of [fidelity](../fidelity) in f16, 4 slots each, on one core:"},
	} {
		rows := ""
		for _, router := range []string{"nginx", "nginx-buffering", "sglang-router", "litellm"} {
			c := comparison{}
			if err := read(filepath.Join(dir, kind.name+"-"+router+".json"), &c); os.IsNotExist(err) {
				continue
			} else if err != nil {
				return "", err
			}
			for _, load := range []struct{ key, text string }{{"c1", "1 in flight"}, {"8rps", "8 req/s"}, {"c8", "8 in flight"}} {
				rows += fmt.Sprintf("| %s | %s | %s | %s | %s |\n", router, load.text, c.cell("ttft@"+load.key, 1000, " ms"), c.cell("itl@"+load.key, 1000, " ms"), c.cell("tokens_per_s@"+load.key, 1, ""))
			}
		}
		if rows != "" {
			fmt.Fprintf(&b, "%s\n\n| router | load | TTFT | ITL | output tokens/s |\n|---|---|---|---|---|\n%s\n", kind.text, rows)
		}
	}
	b.WriteString("What a sweep through the router named, with the same simulated servers behind it:\n\n| router | habit |\n|---|---|\n")
	for _, router := range []string{"nginx", "nginx-buffering", "sglang-router", "litellm"} {
		s := swept{}
		if err := read(filepath.Join(dir, "sim-"+router+".sweep.json"), &s); os.IsNotExist(err) {
			continue
		} else if err != nil {
			return "", err
		}
		habit := "none"
		for _, w := range s.Warnings {
			if w.Code == "habit.batches" {
				habit = fmt.Sprintf("`batches`: %.1f tokens at a time in %.0f %% of the answers", w.Args.Tokens, 100*w.Args.Share)
			}
		}
		fmt.Fprintf(&b, "| %s | %s |\n", router, habit)
	}
	return b.String(), nil
}

func read(file string, to any) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, to)
}

// cell shows a row: both values, and the difference with its interval. Where the interval includes 0, no difference is shown.
func (c *comparison) cell(key string, scale float64, unit string) string {
	for _, r := range c.Rows {
		if r.Key != key {
			continue
		}
		difference := percent(r.Ratio) + " %"
		if !r.Shown {
			difference = "~"
		}
		return fmt.Sprintf("%s → %s%s, %s (%s to %s)", plain(scale*r.A), plain(scale*r.B), unit, difference, percent(r.Low), percent(r.High))
	}
	return ""
}

// plain returns a number with three digits, and no exponent.
func plain(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// percent returns a share as a change in percent.
func percent(share float64) string {
	if share >= 1 {
		return fmt.Sprintf("%+.0f", 100*share)
	}
	return fmt.Sprintf("%+.1f", 100*share)
}
