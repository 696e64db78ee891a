package rpc

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

	"llmsweep/client/spend"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/cluster/clock"
	"llmsweep/sweep/cluster/coordinator"
	"llmsweep/sweep/cluster/message"
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
func fromRank() []message.FromRank {
	return []message.FromRank{
		&message.Hello{}, &message.Hello{Rank: 3, Ranks: 4, Version: "v1", Host: "n3", OS: "linux/amd64", CPUs: 8},
		&message.Clock{}, &message.Clock{Sent: 1, Received: -2, Answered: 3},
		&message.Ready{}, &message.Ready{Attempt: 2, Fingerprint: 1 << 63, Clock: clock.Estimate{Offset: -5, Drift: clock.Drift{Value: 1e-6, Known: true}}},
		&message.Reading{}, &message.Reading{
			Attempt: 1, At: []time.Duration{1, 2}, Arrived: []float64{0, 3}, Owed: []float64{4, 0}, Due: 2, Asked: 9,
			Ended: []message.Ended{{}, {Status: "ok", Sent: -1, End: 2.5, OutputTokens: -1}}, Settled: true, Spending: &spend.Spent{Requests: 1, Cost: 0.5},
		},
		&message.Done{}, &message.Done{Attempt: 1, Error: "full", CPU: -1, InFlight: sample.Bins{Width: time.Second, Area: []float64{1}, Peak: []int{2}}, Spending: &spend.Spent{}},
		&message.Records{}, &message.Records{Attempt: 1, Lines: []byte("{}\n"), Last: true},
		&message.Trouble{}, &message.Trouble{Error: "x", Interrupted: true},
	}
}

func toRank() []message.ToRank {
	all := []message.ToRank{
		&message.Welcome{}, &message.Welcome{Refusal: "no", Setup: []byte("{}")}, &message.Clock{Answered: 7}, &message.Start{Attempt: 1, At: 2},
		&message.Order{}, &message.Order{Attempt: 1, To: message.Cancelled}, &message.Fetch{}, &message.Bye{}, &message.Bye{Error: "late"}, &message.Stage{},
	}
	for _, l := range []arrival.Load{
		arrival.Closed{Concurrency: 4}, arrival.Constant{Rate: 1}, arrival.Poisson{Rate: 2, MaxConcurrency: 3}, arrival.Gamma{Rate: 1, Shape: 0.5},
		arrival.Ramp{From: 1, To: 2, Over: time.Minute}, arrival.Trace{File: "t.jsonl", Speed: 2},
	} {
		all = append(all, &message.Stage{Attempt: 1, Members: 2, Allowance: spend.Part{Tokens: 5}, Name: l.Name(), Load: l, Opening: []time.Duration{0, 1}})
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
	l := newLink[message.ToRank, message.FromRank](&wire{in: strings.NewReader("")})
	if err := l.Send(&message.Welcome{Setup: make([]byte, maxFrame)}); err == nil || !strings.Contains(err.Error(), "are allowed") {
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
	var order message.ToRank = &message.Order{}
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
			s := &server{c: coordinator.New(2, "v1", rundir.SourceFlags, clock.New(0)), config: own}
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
	out := newLink[message.FromRank, message.FromRank](w)
	for _, m := range fromRank() {
		out.Send(m)
	}
	f.Add(w.out.Bytes())
	f.Add(framed(encoded("text")))
	f.Add([]byte{0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		l := newLink[message.ToRank, message.FromRank](&wire{in: bytes.NewReader(b)})
		for {
			if m, err := l.Receive(); err != nil {
				return
			} else if m == nil {
				t.Fatal("no message, and no error")
			}
		}
	})
}
