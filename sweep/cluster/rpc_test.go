package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/sweep/cluster"
	"llmsweep/sweep/rundir"
)

const token = "0123456789abcdef"

func inVirtualTime(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// hello is what a rank of two says of itself.
func hello(rank int, version string) *cluster.Hello {
	return &cluster.Hello{Rank: rank, Ranks: 2, Version: version, Host: fmt.Sprintf("n%d", rank)}
}

// listen starts rank 0 of two on a free port.
func listen(t *testing.T) (*cluster.Coordinator, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := cluster.NewCoordinator(2, "v1", rundir.SourceFlags, cluster.NewRankClock(0))
	stop, err := cluster.ServeRanks(l, token, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return c, l.Addr().String()
}

// A rank with the token joins over TLS and gets what rank 0 tells; one with another token gets no connection; one of another version is refused, with the
// reason.
func TestWhoMayJoin(t *testing.T) {
	c, address := listen(t)
	c.Welcome([]byte("setup"))
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := cluster.DialCoordinator(short, []string{address}, "another token", nil); err == nil {
		t.Error("a stranger joined")
	}
	if conn, err := net.Dial("tcp", address); err != nil {
		t.Error(err)
	} else {
		fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		b := make([]byte, 512)
		n, _ := conn.Read(b)
		if strings.Contains(string(b[:n]), "200 OK") {
			t.Errorf("without TLS: %q", b[:n])
		}
		conn.Close()
	}
	join := func(version string) (*cluster.Session, []byte, error) {
		up, err := cluster.DialCoordinator(t.Context(), []string{"127.0.0.1:1", address}, token, nil) // the first address is of no one
		if err != nil {
			t.Fatal(err)
		}
		return cluster.Join(t.Context(), up, cluster.NewRankClock(0), hello(1, version))
	}
	if _, _, err := join("v2"); err == nil || !strings.Contains(err.Error(), "v2") {
		t.Errorf("another version: %v", err)
	}
	s, setup, err := join("v1")
	if err != nil || string(setup) != "setup" {
		t.Fatalf("%q, %v", setup, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(t.Context(), cluster.Work{Dir: t.TempDir()}) }()
	if _, _, err := join("v1"); err == nil || !strings.Contains(err.Error(), "another process has joined as rank 1") {
		t.Errorf("a second rank 1: %v", err)
	}
	c.Close(nil)
	if err := <-ended; err != nil {
		t.Errorf("a rank that rank 0 dismissed ended with %v", err)
	}
}

// A rank finds out that rank 0 is gone.
func TestRankZeroIsGone(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := cluster.NewCoordinator(2, "v1", rundir.SourceFlags, cluster.NewRankClock(0))
	stop, err := cluster.ServeRanks(l, token, c)
	if err != nil {
		t.Fatal(err)
	}
	c.Welcome(nil)
	up, err := cluster.DialCoordinator(t.Context(), []string{l.Addr().String()}, token, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := cluster.Join(t.Context(), up, cluster.NewRankClock(0), hello(1, "v1"))
	if err != nil {
		t.Fatal(err)
	}
	stop()
	if err := s.Serve(t.Context(), cluster.Work{Dir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), cluster.ErrGone.Error()) {
		t.Errorf("it ended with %v", err)
	}
}

// The clock of a rank is wrong by 300 ms. Over networks with other delays each way, jitter and losses, the truth lies within the bounds that
// run.json gets; where both ways take equally long, the error is small.
func TestClocksOverANetwork(t *testing.T) {
	const wrong = 300 * time.Millisecond
	for name, c := range map[string]struct {
		there, back way
		most        time.Duration // error of the offset
	}{
		"symmetric":  {way{20 * time.Millisecond, time.Millisecond, 0}, way{20 * time.Millisecond, time.Millisecond, 0}, time.Millisecond},
		"asymmetric": {way{5 * time.Millisecond, time.Millisecond, 0}, way{45 * time.Millisecond, time.Millisecond, 0}, 22 * time.Millisecond},
		"lossy":      {way{20 * time.Millisecond, 2 * time.Millisecond, 0.1}, way{20 * time.Millisecond, 2 * time.Millisecond, 0.1}, 2 * time.Millisecond},
		"quick":      {way{50 * time.Microsecond, 20 * time.Microsecond, 0.01}, way{50 * time.Microsecond, 20 * time.Microsecond, 0.01}, 50 * time.Microsecond},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				n := newNetwork()
				co := cluster.NewCoordinator(2, "v1", rundir.SourceFlags, cluster.NewRankClock(0))
				stop, err := cluster.ServeRanks(n, token, co)
				if err != nil {
					t.Fatal(err)
				}
				co.Welcome(nil)
				up, err := cluster.DialOn(t.Context(), n.dial(c.there, c.back, 1), token)
				if err != nil {
					t.Fatal(err)
				}
				s, _, err := cluster.Join(t.Context(), up, cluster.NewRankClock(wrong), hello(1, "v1"))
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute) // a look at the clock each second
				e := s.Clock()
				off, bound := (e.Offset + wrong).Abs(), e.Error()
				t.Logf("%s: error %v, bound %v, round trip %v, %d looks", name, off, bound, e.RoundTrip, e.Exchanges)
				if -wrong < e.Low || -wrong > e.High {
					t.Errorf("the truth %v is not between %v and %v", -wrong, e.Low, e.High)
				}
				if off > c.most || bound < (c.there.delay+c.back.delay)/2 || e.Exchanges < 50 {
					t.Errorf("off by %v, at most %v, with the bound %v after %d looks", off, c.most, bound, e.Exchanges)
				}
				co.Close(nil)
				s.Leave(errors.New("over"))
				stop()
				n.Close()
				time.Sleep(time.Minute) // what was under way has ended
			})
		})
	}
}
