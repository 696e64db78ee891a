package wire

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"llmsweep/client/testkit"
)

const chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

// answers are answers as servers send them, with their bodies and the errors at their ends.
var answers = map[string]struct {
	wire, body string
	err        error
}{
	"chunks": {chunkedHead + "5\r\nhello\r\n1F\r\n" + strings.Repeat("x", 31) + "\r\n0\r\n\r\n", "hello" +
		strings.Repeat("x", 31), io.EOF},
	"odd chunks": {chunkedHead + "005;a=b;c \r\n\r\n\r\n\n\r\n0\r\nX: 0\r\n\r\n", "\r\n\r\n\n", io.EOF},
	"lower case": {"HTTP/1.1 200 OK\r\nA: b\r\ntransfer-ENCODING:chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", "a",
		io.EOF},
	"under way": {chunkedHead + "5\r\nhel", "hel", io.ErrUnexpectedEOF},
	"a length": {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Transfer-Encoding: chunked\r\n\r\nhello", "hello",
		io.EOF},
	"less than a length": {"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello", "hello", io.ErrUnexpectedEOF},
	"until it closes":    {"HTTP/1.1 200 OK\r\n\r\n0\r\n\r\n", "0\r\n\r\n", io.EOF},
	"an old server":      {"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello", "5\r\nhello", io.EOF},
	"line feeds alone":   {"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n5\r\nhello\r\n0\r\n\r\n", "hello", io.EOF},
	"after an interim": {"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" +
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "hi", io.EOF},
	"no body":             {"HTTP/1.1 204 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "", io.EOF},
	"no size":             {chunkedHead + "\r\nhello\r\n", "", protocolError("invalid byte in chunk length")},
	"a size that is none": {chunkedHead + "+5\r\nhello\r\n", "", protocolError("invalid byte in chunk length")},
	"a huge size": {chunkedHead + "fffffffffffffffff\r\nhello\r\n", "",
		protocolError("http chunk length too large")},
	"a line feed alone":   {chunkedHead + "5\nhello\r\n0\r\n\r\n", "", errChunk},
	"a return in a size":  {chunkedHead + "5;a\r\r\nhello\r\n0\r\n\r\n", "", errChunk},
	"too much in a chunk": {chunkedHead + "5\r\nhello!\r\n0\r\n\r\n", "hello", errChunk},
	"a long line":         {chunkedHead + "5;" + strings.Repeat("x", 5000), "", errOverhead},
	"endless extensions": {chunkedHead + strings.Repeat("1;"+strings.Repeat("x", 4000)+"\r\na\r\n", 9), "aaaa",
		errOverhead},
	"endless trailers": {chunkedHead + "0\r\n" + strings.Repeat("X: "+strings.Repeat("x", 4000)+"\r\n", 9), "",
		errOverhead},
}

// pieces is a connection over which bytes come in pieces of a size.
type pieces struct {
	net.Conn // none
	left     []byte
	size     int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.left) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.left[:min(len(p.left), p.size)])
	p.left = p.left[n:]
	return n, nil
}

// cut returns a connection over which an answer comes in pieces.
func cut(answer string, size int) *Conn {
	s := newSocket(&pieces{left: []byte(answer), size: size})
	return &Conn{Conn: s, socket: s, pool: NewPool("", false, nil, nil, 1, 0)}
}

// read reads an answer, and returns its body.
func read(c *Conn) (string, error) {
	if _, _, err := c.Head(); err != nil {
		return "", fmt.Errorf("the head: %w", err)
	}
	return bodyOf(c)
}

func TestFraming(t *testing.T) {
	for name, tt := range answers {
		t.Run(name, func(t *testing.T) {
			for size := 1; size <= min(len(tt.wire), 300); size++ { // however it is cut
				body, err := read(cut(tt.wire, size))
				if body != tt.body || err == nil || err.Error() != tt.err.Error() {
					t.Fatalf("in pieces of %d: %q, %v", size, body, err)
				}
			}
			c := cut(tt.wire, len(tt.wire))
			c.Head()
			if body, err := io.ReadAll(c); string(body) != tt.body || (err == nil) != (tt.err == io.EOF) { // as a Reader
				t.Errorf("%q, %v", body, err)
			}
		})
	}
}

// The body is what net/http reads, however the answer is divided into receives; and what net/http refuses is refused,
// but for trailers, which nobody reads. Lines that end with a line feed alone are refused here, and not there.
func FuzzFraming(f *testing.F) {
	for _, a := range answers {
		f.Add([]byte(a.wire), uint16(7))
	}
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, answer []byte, size uint16) {
		in := bufio.NewReader(bytes.NewReader(answer))
		resp, err := http.ReadResponse(in, nil)
		for err == nil && resp.StatusCode >= 100 && resp.StatusCode < 200 &&
			resp.StatusCode != http.StatusSwitchingProtocols {
			resp, err = http.ReadResponse(in, nil)
		}
		var want []byte
		if err == nil && resp.StatusCode >= 100 {
			want, err = io.ReadAll(resp.Body)
		}
		body, mine := read(cut(string(answer), max(1, int(size))))
		strict := mine == errChunk && bytes.Count(answer, []byte("\n")) > bytes.Count(answer, []byte("\r\n"))
		if want != nil && err == nil && mine != io.EOF && !strict || mine == io.EOF && body != string(want) {
			t.Errorf("%q, %v; net/http reads %q, %v\n%q", body, mine, want, err, answer)
		}
	}))
}
