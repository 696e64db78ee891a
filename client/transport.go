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
	// readBuffer is what one receive can hold. More would mix events of a stream that is read late; less than one
	// event would split it.
	readBuffer = 4 << 10
	// idleTimeout is shorter than uvicorn's 5 s, after which vLLM, SGLang and lmdeploy hang up: a request written on a
	// connection that is being closed would fail through no fault of the server.
	idleTimeout    = 4 * time.Second
	maxHeaderBytes = 1 << 20
)

// newTransport makes the connection pool. It speaks HTTP/1.1 only: HTTP/2 would put all streams on one connection,
// where a read holds pieces of many and a lost packet delays them all, and the servers that people run themselves do
// not speak it.
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
		DisableCompression:     true, // a decompressor holds bytes back
		MaxIdleConns:           conns,
		MaxIdleConnsPerHost:    conns,
		IdleConnTimeout:        idleTimeout,
		ReadBufferSize:         readBuffer,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}, dialer, nil
}

// trusted is the system's certificates and those in a PEM file.
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
		return nil, fmt.Errorf("--ca %s: no certificate in it; want a PEM file (-----BEGIN CERTIFICATE-----)", file)
	}
	return pool, nil
}
