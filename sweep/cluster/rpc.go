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
	"math/big"
	"net"
	"sync"
	"time"
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
		MinVersion: tls.VersionTLS13, ServerName: "llmsweep",
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

// ServeRanks lets ranks join at a listener until the function that it returns is called.
func ServeRanks(l net.Listener, token string, c *Coordinator) (stop func(), err error) {
	config, err := secured(token, serverSide, rankSide)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &server{c: c, config: config}
	s.serving.Go(func() { s.accept(ctx, l) })
	return func() { cancel(); l.Close(); s.serving.Wait() }, nil
}

// handshake is how long a connection may take to be made, and to bring its first message.
const handshake = 10 * time.Second

// server is rank 0's side of all connections.
type server struct {
	c       *Coordinator
	config  *tls.Config
	serving sync.WaitGroup
}

// accept takes connections until the listener is closed. Others that the system refuses, for example for want of file descriptors, are waited for.
func (s *server) accept(ctx context.Context, l net.Listener) {
	const pause = 100 * time.Millisecond
	for {
		conn, err := l.Accept()
		switch {
		case err == nil:
			s.serving.Go(func() { s.serve(ctx, conn) })
			continue
		case errors.Is(err, net.ErrClosed):
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// serve serves a connection until it ends. Strangers knock at open ports: who has another token, or says nothing, is let go.
func (s *server) serve(ctx context.Context, conn net.Conn) {
	conn.SetDeadline(time.Now().Add(handshake))
	secure := tls.Server(conn, s.config)
	if secure.HandshakeContext(ctx) != nil {
		conn.Close()
		return
	}
	conn.SetWriteDeadline(time.Time{})
	link := newLink[ToRank, FromRank](secure)
	defer context.AfterFunc(ctx, link.Close)()
	s.c.Admit(link)
	<-link.drained
}

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
	return newLink[FromRank, ToRank](conn), nil
}

// knock returns the first connection to one of the addresses whose other side has the token.
func knock(ctx context.Context, addresses []string, config *tls.Config, slow func(error)) (*tls.Conn, error) {
	const first, most, patience = 100 * time.Millisecond, 2 * time.Second, 10 * time.Second
	began := time.Now()
	var last error
	for pause := first; ; pause = min(2*pause, most) {
		for _, address := range addresses {
			dialer := tls.Dialer{NetDialer: &net.Dialer{Timeout: handshake}, Config: config}
			conn, err := dialer.DialContext(ctx, "tcp", address)
			if err == nil {
				return conn.(*tls.Conn), nil
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
