package replicas

import (
	"context"
	"errors"
	"testing"

	"llmsweep/client"
	"llmsweep/client/api"
)

// server counts what it gets.
type server struct {
	prepared, done, warmed int
	stamps                 string
	err                    error
}

func (s *server) Prepare(r *api.Request) (*client.Prepared, error) {
	s.prepared++
	return &client.Prepared{Request: r}, nil
}

func (s *server) Do(_ context.Context, _ *client.Prepared, res *client.Result) {
	s.done++
	res.Status = client.StatusOK
}

func (s *server) Warm(_ context.Context, n int) error {
	s.warmed += n
	return s.err
}

func (s *server) Timestamps() string { return s.stamps }

// TestTurns sends sessions of two turns to three servers: each gets every third session, with both turns.
func TestTurns(t *testing.T) {
	servers := []*server{{stamps: "kernel"}, {stamps: "kernel"}, {stamps: "kernel"}}
	g := NewGroup(servers)
	for session := range 7 {
		for range 2 {
			p, err := g.Prepare(&api.Request{Session: session})
			if err != nil {
				t.Fatal(err)
			}
			var res client.Result
			g.Do(t.Context(), p, &res)
			if want := session%3 + 1; res.Replica != want || res.Status != client.StatusOK {
				t.Errorf("session %d went to replica %d and ended %q; want replica %d", session, res.Replica, res.Status, want)
			}
		}
	}
	for i, want := range []int{6, 4, 4} {
		if s := servers[i]; s.prepared != want || s.done != want {
			t.Errorf("replica %d: %d prepared, %d sent; want %d", i+1, s.prepared, s.done, want)
		}
	}
}

// TestAll checks what concerns all servers: connections are opened to each, and instants are the kernel's only if all are.
func TestAll(t *testing.T) {
	broken := errors.New("broken")
	servers := []*server{{stamps: "kernel"}, {stamps: "kernel", err: broken}, {stamps: "kernel"}}
	g := NewGroup(servers)
	if err := g.Warm(t.Context(), 7); err != broken {
		t.Errorf("error %v", err)
	}
	for i, s := range servers {
		if s.warmed != 3 {
			t.Errorf("replica %d: %d connections opened, want 3", i+1, s.warmed)
		}
	}
	if got := g.Timestamps(); got != "kernel" {
		t.Errorf("timestamps %q", got)
	}
	servers[2].stamps = "user"
	if got := g.Timestamps(); got != "user" {
		t.Errorf("timestamps %q with one server's own", got)
	}
}
