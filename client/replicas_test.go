package client

import (
	"context"
	"errors"
	"testing"

	"llmsweep/client/api"
)

// replicaServer counts what it gets.
type replicaServer struct {
	prepared, done, warmed int
	stamps                 string
	err                    error
}

func (s *replicaServer) Prepare(r *api.Request) (*Prepared, error) {
	s.prepared++
	return &Prepared{Request: r}, nil
}

func (s *replicaServer) Do(_ context.Context, _ *Prepared, res *Result) {
	s.done++
	res.Status = StatusOK
}

func (s *replicaServer) Warm(_ context.Context, n int) error {
	s.warmed += n
	return s.err
}

func (s *replicaServer) Timestamps() string { return s.stamps }

// Sessions of two turns go to three servers: each gets every third session, with both turns. Connections are opened to
// each, and instants are the kernel's only if all are.
func TestReplicas(t *testing.T) {
	broken := errors.New("broken")
	servers := []*replicaServer{{stamps: "kernel"}, {stamps: "kernel", err: broken}, {stamps: "kernel"}}
	g := NewReplicas(servers)
	for session := range 7 {
		for range 2 {
			p, err := g.Prepare(&api.Request{Session: session})
			if err != nil {
				t.Fatal(err)
			}
			var res Result
			g.Do(t.Context(), p, &res)
			if want := session%3 + 1; res.Replica != want || res.Status != StatusOK {
				t.Errorf("session %d went to replica %d and ended %q; want replica %d", session, res.Replica, res.Status, want)
			}
		}
	}
	if err := g.Warm(t.Context(), 7); err != broken {
		t.Errorf("error %v", err)
	}
	for i, want := range []int{6, 4, 4} {
		if s := servers[i]; s.prepared != want || s.done != want || s.warmed != 3 {
			t.Errorf("replica %d: %d prepared, %d sent, want %d; %d opened", i+1, s.prepared, s.done, want, s.warmed)
		}
	}
	one := g.Timestamps()
	servers[2].stamps = "user"
	if two := g.Timestamps(); one != "kernel" || two != "user" {
		t.Errorf("timestamps %q, and %q with one server's own", one, two)
	}
}
