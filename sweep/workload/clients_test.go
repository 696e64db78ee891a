package workload

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"llmsweep/sweep/rundir"
)

// TestClientsAreDescribed: groups of clients have the shares and the bursts of those that were recorded, at least k clients each, and the description is read again.
func TestClientsAreDescribed(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	var all []visit
	for client := 1; client <= 24; client++ {
		rate, even := 0.1, 1.0
		if client <= 4 { // four times as many sessions, in bursts of four
			rate, even = 0.4, 4
		}
		for at := 0.0; at < 2000; {
			all = append(all, visit{talk: talk{session: len(all), client: client}, at: rundir.Duration(at)})
			if gap := rng.ExpFloat64() / rate; even == 1 || rng.Float64() < 1/even {
				at += gap * even
			} else {
				at += 0.001
			}
		}
	}
	groups := clientsOf(all, 4)
	if len(groups) != 6 || groups[0].Number != 4 || math.Abs(groups[0].Share-0.444) > 0.04 || groups[0].Shape > 0.25 || math.Abs(groups[5].Shape-1) > 0.15 {
		t.Errorf("%+v", groups)
	}
	for _, g := range clientsOf(all, 10) {
		if g.Number < 10 {
			t.Errorf("%+v", g)
		}
	}
	if got := clientsOf(all, 25); got != nil {
		t.Errorf("25 of 24 clients: %+v", got)
	}
	for i := range all {
		all[i].client = 0
	}
	if got := clientsOf(all, 1); got != nil {
		t.Errorf("unknown clients: %+v", got)
	}
}

// TestClientsOfARecording: the line of a request names its client, and the description passes it on.
func TestClientsOfARecording(t *testing.T) {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, `{"timestamp":%d,"input_length":10,"output_length":2,"duration":5,"hash_ids":[1],"session":%d,"client":%d}`+"\n", i*100, i, 1+i%12)
	}
	dir := t.TempDir()
	file, small := filepath.Join(dir, "traffic.jsonl"), filepath.Join(dir, "small.json")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := DescribeTraffic(t.Context(), file, 10)
	if err != nil || len(d.Clients) != 1 || d.Clients[0].Number != 12 || d.Clients[0].Share != 1 {
		t.Fatal(d, err)
	}
	text, _ := json.Marshal(d)
	if err := os.WriteFile(small, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, groups := range map[string]int{file: 12, small: 1} {
		w, err := openTraffic(t.Context(), path, 1, Guess)
		if err != nil || len(w.Clients()) != groups {
			t.Errorf("%s: %v, %v", path, w.Clients(), err)
		}
	}
	if err := os.WriteFile(small, []byte(strings.Replace(string(text), `"share":1`, `"share":3`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openTraffic(t.Context(), small, 1, Guess); err == nil || !strings.Contains(err.Error(), "clients") {
		t.Error(err)
	}
}
