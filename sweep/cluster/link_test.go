package cluster

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/sample"

	"github.com/google/go-cmp/cmp"
)

// wire is a connection that plays bytes, and keeps what is written.
type wire struct {
	net.Conn
	in  io.Reader
	out bytes.Buffer
}

func (w *wire) Read(b []byte) (int, error)      { return w.in.Read(b) }
func (w *wire) Write(b []byte) (int, error)     { return w.out.Write(b) }
func (w *wire) CloseWrite() error               { return nil }
func (w *wire) Close() error                    { return nil }
func (w *wire) SetReadDeadline(time.Time) error { return nil }
func (w *wire) SetDeadline(time.Time) error     { return nil }

// fromRank are messages of each kind, empty and not.
func fromRank() []FromRank {
	return []FromRank{
		&Hello{}, &Hello{Rank: 3, Ranks: 4, Version: "v1", Host: "n3", OS: "linux/amd64", CPUs: 8},
		&messageClock{}, &messageClock{Sent: 1, Received: -2, Answered: 3},
		&Ready{}, &Ready{Attempt: 2, Fingerprint: 1 << 63, Clock: ClockEstimate{Offset: -5, Drift: ClockDrift{Value: 1e-6, Known: true}}},
		&reading{}, &reading{
			Attempt: 1, At: []time.Duration{1, 2}, Arrived: []float64{0, 3}, Owed: []float64{4, 0}, Due: 2, Asked: 9,
			Ended: []Ended{{}, {Status: "ok", Sent: -1, End: 2.5, OutputTokens: -1}}, Settled: true, Spending: &client.Spent{Requests: 1, Cost: 0.5},
		},
		&Done{}, &Done{Attempt: 1, Error: "full", CPU: -1, InFlight: sample.Bins{Width: time.Second, Area: []float64{1}, Peak: []int{2}}, Spending: &client.Spent{}},
		&records{}, &records{Attempt: 1, Lines: []byte("{}\n"), Last: true},
		&Trouble{}, &Trouble{Error: "x", Interrupted: true},
	}
}

func toRank() []ToRank {
	all := []ToRank{
		&welcome{}, &welcome{Refusal: "no", Setup: []byte("{}")}, &messageClock{Answered: 7}, &Start{Attempt: 1, At: 2},
		&order{}, &order{Attempt: 1, To: cancelled}, &fetch{}, &bye{}, &bye{Error: "late"}, &stage{},
	}
	for _, l := range []arrival.Load{
		arrival.Closed{Concurrency: 4}, arrival.Constant{Rate: 1}, arrival.Poisson{Rate: 2, MaxConcurrency: 3}, arrival.Gamma{Rate: 1, Shape: 0.5},
		arrival.Ramp{From: 1, To: 2, Over: time.Minute}, arrival.Trace{File: "t.jsonl", Speed: 2},
	} {
		all = append(all, &stage{Attempt: 1, Members: 2, Allowance: client.PurseShare{Cost: 5}, Name: l.Name(), Load: l, Opening: []time.Duration{0, 1}})
	}
	return all
}

// carried sends messages over one connection, and returns what comes.
func carried[M any](t *testing.T, all []M) (got []M) {
	t.Helper()
	w := &wire{}
	out := newLink[M, M](w)
	for _, m := range all {
		if err := out.Send(m); err != nil {
			t.Fatal(err)
		}
	}
	in := newLink[M, M](&wire{in: &w.out})
	for range all {
		m, err := in.Receive()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, m)
	}
	return got
}

// Each message comes as it was sent; an empty one, too.
func TestMessagesArrive(t *testing.T) {
	if diff := cmp.Diff(fromRank(), carried(t, fromRank())); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(toRank(), carried(t, toRank())); diff != "" {
		t.Error(diff)
	}
}

// A message that is too large for the other side is not sent.
func TestTooLargeAMessage(t *testing.T) {
	l := newLink[ToRank, FromRank](&wire{in: strings.NewReader("")})
	if err := l.Send(&welcome{Setup: make([]byte, maxFrame)}); err == nil || !strings.Contains(err.Error(), "are allowed") {
		t.Errorf("%v", err)
	}
	<-l.drained
}

// framed returns bytes as a frame.
func framed(b []byte) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...) }

// encoded returns a value by encoding/gob.
func encoded(v any) []byte {
	var b bytes.Buffer
	gob.NewEncoder(&b).Encode(v)
	return b.Bytes()
}

// A peer that has the token and sends garbage, claims a huge frame, or says nothing, is let go without much memory, and the next rank joins.
func TestHostilePeers(t *testing.T) {
	var order ToRank = &order{}
	for name, sent := range map[string][]byte{
		"nothing": nil, "HTTP": []byte("POST /llmsweep HTTP/1.1\r\n\r\n"), "huge frame": {0xff, 0xff, 0xff, 0xff, 1}, "half a frame": {0, 0, 1, 0, 1, 2},
		"zeros": framed(make([]byte, 1000)), "another type": framed(encoded("hello")), "an order": framed(encoded(&order)), "empty frame": framed(nil),
		"two in one": framed(append(encoded("a"), 1, 2, 3)),
	} {
		synctest.Test(t, func(t *testing.T) {
			theirs, err := secured("token", rankSide, serverSide)
			if err != nil {
				t.Fatal(err)
			}
			own, err := secured("token", serverSide, rankSide)
			if err != nil {
				t.Fatal(err)
			}
			s := &server{c: NewCoordinator(2, "v1", rundir.SourceFlags, NewRankClock(0)), config: own}
			a, b := net.Pipe()
			began, over := time.Now(), make(chan struct{})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			go func() { s.serve(t.Context(), b); close(over) }()
			peer := tls.Client(a, theirs)
			if _, err := peer.Write(sent); err != nil {
				t.Fatal(err)
			}
			io.Copy(io.Discard, peer)
			peer.Close()
			<-over
			runtime.ReadMemStats(&after)
			if took := time.Since(began); took > handshake+2*lastWords {
				t.Errorf("%s: let go after %v", name, took)
			}
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 4*maxFrame {
				t.Errorf("%s: %d bytes were allocated", name, grown)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := s.c.Gather(ctx, func([]int) {}); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: joined: %v", name, err)
			}
		})
	}
}

// FuzzReceive reads frames that a peer with the token may send: each is a message or an error.
func FuzzReceive(f *testing.F) {
	w := &wire{}
	out := newLink[FromRank, FromRank](w)
	for _, m := range fromRank() {
		out.Send(m)
	}
	f.Add(w.out.Bytes())
	f.Add(framed(encoded("text")))
	f.Add([]byte{0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		l := newLink[ToRank, FromRank](&wire{in: bytes.NewReader(b)})
		for {
			if m, err := l.Receive(); err != nil {
				return
			} else if m == nil {
				t.Fatal("no message, and no error")
			}
		}
	})
}
