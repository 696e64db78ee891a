// Reads compressed answers.

package client

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// errCompression is the error of an answer whose compression is unknown or broken.
var errCompression = errors.New("the answer's compression")

// decoded returns an answer's body without its compression, and whether it had one. This client asks for none, because
// compression delays tokens, but some proxies compress all the same. They use gzip; anything else is an error.
func decoded(resp *http.Response) (body io.Reader, zipped bool, err error) {
	switch coding := strings.ToLower(strings.TrimSpace(strings.Join(resp.Header.Values("Content-Encoding"), ", "))); coding {
	case "", "identity":
		return resp.Body, false, nil
	case "gzip", "x-gzip":
		return &unzip{from: resp.Body}, true, nil
	default:
		return nil, false, fmt.Errorf("%w (%s) was not asked for and is not understood; turn compression off in the server, or in the proxy in front of it",
			errCompression, coding)
	}
}

// unzip decompresses gzip as it arrives: what the server flushed can be read at once.
type unzip struct {
	from io.Reader
	zip  *gzip.Reader // nil before the first read, because its header may be a while in coming
}

func (u *unzip) Read(p []byte) (n int, err error) {
	if u.zip == nil {
		if u.zip, err = gzip.NewReader(u.from); err != nil {
			return 0, zipError(err)
		}
	}
	n, err = u.zip.Read(p)
	return n, zipError(err)
}

// zipError marks an error of the compressed data; those of the connection stay as they are.
func zipError(err error) error {
	var corrupt flate.CorruptInputError
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.As(err, &corrupt) {
		return fmt.Errorf("%w (gzip) is broken: %v", errCompression, err)
	}
	return err
}
