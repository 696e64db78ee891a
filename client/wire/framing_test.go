package wire

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"llmsweep/client/testkit"
)

// answers are answers as servers send them, with the lengths of their bodies.
var answers = map[string]struct {
	wire  string
	body  int64
	ended bool
}{
	"chunks":           {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1F\r\n" + strings.Repeat("x", 31) + "\r\n0\r\n\r\n", 36, true},
	"odd chunks":       {"HTTP/1.1 200 OK\r\nA: b\r\ntransfer-ENCODING:chunked\r\n\r\n005;a=b;c\r\n\r\n\r\n\n\r\n0\r\nX: 0\r\n\r\n", 5, true},
	"under way":        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", 3, false},
	"a length":         {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Transfer-Encoding: chunked\r\n\r\nhello", 5, false},
	"until it closes":  {"HTTP/1.1 200 OK\r\n\r\n0\r\n\r\n", 5, false},
	"an old server":    {"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello", 8, false},
	"line ends alone":  {"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n5\r\nhello\r\n0\r\n\r\n", 5, true},
	"after an interim": {"HTTP/1.1  103 Early Hints\r\nTransfer-Encoding: chunked\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", 2, false},
	"only a head":      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chu", 0, false},
}

func TestFraming(t *testing.T) {
	for name, tt := range answers {
		t.Run(name, func(t *testing.T) {
			for size := 1; size <= len(tt.wire); size++ { // however it is cut
				var f framing
				for p := []byte(tt.wire); len(p) > 0; p = p[min(size, len(p)):] {
					f.pass(p[:min(size, len(p))])
				}
				if f.total != tt.body || f.ended() != tt.ended {
					t.Fatalf("in pieces of %d: %d bytes, ended %v", size, f.total, f.ended())
				}
			}
		})
	}
}

// framing counts the bytes that net/http reads, however the answer is divided into reads.
func FuzzFraming(f *testing.F) {
	for _, a := range answers {
		f.Add([]byte(a.wire), uint16(7))
	}
	f.Add([]byte("HTTP/1.1 204 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"), uint16(9)) // it has no body
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, answer []byte, cut uint16) {
		in := bufio.NewReader(bytes.NewReader(answer))
		resp, err := http.ReadResponse(in, nil)
		for err == nil && resp.StatusCode >= 100 && resp.StatusCode < 200 {
			resp, err = http.ReadResponse(in, nil)
		}
		if err != nil || resp.ProtoMajor != 1 {
			return
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return
		}
		chunked := len(resp.TransferEncoding) > 0
		at := min(int(cut), len(answer))
		var whole framing
		whole.pass(answer[:at])
		before := whole.total
		whole.pass(answer[at:])
		if got, want := whole.total, int64(len(body)); got < want || chunked && (got != want || !whole.ended()) || got < before {
			t.Errorf("%d bytes, ended %v; net/http reads %d\n%q", got, whole.ended(), want, answer)
		}
	}))
}
