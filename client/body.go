package client

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"llmsweep/client/wire"
)

// answerBody is the body of an answer, from a wire.Conn or from net/http, compressed or not.
type answerBody interface {
	io.Reader
	// Each gives the body to take, piece by piece as it arrives, until take returns true. At the end it returns io.EOF.
	Each(take func(piece []byte, arrival wire.Arrival) (done bool)) error
	Arrival() wire.Arrival // of the newest bytes
	End() time.Time        // when the body ended
}

// netHTTPBody is a body that net/http reads. Bytes arrive when Read returns them: nothing earlier is known.
type netHTTPBody struct {
	io.Reader
	newest wire.Arrival
}

func (b *netHTTPBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.newest.Seq++
	b.newest.At = time.Now()
	return n, err
}

func (b *netHTTPBody) Each(take func([]byte, wire.Arrival) bool) error { return eachRead(b, b, take) }

func (b *netHTTPBody) Arrival() wire.Arrival { return b.newest }

func (b *netHTTPBody) End() time.Time { return time.Now() }

// eachRead implements Each by reading r, whose bytes come from body.
func eachRead(r io.Reader, body answerBody, take func([]byte, wire.Arrival) bool) error {
	buffer := make([]byte, 4<<10)
	for {
		n, err := r.Read(buffer)
		if n > 0 && take(buffer[:n], body.Arrival()) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

var errCompression = errors.New("the answer's compression")

// decompress is for proxies that compress although this client does not ask for it, because compression delays tokens.
// They use gzip; anything else is an error.
func decompress(header http.Header, body answerBody) (answerBody, error) {
	coding := strings.ToLower(strings.TrimSpace(strings.Join(header.Values("Content-Encoding"), ", ")))
	switch coding {
	case "", "identity":
		return body, nil
	case "gzip", "x-gzip":
		return &gzipBody{answerBody: body}, nil
	default:
		return nil, fmt.Errorf("%w (%s) was not asked for and is not understood; "+
			"turn compression off in the server, or in the proxy in front of it", errCompression, coding)
	}
}

// gzipBody decompresses gzip as it arrives: what the server flushed can be read at once, and arrived with the newest
// compressed byte.
type gzipBody struct {
	answerBody
	zip *gzip.Reader // nil before the first read: making it waits for the gzip header
}

func (u *gzipBody) Read(p []byte) (n int, err error) {
	if u.zip == nil {
		if u.zip, err = gzip.NewReader(u.answerBody); err != nil {
			return 0, gzipError(err)
		}
	}
	n, err = u.zip.Read(p)
	return n, gzipError(err)
}

func (u *gzipBody) Each(take func([]byte, wire.Arrival) bool) error { return eachRead(u, u, take) }

// gzipError marks an error of the compressed data; those of the connection stay as they are.
func gzipError(err error) error {
	var corrupt flate.CorruptInputError
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.As(err, &corrupt) {
		return fmt.Errorf("%w (gzip) is broken: %v", errCompression, err)
	}
	return err
}
