package client

import (
	"bytes"
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

	"golang.org/x/net/idna"

	"llmsweep/client/input"
	"llmsweep/client/wire"
)

const (
	// idleTimeout is shorter than uvicorn's 5 s, after which vLLM, SGLang and lmdeploy close idle connections. A
	// request that is written to a connection as it is closed would fail.
	idleTimeout    = 4 * time.Second
	maxHeaderBytes = 1 << 20
)

// connect prepares the transports. Requests go over HTTP/1.1 connections of package wire. net/http serves only HTTP/2,
// proxies and [Client.Fetch]. HTTP/2 puts all streams on one connection, where one read returns parts of many streams
// and a lost packet delays all of them; the engines' own servers do not have it.
func (c *Client) connect(o Options) error {
	conf, err := TLSConfig(o)
	if err != nil {
		return err
	}
	dial, proxy := o.Dial, o.Proxy
	if proxy == nil {
		proxy = http.ProxyFromEnvironment // never for loopback
	}
	if socket := c.address.Socket; socket != "" {
		proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
		if dial == nil {
			dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "unix", socket)
			}
		}
	}
	protocols, err := protocolsOf(o.HTTP)
	if err != nil {
		return err
	}
	conns := max(o.MaxConns, 1)
	pool := wire.NewPool(hostPort(c.endpoint), c.endpoint.Scheme == "https", dial, conf, conns, idleTimeout)
	c.transport = &http.Transport{
		DialContext:            pool.Dial,
		DialTLSContext:         pool.DialTLS,
		Proxy:                  proxy,
		OnProxyConnectResponse: checkProxy,
		TLSClientConfig:        conf,
		Protocols:              protocols,
		DisableCompression:     true, // decompression would delay bytes
		MaxIdleConns:           conns,
		MaxIdleConnsPerHost:    conns,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
	if c.http2 { // net/http itself must make the handshake, which chooses the protocol
		c.transport.DialTLSContext = nil
		return nil
	}
	if proxyURL, err := proxy(&http.Request{URL: c.endpoint}); err == nil && proxyURL == nil {
		c.pool = pool
		c.head, err = requestHead(c.endpoint, c.host, c.header)
		return err
	}
	return nil
}

func hostPort(u *url.URL) string {
	host, port := u.Hostname(), u.Port()
	if ascii, err := idna.Lookup.ToASCII(host); err == nil &&
		strings.ContainsFunc(host, func(r rune) bool { return r > 0x7f }) {
		host = ascii
	}
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(host, port)
}

// requestHead returns the head of a request as net/http writes it, without Content-Length and the blank line.
func requestHead(u *url.URL, host string, header http.Header) ([]byte, error) {
	var all bytes.Buffer
	r := &http.Request{Method: http.MethodPost, URL: u, Host: host, Header: header, Body: http.NoBody}
	if err := r.Write(&all); err != nil {
		return nil, err
	}
	const length = "\r\nContent-Length: 0\r\n" // a whole line, so that no header's value is taken for it
	before, after, _ := bytes.Cut(all.Bytes(), []byte(length))
	return bytes.TrimRight(fmt.Appendf(nil, "%s\r\n%s", before, after), "\r\n"), nil
}

// protocolsOf allows one version of HTTP alone: the instants mean something else in each.
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

// TLSConfig returns the TLS configuration that the options describe.
func TLSConfig(o Options) (*tls.Config, error) {
	conf := &tls.Config{InsecureSkipVerify: o.Insecure, NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12}
	if o.HTTP == "2" {
		conf.NextProtos = []string{"h2"}
	}
	if o.CAFile != "" {
		pool, err := loadCertPool(o.CAFile)
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

// pairError shows nothing of the key's file.
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
	return fmt.Errorf("--key %s: it has no key that can be read; "+
		"want a PEM file without a password (-----BEGIN PRIVATE KEY-----)", o.KeyFile)
}

const maxCertBytes = 16 << 20 // of a file; the certificates of a whole system have about 0.2 MiB

// loadCertPool returns the system's certificates and those in a PEM file.
func loadCertPool(file string) (*x509.CertPool, error) {
	pem, err := input.ReadFile(file, maxCertBytes)
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
