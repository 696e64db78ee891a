// Command evidence makes a Markdown table of the statistical claims from the output of their tests:
//
//	go test ./... -tags statistics -timeout 6h -json | go run ./examples/evidence > examples/evidence/table.md
//
// A row is an attribute that simtest.Claim has set: the claim, what the test demands, and what it found, with the
// commit that is checked out, or that -commit names. With -keep, rows of an earlier table stay whose claims were not
// measured again, with the commit that they have there:
//
//	cp examples/evidence/table.md /tmp/earlier.md
//	FAMILY=pauses go test ./sweep -tags statistics -run TestHabitsAreNamed -json | go run ./examples/evidence -keep /tmp/earlier.md > examples/evidence/table.md
//
// A short form, with 4 servers of each habit, still fails where the program judges wrongly. .ci/run has it:
//
//	go test -tags statistics -short ./sweep ./sweep/pair
//
// The exit code is 1 where a test failed or no test made a claim; the table is then written too.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"llmsweep/sweep/simtest"
)

func main() {
	keep := flag.String("keep", "", "an earlier table, whose rows stay where their claims were not measured again")
	code := flag.String("commit", "", "the commit that was measured; empty for the one that is checked out")
	flag.Parse()
	if err := run(os.Stdin, os.Stdout, os.Stderr, *keep, *code); err != nil {
		fmt.Fprintln(os.Stderr, "evidence:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out, log io.Writer, keep, code string) (err error) {
	if code == "" {
		if code, err = commit(); err != nil {
			return err
		}
	}
	found, err := read(in, log)
	if err != nil {
		return err
	}
	var earlier []string
	if keep != "" {
		text, err := os.ReadFile(keep)
		if err != nil {
			return err
		}
		earlier = found.earlierRows(string(text))
	}
	return errors.Join(found.write(out, code, earlier), found.err())
}

// commit returns the hash of the commit that is checked out, with a remark where files differ from it.
func commit() (string, error) {
	hash, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil {
		return "", fmt.Errorf("git rev-parse HEAD: %w", err)
	}
	// The table itself is being written while this runs: it does not count.
	changed, err := exec.Command("git", "status", "--porcelain", "--untracked-files=no", "--",
		":!examples/evidence").Output()
	if err != nil {
		return "", fmt.Errorf("git status: %w", err)
	}
	code := strings.TrimSpace(string(hash))
	if len(changed) > 0 {
		code += " with changes that are not committed"
	}
	return code, nil
}

// event is a line of "go test -json" (go doc test2json).
type event struct {
	Action, Package, Test, Key, Value, Output string
	Elapsed                                   float64 // seconds
}

type row struct{ pkg, test, cells string }

type evidence struct {
	rows   []row
	small  bool               // a test was not at full size
	failed []string           // tests and packages
	took   map[string]float64 // seconds, by test
}

// read collects the claims and the failures. What the failed tests and the build printed goes to log.
func read(in io.Reader, log io.Writer) (*evidence, error) {
	e := &evidence{took: map[string]float64{}}
	printed := map[string]string{} // by test
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<24) // longer than any line of a test
	for lines.Scan() {
		var v event
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			return nil, fmt.Errorf("%q is no output of go test -json: %w", lines.Text(), err)
		}
		name := strings.TrimPrefix(v.Package, "llmsweep/") + " " + v.Test
		switch v.Action {
		case "attr":
			if v.Key == simtest.ClaimKey || v.Key == simtest.SmallClaimKey {
				e.small = e.small || v.Key == simtest.SmallClaimKey
				e.rows = append(e.rows, row{strings.TrimPrefix(v.Package, "llmsweep/"), v.Test, v.Value})
			}
		case "build-output":
			fmt.Fprint(log, v.Output)
		case "output":
			printed[name] += v.Output
		case "pass", "fail", "skip":
			if v.Action == "fail" {
				e.failed = append(e.failed, name)
				fmt.Fprint(log, printed[name])
			}
			delete(printed, name)
			e.took[name] = v.Elapsed
		}
	}
	return e, lines.Err()
}

const columns = "| package | claim | wanted | got | test | minutes | commit |\n|---|---|---|---|---|---|---|\n"

// earlierRows returns the rows of an earlier table whose claims were not measured again.
func (e *evidence) earlierRows(table string) (rows []string) {
	_, body, _ := strings.Cut(table, columns)
	for line := range strings.Lines(body) {
		cells := strings.Split(line, " | ")
		again := slices.ContainsFunc(e.rows, func(r row) bool {
			return len(cells) > 1 && cells[0] == "| "+r.pkg && strings.HasPrefix(r.cells, cells[1]+" | ")
		})
		if len(cells) == 7 && !again {
			rows = append(rows, line)
		}
	}
	return rows
}

func (e *evidence) write(out io.Writer, commit string, earlier []string) error {
	size := "at full size (`-tags statistics`)"
	if e.small {
		size = "in part at a small size (without `-tags statistics`, or with `-short`), at which chance is large"
	}
	const short = 12 // digits of a commit's hash
	rows := slices.Clone(earlier)
	for _, r := range e.rows {
		result := "passed"
		if slices.Contains(e.failed, r.pkg+" "+r.test) {
			result = "**failed**"
		}
		rows = append(rows, fmt.Sprintf("| %s | %s | %s %s | %.1f | %s |\n", r.pkg, r.cells, r.test, result,
			e.took[r.pkg+" "+r.test]/60, commit[:min(short, len(commit))]))
	}
	slices.Sort(rows)
	_, err := fmt.Fprintf(out, "# Statistical claims\n\nMeasured in virtual time %s. Each row names the commit that it "+
		"was measured at. How many servers it was measured on is in the column \"got\". \"minutes\" is the time of the "+
		"whole test, which may have measured several rows.\n\n%s%s",
		size, columns, strings.Join(rows, ""))
	return err
}

// err returns an error where a test failed or there is no claim.
func (e *evidence) err() error {
	if len(e.failed) > 0 {
		return fmt.Errorf("failed: %s", strings.Join(e.failed, ", "))
	}
	if len(e.rows) == 0 {
		return errors.New("no test made a claim")
	}
	return nil
}
