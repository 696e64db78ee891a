package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"llmsweep/client/input"
	"llmsweep/client/wire"
)

const (
	// readBuffer is the size of one receive. A larger buffer would mix events of a stream that is read late; one smaller
	// than an event would split it.
	readBuffer = 4 << 10
	// idleTimeout is shorter than uvicorn's 5 s, after which vLLM, SGLang and lmdeploy close idle connections. A request
	// that is written to a connection as it is closed would fail.
	idleTimeout    = 4 * time.Second
	maxHeaderBytes = 1 << 20
)

// newTransport returns the connection pool. It uses HTTP/1.1 where it is not told otherwise. HTTP/2 puts all streams on one
// connection, where one read returns parts of many streams and a lost packet delays all of them; and the engines' own servers do
// not have it. socket is the path of a Unix socket to dial; empty for TCP.
func newTransport(o Options, socket string) (*http.Transport, *wire.Dialer, error) {
	conf, err := TLSConfig(o)
	if err != nil {
		return nil, nil, err
	}
	dial, proxy := o.Dial, o.Proxy
	if proxy == nil {
		proxy = http.ProxyFromEnvironment // never for loopback
	}
	if socket != "" {
		proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
		if dial == nil {
			dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "unix", socket)
			}
		}
	}
	protocols, err := protocolsOf(o.HTTP)
	if err != nil {
		return nil, nil, err
	}
	conns := max(o.MaxConns, 1)
	dialer := wire.NewDialer(dial, conf, idleTimeout)
	dialTLS := dialer.DialTLS
	if protocols.HTTP2() { // net/http itself must make the handshake, which chooses the protocol
		dialTLS = nil
	}
	return &http.Transport{
		DialContext:            dialer.Dial,
		DialTLSContext:         dialTLS,
		Proxy:                  proxy,
		OnProxyConnectResponse: checkProxy,
		TLSClientConfig:        conf,
		Protocols:              protocols,
		DisableCompression:     true, // decompression would delay bytes
		MaxIdleConns:           conns,
		MaxIdleConnsPerHost:    conns,
		IdleConnTimeout:        idleTimeout,
		ReadBufferSize:         readBuffer,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}, dialer, nil
}

// protocolsOf returns the protocols of a version of HTTP: one, so that a connection's bytes are what they are taken for.
func protocolsOf(version string) (*http.Protocols, error) {
	p := &http.Protocols{}
	switch version {
	case "", "auto", "1":
		p.SetHTTP1(true)
	case "2":
		p.SetHTTP2(true)
		p.SetUnencryptedHTTP2(true) // for http://, without asking first
	default:
		return nil, fmt.Errorf("--http %s: there are 1, 2 and auto", version)
	}
	return p, nil
}

// TLSConfig returns the configuration of TLS.
func TLSConfig(o Options) (*tls.Config, error) {
	conf := &tls.Config{InsecureSkipVerify: o.Insecure, NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12}
	if o.HTTP == "2" {
		conf.NextProtos = []string{"h2"}
	}
	if o.CAFile != "" {
		pool, err := trusted(o.CAFile)
		if err != nil {
			return nil, err
		}
		conf.RootCAs = pool
	}
	switch {
	case o.CertFile == "" && o.KeyFile == "":
		return conf, nil
	case o.CertFile == "":
		return nil, errors.New("--key: the certificate that belongs to the key is missing; name it with --cert")
	case o.KeyFile == "":
		o.KeyFile = o.CertFile // one file may hold both
	}
	pair, err := tls.LoadX509KeyPair(o.CertFile, o.KeyFile)
	if err != nil {
		return nil, pairError(o, err)
	}
	conf.Certificates = []tls.Certificate{pair}
	return conf, nil
}

// pairError says what is wrong with --cert and --key. It shows nothing of the key's file.
func pairError(o Options, err error) error {
	var file *fs.PathError
	text := err.Error()
	switch {
	case errors.As(err, &file) && file.Path == o.CertFile:
		return fmt.Errorf("--cert: %w", err)
	case errors.As(err, &file):
		return fmt.Errorf("--key: %w", err)
	case strings.Contains(text, "does not match"):
		return fmt.Errorf("--cert %s: it does not belong to the key in %s", o.CertFile, o.KeyFile)
	case strings.Contains(text, "certificate input"), strings.Contains(text, `"CERTIFICATE"`):
		return fmt.Errorf("--cert %s: it has no certificate; want a PEM file (-----BEGIN CERTIFICATE-----)", o.CertFile)
	case o.KeyFile == o.CertFile:
		return fmt.Errorf("--cert %s: it has no key; name the key's file with --key", o.CertFile)
	}
	return fmt.Errorf("--key %s: it has no key that can be read; want a PEM file without a password (-----BEGIN PRIVATE KEY-----)", o.KeyFile)
}

// mostCertificates is the size of the largest file of certificates that is read, in bytes. Those of a whole system have about 0.2 MiB.
const mostCertificates = 16 << 20

// trusted returns the system's certificates and those in a PEM file.
func trusted(file string) (*x509.CertPool, error) {
	pem, err := input.ReadFile(file, mostCertificates)
	if err != nil {
		return nil, fmt.Errorf("--ca: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("--ca %s: it has no certificate; want a PEM file (-----BEGIN CERTIFICATE-----)", file)
	}
	return pool, nil
}
