// Connects ranks to rank 0: a stream of messages each, over TLS. Both sides prove that they know the run's token; the token
// itself is never sent.

package cluster

import (
	"context"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"time"

	"connectrpc.com/connect"
)

// The two sides have keys of their own, so that no rank can take the place of rank 0 by repeating what it was sent.
const (
	serverSide = "llmsweep rank 0"
	rankSide   = "llmsweep rank"
)

// keyOf returns the key of a side, which everybody with the token can derive.
func keyOf(token, side string) (ed25519.PrivateKey, error) {
	seed, err := hkdf.Key(sha256.New, []byte(token), nil, side, ed25519.SeedSize)
	if err != nil {
		return nil, err
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

var errStranger = errors.New("the other side has another token")

// secured returns the TLS configuration of a side: a certificate made now. Only the other side's key is accepted.
func secured(token, own, other string) (*tls.Config, error) {
	key, err := keyOf(token, own)
	if err != nil {
		return nil, err
	}
	theirs, err := keyOf(token, other)
	if err != nil {
		return nil, err
	}
	// Dates are not looked at: clocks may be wrong.
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<32, 0), DNSNames: []string{"llmsweep"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{"h2"}, ServerName: "llmsweep",
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		ClientAuth:   tls.RequireAnyClientCert,
		// The certificate counts by its key alone, and is checked below.
		InsecureSkipVerify: true,
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 {
				return errStranger
			}
			if k, ok := s.PeerCertificates[0].PublicKey.(ed25519.PublicKey); !ok || !k.Equal(theirs.Public()) {
				return errStranger
			}
			return nil
		},
	}, nil
}

// connKey is the key of a request's context for its connection.
type connKey struct{}

// ServeRanks lets ranks join at a listener until the function that it returns is called.
func ServeRanks(l net.Listener, token string, c *Coordinator) (stop func(), err error) {
	config, err := secured(token, serverSide, rankSide)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle(NewCoordinatorHandler(joiner{c}))
	s := &http.Server{
		Handler: mux, TLSConfig: config, ReadHeaderTimeout: handshake, ErrorLog: log.New(io.Discard, "", 0), // strangers knock at open ports
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, conn)
		},
	}
	go s.ServeTLS(l, "", "")
	return func() { s.Close() }, nil
}

// handshake is how long a connection may take to be made.
const handshake = 10 * time.Second

type joiner struct{ c *Coordinator }

// Join serves a rank.
func (j joiner) Join(ctx context.Context, s *connect.BidiStream[FromRank, ToRank]) error {
	conn, _ := ctx.Value(connKey{}).(net.Conn)
	j.c.Admit(&down{s, conn})
	return nil
}

// down is rank 0's end.
type down struct {
	*connect.BidiStream[FromRank, ToRank]
	conn net.Conn
}

// Close ends the stream. No other stream uses the connection. What was sent is on its way.
func (d *down) Close() {
	if d.conn != nil {
		d.conn.SetDeadline(time.Now().Add(lastWords))
	}
}

// lastWords is how long what was sent may take to leave.
const lastWords = time.Second

// up is a rank's end.
type up struct {
	*connect.BidiStreamForClient[FromRank, ToRank]
	cancel context.CancelFunc
}

// Close ends the stream.
func (u *up) Close() { u.cancel() }

// DialCoordinator connects to rank 0 at one of several addresses. It tries again until ctx ends. slow is called once when that takes long, with the
// last error.
func DialCoordinator(ctx context.Context, addresses []string, token string, slow func(error)) (Uplink, error) {
	config, err := secured(token, rankSide, serverSide)
	if err != nil {
		return nil, err
	}
	conn, err := knock(ctx, addresses, config, slow)
	if err != nil {
		return nil, err
	}
	return over(conn), nil
}

// DialOn connects to rank 0 over a connection that exists.
func DialOn(ctx context.Context, conn net.Conn, token string) (Uplink, error) {
	config, err := secured(token, rankSide, serverSide)
	if err != nil {
		return nil, err
	}
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	return over(secure), nil
}

// over returns a rank's end of a connection.
func over(conn net.Conn) *up {
	given := make(chan net.Conn, 1)
	given <- conn
	transport := &http.Transport{
		ForceAttemptHTTP2: true,
		DialTLSContext: func(context.Context, string, string) (net.Conn, error) {
			select {
			case c := <-given:
				return c, nil
			default:
				return nil, errors.New("the connection to rank 0 was lost")
			}
		},
	}
	inner, cancel := context.WithCancel(context.Background())
	stream := NewCoordinatorClient(&http.Client{Transport: transport}, "https://llmsweep").Join(inner)
	return &up{stream, func() { cancel(); conn.Close() }}
}

// knock returns the first connection to one of the addresses whose other side has the token.
func knock(ctx context.Context, addresses []string, config *tls.Config, slow func(error)) (net.Conn, error) {
	const first, most, patience = 100 * time.Millisecond, 2 * time.Second, 10 * time.Second
	began := time.Now()
	var last error
	for pause := first; ; pause = min(2*pause, most) {
		for _, address := range addresses {
			dialer := tls.Dialer{NetDialer: &net.Dialer{Timeout: handshake}, Config: config}
			conn, err := dialer.DialContext(ctx, "tcp", address)
			if err == nil {
				return conn, nil
			}
			last = fmt.Errorf("rank 0 at %s: %w", address, err)
		}
		if slow != nil && time.Since(began) > patience {
			slow(last)
			slow = nil
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), last)
		case <-time.After(pause):
		}
	}
}
