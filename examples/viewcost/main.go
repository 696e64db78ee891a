// Viewcost measures what the live terminal view costs the measurement that it shows. On one server it measures the same load with the view and
// with plain lines in turns (view, plain; then plain, view), each in a terminal of its own, and compares how late requests were sent (lag), how late
// tokens were read (read delay), and how busy this program was. It prints the ratio of each with its 95 % interval, from the logarithms of the ratios
// of the pairs. It needs the program script of util-linux, which makes terminals.
//
//	go build -o /tmp/llmsweep ./cmd/llmsweep
//	go run ./examples/viewcost -llmsweep /tmp/llmsweep
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/stats"
)

// load is the load of each measurement.
type load struct {
	rate     float64
	requests int
}

// metric is one number of a measurement.
type metric struct {
	name string
	unit string
	per  float64 // of the unit in the number
	of   func(*rundir.Stage) rundir.Number
}

func metrics() []metric {
	return []metric{
		{"lag p50", "ms", 1e3, func(s *rundir.Stage) rundir.Number { return s.Lag.P50 }},
		{"lag p99", "ms", 1e3, func(s *rundir.Stage) rundir.Number { return s.Lag.P99 }},
		{"read delay p50", "ms", 1e3, func(s *rundir.Stage) rundir.Number { return s.ReadDelay.P50 }},
		{"read delay p99", "ms", 1e3, func(s *rundir.Stage) rundir.Number { return s.ReadDelay.P99 }},
		{"TTFT p50", "ms", 1e3, func(s *rundir.Stage) rundir.Number { return s.TTFT.P50 }},
		{"CPU", "%", 100, func(s *rundir.Stage) rundir.Number { return s.ClientCPU }},
	}
}

func main() {
	log.SetFlags(0)
	program := flag.String("llmsweep", "llmsweep", "the program to measure")
	pairs := flag.Int("pairs", 12, "pairs of measurements")
	rate := flag.Float64("rate", 50, "requests per second")
	requests := flag.Int("requests", 300, "requests of a measurement")
	flag.Parse()
	dir, err := os.MkdirTemp("", "viewcost")
	if err != nil {
		log.Fatal(err)
	}
	failure := measure(*program, dir, *pairs, load{*rate, *requests})
	os.RemoveAll(dir)
	if failure != nil {
		log.Fatal(failure)
	}
}

// measure runs the pairs against a simulated server, and prints the table.
func measure(program, dir string, pairs int, l load) error {
	url, stop, err := serve(program)
	if err != nil {
		return err
	}
	defer stop()
	var view, plain []*rundir.Stage
	for i := range pairs {
		var pair [2]*rundir.Stage // with the view, and without
		for k := range 2 {
			side := (i + k) % 2
			if pair[side], err = once(program, filepath.Join(dir, fmt.Sprintf("%d-%d", i, side)), url, side == 0, l); err != nil {
				return err
			}
		}
		view, plain = append(view, pair[0]), append(plain, pair[1])
		fmt.Printf("pair %d: lag p99 %.3f ms with the view, %.3f ms without\n", i+1, 1e3*pair[0].Lag.P99.Value(), 1e3*pair[1].Lag.P99.Value())
	}
	fmt.Printf("\n%d pairs, %g req/s, %d requests each; geometric means\n", pairs, l.rate, l.requests)
	fmt.Printf("%-16s %10s %10s %8s   %s\n", "", "view", "plain", "ratio", "95 % interval")
	for _, m := range metrics() {
		print(m, view, plain)
	}
	return nil
}

// print prints a row of the table.
func print(m metric, view, plain []*rundir.Stage) {
	var logs []float64
	var a, b float64
	for i := range view {
		x, y := m.of(view[i]), m.of(plain[i])
		if !x.Known() || !y.Known() || x.Value() <= 0 || y.Value() <= 0 {
			continue
		}
		logs = append(logs, math.Log(x.Value()/y.Value()))
		a, b = a+math.Log(x.Value()), b+math.Log(y.Value())
	}
	n := float64(len(logs))
	if n < 2 {
		fmt.Printf("%-16s not known\n", m.name)
		return
	}
	mean, squares := 0.0, 0.0
	for _, v := range logs {
		mean += v / n
	}
	for _, v := range logs {
		squares += (v - mean) * (v - mean)
	}
	half := stats.StudentQuantile(0.975, n-1) * math.Sqrt(squares/(n-1)/n)
	fmt.Printf("%-16s %7.3f %-2s %7.3f %-2s %8.3f   %.3f to %.3f\n", m.name, m.per*math.Exp(a/n), m.unit, m.per*math.Exp(b/n), m.unit, math.Exp(mean), math.Exp(mean-half), math.Exp(mean+half))
}

// serve starts a simulated server as a process of its own, and returns its address and how to end it.
func serve(program string) (url string, stop func(), err error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	address := free.Addr().String()
	free.Close()
	server := exec.Command(program, "sim", "--listen", address)
	if err := server.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = server.Process.Signal(os.Interrupt)
		_ = server.Wait()
	}
	for range 100 {
		if r, err := http.Get("http://" + address + "/v1/models"); err == nil {
			r.Body.Close()
			return "http://" + address, stop, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	stop()
	return "", nil, fmt.Errorf("the server at %s did not answer", address)
}

// once measures the load once, in a terminal of 120 columns.
func once(program, dir, url string, view bool, l load) (*rundir.Stage, error) {
	plain := " --plain"
	if view {
		plain = ""
	}
	command := "stty cols 120 rows 40; exec " + program + " run " + url + " --rate " + strconv.FormatFloat(l.rate, 'g', -1, 64) + " --requests " + strconv.Itoa(l.requests) +
		" --prompt-tokens 64 --output-tokens 32 --no-selftest --seed 1 --out " + dir + plain
	c := exec.Command("script", "-qec", command, "/dev/null")
	c.Env = append(os.Environ(), "TERM=xterm-256color", "CI=", "NO_COLOR=")
	out, err := c.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w:\n%s", err, out)
	}
	const wholeScreen = "\x1b[?1049h" // asks a terminal for a screen apart, which only the view does
	if drawn := bytes.Contains(out, []byte(wholeScreen)); drawn != view {
		return nil, fmt.Errorf("the view was wanted: %v, and drawn: %v", view, drawn)
	}
	run, err := store.Open(dir)
	if err != nil {
		return nil, err
	}
	if len(run.Stages) != 1 {
		return nil, fmt.Errorf("%s has %d stages", dir, len(run.Stages))
	}
	return &run.Stages[0], nil
}
