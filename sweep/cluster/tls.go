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
	"time"
)

var errOtherToken = errors.New("the other side has another token")

// tlsConfig returns the TLS configuration of both sides. Each makes a certificate now, with a key that follows from the
// token, and accepts that key alone: both prove that they know the token, which is never sent.
func tlsConfig(token string) (*tls.Config, error) {
	seed, err := hkdf.Key(sha256.New, []byte(token), nil, "llmsweep ranks", ed25519.SeedSize)
	if err != nil {
		return nil, err
	}
	key := ed25519.NewKeyFromSeed(seed)
	// Dates are not looked at: clocks may be wrong.
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<32, 0),
		DNSNames: []string{"llmsweep"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS13, ServerName: "llmsweep",
		Certificates:       []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		ClientAuth:         tls.RequireAnyClientCert,
		InsecureSkipVerify: true, // only the key counts, and is checked below
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 {
				return errOtherToken
			}
			if k, ok := s.PeerCertificates[0].PublicKey.(ed25519.PublicKey); !ok || !k.Equal(key.Public()) {
				return errOtherToken
			}
			return nil
		},
	}, nil
}

const handshakeTime = 10 * time.Second

// Listen lets ranks join at a listener until it is closed. Those without the token, such as port scanners, are
// dropped.
func (g *Ranks) Listen(l net.Listener, token string) error {
	config, err := tlsConfig(token)
	if err != nil {
		return err
	}
	go func() {
		for {
			conn, err := l.Accept()
			switch {
			case err == nil:
				go g.admitTLS(tls.Server(conn, config))
			case errors.Is(err, net.ErrClosed):
				return
			default: // for want of file descriptors, for example
				time.Sleep(100 * time.Millisecond)
			}
		}
	}()
	return nil
}

func (g *Ranks) admitTLS(conn *tls.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), handshakeTime)
	defer cancel()
	if conn.HandshakeContext(ctx) != nil {
		conn.Close()
		return
	}
	g.Admit(conn)
}

// Dial connects to rank 0. It tries again until the ranks must have joined, or rank 0 has another token. slow is called
// once when that takes long.
func Dial(ctx context.Context, address, token string, slow func(error)) (net.Conn, error) {
	const pause, patience = 250 * time.Millisecond, 10 * time.Second
	config, err := tlsConfig(token)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, joinTime)
	defer cancel()
	dialer := tls.Dialer{NetDialer: &net.Dialer{Timeout: handshakeTime}, Config: config}
	for reported := false; ; {
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			return conn, nil
		}
		err = fmt.Errorf("rank 0 at %s: %w", address, err)
		if errors.Is(err, errOtherToken) {
			return nil, err
		}
		if !reported && time.Since(began) > patience {
			reported = true
			slow(err)
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), err)
		case <-time.After(pause):
		}
	}
}
