package workload

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// Logs of proxies: LiteLLM's payloads (a session of two, an answer from its cache, one that failed), nginx's in JSON, and in its combined format.
const (
	liteLLM = `{"id":"1","trace_id":"a","call_type":"acompletion","startTime":1700000000.5,"endTime":1700000002.5,"completionStartTime":1700000000.75,"model":"m","prompt_tokens":100,"completion_tokens":10,"response_cost":0.1,"cache_hit":false,"metadata":{}}
{"id":"2","trace_id":"b","startTime":1700000001,"endTime":1700000001.1,"completionStartTime":1700000001.1,"prompt_tokens":7,"completion_tokens":3,"cache_hit":true}
{"id":"3","trace_id":"a","startTime":"2023-11-14T22:13:25.5Z","endTime":"2023-11-14T22:13:26Z","completionStartTime":"2023-11-14T22:13:26Z","prompt_tokens":130,"completion_tokens":12,"cache_hit":"False"}
{"standard_logging_object":{"id":"4","startTime":1700000006.5,"endTime":1700000007,"prompt_tokens":9,"completion_tokens":0,"status":"failure"}}
`
	nginxJSON = `{"msec":"1700000002.500","time_iso8601":"2023-11-14T22:13:22+00:00","request":"POST /v1/chat/completions HTTP/1.1","status":"200","request_time":"2.000","upstream_header_time":"0.250","input_tokens":"100","output_tokens":"10"}
{"msec":"1700000002.600","request":"GET /health HTTP/1.1","status":"200","request_time":"0.001","upstream_header_time":"0.001"}
{"msec":1700000003,"timestamp":1700000003,"request_method":"POST","uri":"/v1/completions","status":200,"request_time":1.5,"upstream_header_time":"0.1, 0.4","input_tokens":50,"output_tokens":5}
{"msec":"1700000004.000","request":"POST /v1/chat/completions HTTP/1.1","status":"429","request_time":"0.010"}
`
	nginxAccess = `10.0.0.1 - - [14/Nov/2023:22:13:22 +0000] "POST /v1/chat/completions HTTP/1.1" 200 5120 "-" "curl/8" 2.000 0.250 1.999
10.0.0.2 - bob [14/Nov/2023:22:13:23 +0000] "GET /v1/models HTTP/1.1" 200 5 "-" "a \"b\"" 0.001 0.001 0.001
10.0.0.2 - - [14/Nov/2023:22:13:23 +0000] "POST /v1/completions?x=1 HTTP/1.1" 200 99 "-" "-" rt=1.5 uct="0.000" uht="0.5" urt="1.4"
10.0.0.3 - - [14/Nov/2023:22:13:30 +0000] "POST /v1/completions HTTP/1.1" 200 99 "-" "-"
what is this
`
)

// TestLogs reads the logs of proxies: when requests arrived, their lengths, and the time to the first token, as counted by hand.
func TestLogs(t *testing.T) {
	type turn struct {
		At             time.Duration
		Prompt, Output int
	}
	asked := TraceOptions{Prompt: rundir.Lengths{Mean: 30}, Output: rundir.Lengths{Mean: 6}}
	for name, c := range map[string]struct {
		content string
		o       TraceOptions
		want    []turn
		notes   []note.Note
	}{
		"LiteLLM": {liteLLM, TraceOptions{}, []turn{{0, 100, 10}, {5 * time.Second, 130, 12}}, []note.Note{
			noteTTFT.New("data", 1, 250*time.Millisecond, 250*time.Millisecond, nil),
			skippedNote("data", skipProxyCache.New(), 2), skippedNote("data", skipOutputTokens.New(), 4),
		}},
		"nginx in JSON": {nginxJSON, TraceOptions{}, []turn{{0, 100, 10}, {time.Second, 50, 5}}, []note.Note{
			noteTTFT.New("data", 1, 250*time.Millisecond, 250*time.Millisecond, 1), skippedNote("data", skipFailed.New("429"), 4),
		}},
		"nginx combined": {nginxAccess, asked, []turn{{0, 30, 6}, {1500 * time.Millisecond, 30, 6}}, []note.Note{
			noteWholeSeconds.New("data"), noteTTFT.New("data", 2, 375*time.Millisecond, 487500*time.Microsecond, 2),
			skippedNote("data", skipRequestTime.New(), 4), skippedNote("data", skipNoAccessLine.New(), 5),
		}},
	} {
		tr, err := readTrace(t.Context(), text(t, c.content), c.o)
		if err != nil {
			t.Fatal(name, err)
		}
		var got []turn
		for r := range tr.All() {
			got = append(got, turn{r.At, r.Prompt, r.Output})
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(c.notes, tr.Notes()[1:]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	tr, err := readTrace(t.Context(), text(t, liteLLM), TraceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if all, _ := tr.visits(2); len(all) != 1 || len(all[0].turns) != 2 || all[0].turns[1].prompt != 20 || all[0].turns[1].pause != 3*time.Second {
		t.Errorf("sessions %+v", all)
	}
	for content, want := range map[string]string{
		nginxAccess: "data:1: no usable row in 4; the first fault: skip.no-prompt-tokens",
		strings.Split(nginxAccess, "\n")[3] + "\n":                          "data:1: no usable row in 1; the first fault: skip.no-request-time",
		`{"startTime": "soon", "prompt_tokens": 5, "completion_tokens": 5}`: "data:1: no usable row in 1; the first fault: skip.no-timestamp",
	} {
		if _, err := readTrace(t.Context(), text(t, content), TraceOptions{}); err == nil || err.Error() != want {
			t.Errorf("%.60s: %v, want %s", content, err, want)
		}
	}
}
