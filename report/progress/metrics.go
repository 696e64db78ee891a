package progress

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// metrics has one label, the class of a failed request: there are about twenty.
type metrics struct {
	began time.Time

	mu           sync.Mutex
	now          load.Snapshot
	done, failed int            // of the stages before
	errors       map[string]int // of the stages before
	begun, ended int            // stages
	rate         float64        // asked for in the stage; 0 for a closed loop
	low, high    time.Duration  // left; negative where it is not known
	last         rundir.Stage   // that ended
	drawn        time.Duration  // how long the page took
}

func (m *metrics) change(alter func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	alter()
}

func (m *metrics) addStage() {
	m.done += m.now.Done
	m.failed += m.now.Failed
	m.errors = m.errorCounts()
	m.now = load.Snapshot{TTFT: -1, ITL: -1}
}

func (m *metrics) errorCounts() map[string]int {
	all := maps.Clone(m.errors)
	if all == nil {
		all = map[string]int{}
	}
	for class, k := range m.now.Errors {
		all[class] += k
	}
	return all
}

func (m *metrics) progress(s load.Snapshot) {
	m.change(func() {
		// the stage is over, or another count begins
		if s.Phase == load.PhaseIdle || s.Done+s.Failed < m.now.Done+m.now.Failed {
			m.addStage()
		}
		m.now = s
	})
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func (m *metrics) writePrometheus(w io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	head := func(name, help, kind string) {
		fmt.Fprintf(w, "# HELP llmsweep_%s %s\n# TYPE llmsweep_%s %s\n", name, help, name, kind)
	}
	put := func(name, help, kind string, v float64, known bool) {
		if known {
			head(name, help, kind)
			fmt.Fprintf(w, "llmsweep_%s %v\n", name, v)
		}
	}
	counter := func(name, help string, v int) { put(name, help, "counter", float64(v), true) }
	gauge := func(name, help string, v float64) { put(name, help, "gauge", v, true) }
	number := func(name, help string, v rundir.Number) { put(name, help, "gauge", v.Value(), v.Known()) }
	latency := func(name, help string, d time.Duration) { put(name, help, "gauge", d.Seconds(), d >= 0) }

	gauge("in_flight_requests", "Requests that were sent and are not yet answered completely.", float64(m.now.InFlight))
	gauge("output_tokens_per_second", "Output tokens per second of all answers, in the last two seconds.", m.now.TokensPS)
	latency("ttft_seconds", "Time to first token, median of the latest requests.", m.now.TTFT)
	latency("itl_seconds", "Inter-token latency, median of the latest requests.", m.now.ITL)
	counter("completed_requests_total", "Requests that were answered completely.", m.done+m.now.Done)
	counter("failed_requests_total", "Requests that failed.", m.failed+m.now.Failed)
	counter("begun_stages_total", "Stages that have begun, with the steps of the search for the ceiling.", m.begun)
	counter("ended_stages_total", "Stages that have ended.", m.ended)
	put("stage_requests_per_second", "Rate of arrivals that the stage asks for; absent in a closed loop.", "gauge",
		m.rate, m.rate > 0)
	latency("stage_elapsed_seconds", "Time since the stage began.", m.now.Elapsed)
	latency("elapsed_seconds", "Time since the run began.", time.Since(m.began))
	latency("left_low_seconds", "The run still takes at least this long, by estimate.", m.low)
	latency("left_high_seconds", "The run still takes at most this long, by estimate.", m.high)
	number("last_stage_requests_per_second", "Completed requests per second of the stage that ended last.",
		m.last.Rates.Completed)
	number("last_stage_output_tokens_per_second", "Output tokens per second of the stage that ended last.",
		m.last.TokensPerS.Output)
	number("last_stage_ttft_mean_seconds", "Mean time to first token of the stage that ended last.", m.last.TTFT.Mean)
	number("last_stage_ttft_p99_seconds", "99th percentile of the time to first token of the stage that ended last.",
		m.last.TTFT.P99)
	number("last_stage_itl_mean_seconds", "Mean inter-token latency of the stage that ended last.", m.last.InterToken)
	put("page_seconds", "Time that the page took to draw, between two stages.", "gauge", m.drawn.Seconds(), m.drawn > 0)

	classes := m.errorCounts()
	if len(classes) > 0 {
		head("failed_requests_by_class_total", "Failed requests by class.", "counter")
	}
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		fmt.Fprintf(w, "llmsweep_failed_requests_by_class_total{class=\"%s\"} %d\n",
			labelEscapes.Replace(strings.ToValidUTF8(class, "\uFFFD")), classes[class])
	}
}
