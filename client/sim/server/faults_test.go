package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"llmsweep/client/testkit"
)

// TestResetIsAReset needs a real connection.
func TestResetIsAReset(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	rules := testkit.Must(ParseFaults("reset:1/1"))
	url, _, err := Serve(ctx, "127.0.0.1:0", New(start(t, demoConfig(t)), Options{Faults: rules}))
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{`,"stream":true}`, "}"} {
		resp, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(ask+mode))
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		if !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: %v, want a reset connection", mode, err)
		}
	}
}

func TestParseFaults(t *testing.T) {
	got, err := ParseFaults("500:0.01, reset:1/50")
	want := Faults{Rules: []FaultRule{{Kind: Fault500, Probability: 0.01}, {Kind: FaultReset, Every: 50}}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got, err := ParseFaults(""); err != nil || len(got.Rules) != 0 {
		t.Errorf("empty: %v %v", got, err)
	}
	for _, bad := range []string{"500", "boom:0.1", "500:2", "500:-1", "500:x", "500:1/0", "500:1/x", "500:0.1,,"} {
		if _, err := ParseFaults(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestFaultsStrikeAsOften(t *testing.T) {
	f := testkit.Must(ParseFaults("stall:1/10,500:0.2"))
	count := make(map[Fault]int)
	for n := range uint64(10000) {
		first, again := f.FaultOf(n+1), f.FaultOf(n+1)
		if first != again {
			t.Fatal("not the same twice")
		}
		count[first]++
	}
	// 9000 left for a chance of 0.2: 1800, standard deviation 38.
	if count[FaultStall] != 1000 || count[Fault500] < 1600 || count[Fault500] > 2000 {
		t.Errorf("of 10000: %v", count)
	}
}
