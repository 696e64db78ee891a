package client

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"time"

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

// newTransport returns the connection pool. It uses HTTP/1.1 only. HTTP/2 would put all streams on one connection, where
// one read returns parts of many streams and a lost packet delays all of them; and the engines' own servers do not have
// it.
func newTransport(o Options) (*http.Transport, *wire.Dialer, error) {
	conf := &tls.Config{InsecureSkipVerify: o.Insecure, NextProtos: []string{"http/1.1"}}
	if o.CAFile != "" {
		pool, err := trusted(o.CAFile)
		if err != nil {
			return nil, nil, err
		}
		conf.RootCAs = pool
	}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	conns := max(o.MaxConns, 1)
	dialer := wire.NewDialer(o.Dial, conf, idleTimeout)
	return &http.Transport{
		DialContext:            dialer.Dial,
		DialTLSContext:         dialer.DialTLS,
		Proxy:                  http.ProxyFromEnvironment, // never for loopback
		TLSClientConfig:        conf,
		Protocols:              &protocols,
		DisableCompression:     true, // decompression would delay bytes
		MaxIdleConns:           conns,
		MaxIdleConnsPerHost:    conns,
		IdleConnTimeout:        idleTimeout,
		ReadBufferSize:         readBuffer,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}, dialer, nil
}

// trusted returns the system's certificates and those in a PEM file.
func trusted(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
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
