package wire

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
)

const maxHead = 1 << 20 // bytes of an answer's head, interim answers included

// ProtocolError says how an answer violates HTTP.
type ProtocolError struct{ text string }

func (e *ProtocolError) Error() string { return e.text }

func protocolError(format string, args ...any) error {
	return &ProtocolError{fmt.Sprintf(format, args...)}
}

var errLongHead = protocolError("the answer's headers exceeded %d bytes", maxHead)

// Head receives the head of the answer, and skips interim ones such as "100 Continue". The body is read from the
// connection, not from head. began reports whether anything of an answer came.
func (c *Conn) Head() (head *http.Response, began bool, err error) {
	for read := 0; ; {
		size, err := c.receiveHead(maxHead - read)
		began = began || len(c.pending) > 0
		if err == io.EOF && began {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, began, err
		}
		head, err := c.parseHead(c.pending[:size])
		c.pending = c.pending[size:]
		read += size
		if err != nil || head.StatusCode >= 200 || head.StatusCode == http.StatusSwitchingProtocols {
			return head, began, err
		}
	}
}

// receiveHead receives until c.pending begins with a whole head, and returns its size.
func (c *Conn) receiveHead(limit int) (size int, err error) {
	for {
		size = headSize(c.pending)
		switch {
		case !plausible(c.pending):
			line, _, _ := bytes.Cut(c.pending, []byte("\n"))
			return 0, protocolError("malformed HTTP response %q", line[:min(len(line), 80)])
		case size > limit || size == 0 && len(c.pending) > limit:
			return 0, errLongHead
		case size > 0:
			return size, nil
		}
		if err := c.receive(func() bool { return true }); err != nil {
			if writeErr := c.writeError(); writeErr != nil && timedOut(err) {
				return 0, writeErr
			}
			return 0, err
		}
	}
}

func plausible(text []byte) bool {
	const start = "HTTP/"
	n := min(len(text), len(start))
	return string(text[:n]) == start[:n]
}

// headSize returns the size of a head with its blank line; 0 for one that is not whole.
func headSize(text []byte) int {
	for from := 0; ; {
		n := bytes.IndexByte(text[from:], '\n')
		if n < 0 {
			return 0
		}
		from += n + 1
		switch rest := text[from:]; {
		case len(rest) > 0 && rest[0] == '\n':
			return from + 1
		case len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n':
			return from + 2
		}
	}
}

func (c *Conn) parseHead(text []byte) (*http.Response, error) {
	in := c.pool.readers.Get().(*bufio.Reader)
	in.Reset(bytes.NewReader(text))
	head, err := http.ReadResponse(in, nil)
	c.pool.readers.Put(in)
	if err != nil {
		return nil, protocolError("%v", err)
	}
	if head.StatusCode < 100 {
		return nil, protocolError("malformed HTTP status code %q", head.Status)
	}
	head.Body = http.NoBody
	c.reusable = !head.Close && head.StatusCode != http.StatusSwitchingProtocols
	if values := head.Header["Keep-Alive"]; len(values) > 0 {
		c.reuse.keepAlive(values[0])
	}
	c.body.begin(head)
	return head, nil
}
