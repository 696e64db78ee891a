package progress

import (
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// liveNumbers are what /metrics shows. The only label is the class of a failed request: there are about twenty.
type liveNumbers struct {
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

// begins adds up what the stage before did, and starts another.
func (n *liveNumbers) begins(st *rundir.Stage) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fold()
	n.begun++
	n.rate = st.Rate.Value()
}

func (n *liveNumbers) fold() {
	n.done += n.now.Done
	n.failed += n.now.Failed
	if n.errors == nil {
		n.errors = map[string]int{}
	}
	for class, k := range n.now.Errors {
		n.errors[class] += k
	}
	n.now = load.Snapshot{TTFT: -1, ITL: -1}
}

func (n *liveNumbers) progress(s load.Snapshot) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if s.Phase == load.PhaseIdle || s.Done+s.Failed < n.now.Done+n.now.Failed { // the stage is over, or another count begins
		n.fold()
	}
	n.now = s
}

func (n *liveNumbers) setLeft(low, high time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.low, n.high = low, high
}

func (n *liveNumbers) ends(st *rundir.Stage) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ended++
	n.last = *st
}

func (n *liveNumbers) drew(took time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.drawn = took
}

// metric is a number of /metrics. One that is not known is left out.
type metric struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(n *liveNumbers) (v float64, known bool)
}

func gauge(name, help string, value func(n *liveNumbers) (float64, bool)) metric {
	return metric{prometheus.NewDesc("llmsweep_"+name, help, nil, nil), prometheus.GaugeValue, value}
}

func counter(name, help string, value func(n *liveNumbers) float64) metric {
	return metric{prometheus.NewDesc("llmsweep_"+name, help, nil, nil), prometheus.CounterValue, func(n *liveNumbers) (float64, bool) { return value(n), true }}
}

// latency is a time that a snapshot does not know where it is negative.
func latency(d time.Duration) (float64, bool) { return d.Seconds(), d >= 0 }

// known is a number of a stage.
func known(v rundir.Number) (float64, bool) { return v.Value(), v.Known() }

// errorsDesc describes the failed requests by class.
func errorsDesc() *prometheus.Desc {
	return prometheus.NewDesc("llmsweep_failed_requests_by_class_total", "Failed requests by class.", []string{"class"}, nil)
}

// metrics are all numbers without a label.
func metrics() []metric {
	return []metric{
		gauge("in_flight_requests", "Requests that were sent and are not yet answered completely.", func(n *liveNumbers) (float64, bool) { return float64(n.now.InFlight), true }),
		gauge("output_tokens_per_second", "Output tokens per second of all answers, in the last two seconds.", func(n *liveNumbers) (float64, bool) { return n.now.TokensPS, true }),
		gauge("ttft_seconds", "Time to first token, median of the latest requests.", func(n *liveNumbers) (float64, bool) { return latency(n.now.TTFT) }),
		gauge("itl_seconds", "Inter-token latency, median of the latest requests.", func(n *liveNumbers) (float64, bool) { return latency(n.now.ITL) }),
		counter("completed_requests_total", "Requests that were answered completely.", func(n *liveNumbers) float64 { return float64(n.done + n.now.Done) }),
		counter("failed_requests_total", "Requests that failed.", func(n *liveNumbers) float64 { return float64(n.failed + n.now.Failed) }),
		counter("begun_stages_total", "Stages that have begun, with the steps of the search for the ceiling.", func(n *liveNumbers) float64 { return float64(n.begun) }),
		counter("ended_stages_total", "Stages that have ended.", func(n *liveNumbers) float64 { return float64(n.ended) }),
		gauge("stage_requests_per_second", "Rate of arrivals that the stage asks for; absent in a closed loop.", func(n *liveNumbers) (float64, bool) { return n.rate, n.rate > 0 }),
		gauge("stage_elapsed_seconds", "Time since the stage began.", func(n *liveNumbers) (float64, bool) { return n.now.Elapsed.Seconds(), true }),
		gauge("elapsed_seconds", "Time since the run began.", func(n *liveNumbers) (float64, bool) { return time.Since(n.began).Seconds(), true }),
		gauge("left_low_seconds", "The run still takes at least this long, by estimate.", func(n *liveNumbers) (float64, bool) { return latency(n.low) }),
		gauge("left_high_seconds", "The run still takes at most this long, by estimate.", func(n *liveNumbers) (float64, bool) { return latency(n.high) }),
		gauge("last_stage_requests_per_second", "Completed requests per second of the stage that ended last.", func(n *liveNumbers) (float64, bool) { return known(n.last.Rates.Completed) }),
		gauge("last_stage_output_tokens_per_second", "Output tokens per second of the stage that ended last.", func(n *liveNumbers) (float64, bool) { return known(n.last.TokensPerS.Output) }),
		gauge("last_stage_ttft_mean_seconds", "Mean time to first token of the stage that ended last.", func(n *liveNumbers) (float64, bool) { return known(n.last.TTFT.Mean) }),
		gauge("last_stage_ttft_p99_seconds", "99th percentile of the time to first token of the stage that ended last.", func(n *liveNumbers) (float64, bool) { return known(n.last.TTFT.P99) }),
		gauge("last_stage_itl_mean_seconds", "Mean inter-token latency of the stage that ended last.", func(n *liveNumbers) (float64, bool) { return known(n.last.InterToken) }),
		gauge("page_seconds", "Time that the page took to draw, between two stages.", func(n *liveNumbers) (float64, bool) { return n.drawn.Seconds(), n.drawn > 0 }),
	}
}

// Describe describes all numbers.
func (n *liveNumbers) Describe(to chan<- *prometheus.Desc) {
	for _, m := range metrics() {
		to <- m.desc
	}
	to <- errorsDesc()
}

// Collect reads all numbers.
func (n *liveNumbers) Collect(to chan<- prometheus.Metric) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, m := range metrics() {
		if v, ok := m.value(n); ok {
			to <- prometheus.MustNewConstMetric(m.desc, m.kind, v)
		}
	}
	all := maps.Clone(n.errors)
	if all == nil {
		all = map[string]int{}
	}
	for class, k := range n.now.Errors {
		all[class] += k
	}
	for class, k := range all {
		to <- prometheus.MustNewConstMetric(errorsDesc(), prometheus.CounterValue, float64(k), strings.ToValidUTF8(class, "\uFFFD"))
	}
}
