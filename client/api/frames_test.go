package api

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"llmsweep/client/testkit"
)

// got is a frame with its data copied. Receive is the offset of the end of the piece that it arrived with.
type got struct {
	Data    string
	Receive int64
	Error   bool
	Open    bool
}

// readAll reads every frame, and the error at the end.
func readAll(src io.Reader) ([]got, error) {
	var r FrameReader
	r.Reset()
	var all []got
	take := func(f Frame) { all = append(all, got{string(f.Data), f.Receive, f.Error, f.Open}) }
	piece := make([]byte, 4096)
	for end := int64(0); ; {
		n, err := src.Read(piece)
		end += int64(n)
		if err := r.Feed(piece[:n], Arrival{Receive: end}); err != nil {
			return all, err
		}
		for f, ok := r.Next(); ok; f, ok = r.Next() {
			take(f)
		}
		clear(piece) // what is left must have been kept
		if err != nil {
			if f, ok := r.Last(err == io.EOF); ok {
				take(f)
			}
			return all, err
		}
	}
}

// dataOf returns the data of frames.
func dataOf(all []got) []string {
	var s []string
	for _, f := range all {
		s = append(s, f.Data)
	}
	return s
}

func TestEvents(t *testing.T) {
	for in, want := range map[string][]string{
		"data: a\n\ndata: b\n\n":                               {"a", "b"},                 // plain
		"data: a\r\n\r\ndata: b\r\n\r\n":                       {"a", "b"},                 // CRLF
		"data: a\r\rdata: b\r\r":                               {"a", "b"},                 // CR alone
		"data: a\r\n\ndata: b\n\r\ndata: c\r\r\n":              {"a", "b", "c"},            // mixed line ends
		"data:a\n\ndata:{}\n\n":                                {"a", "{}"},                // no space
		"data:  a \n\n":                                        {" a "},                    // one space only
		": ping\n\n:\n\ndata: a\n: x\n\n: ping - 2026\n\n":     {"a"},                      // comments and pings
		"data: a\n: ping\ndata: b\n\n":                         {"a\nb"},                   // comment inside
		"event: message\nid: 7\nretry: 10\ndata: a\n\n":        {"a"},                      // other fields
		"event: ping\n\ndata: a\n\n":                           {"a"},                      // event without data
		"data:\n\ndata: \n\ndata\n\ndata: a\n\n":               {"a"},                      // empty data
		"data: {\ndata: \"a\":1\ndata:}\n\n":                   {"{\n\"a\":1\n}"},          // several lines
		"data: a\ndata\ndata: b\n\n":                           {"a\n\nb"},                 // empty line of data
		"\ufeffdata: a\n\n":                                    {"a"},                      // byte order mark
		"data: a\n\ndata: b\n":                                 {"a", "b"},                 // no final blank line
		"data: a\n\ndata: b":                                   {"a", "b"},                 // no final newline
		"data: a\n\n: bye":                                     {"a"},                      // no final data
		"\n\n\ndata: a\n\n\n\n\ndata: b\n\n\n":                 {"a", "b"},                 // many blank lines
		"dat: x\ndata2: x\n data: x\ndatab\n\ndata: a\n\n":     {"a"},                      // near misses
		"event: error\ndata: a\n\nevent: message\ndata: b\n\n": {"a", "b"},                 // event: error
		"event: error\n\ndata: b\n\n":                          {"", "b"},                  // an error alone
		"data: a\n\nupstream has gone\n\n":                     {"a", "upstream has gone"}, // a line of prose
		"<html>\n\n":                                           {"<html>"},                 // a line of HTML
		"error: {\"code\":500}\n\n":                            {`{"code":500}`},           // error line
		"data: a: b: c\n\n":                                    {"a: b: c"},                // colons in data
		"":                                                     nil,                        // nothing
		"data: \x00\xff\n\n":                                   {"\x00\xff"},               // NUL and odd bytes
		"data: a\u2028b\n\n":                                   {"a\u2028b"},               // unicode line sep
		"data: 你好\n\ndata: мир\n\n":                            {"你好", "мир"},              // text in two alphabet
	} {
		for kind, src := range map[string]io.Reader{
			"whole":         strings.NewReader(in),
			"byte by byte":  iotest.OneByteReader(strings.NewReader(in)),
			"data with EOF": iotest.DataErrReader(strings.NewReader(in)),
		} {
			all, err := readAll(src)
			if d := cmp.Diff(want, dataOf(all)); d != "" || err != io.EOF {
				t.Errorf("%q, %s: error %v, -want +got\n%s", in, kind, err, d)
			}
		}
	}
}

// An event arrives with the end of its last data line, however late the blank line arrives. A cut-off line is marked.
func TestArrivals(t *testing.T) {
	all, _ := readAll(iotest.OneByteReader(strings.NewReader("data: a\n\nerror: b\r\n\r\n: c\ndata: d")))
	want := []got{{Data: "a", Receive: 8}, {Data: "b", Receive: 18, Error: true}, {Data: "d", Receive: 32, Open: true}}
	if d := cmp.Diff(want, all); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// Events that arrived whole before a connection broke are returned; a cut one is not.
func TestBroken(t *testing.T) {
	broken := errors.New("reset")
	for in, want := range map[string][]string{
		"data: a\n\ndata: b\n\n": {"a", "b"},
		"data: a\n\ndata: b\n":   {"a", "b"},
		"data: a\n\ndata: b":     {"a"},
		"data: a\ndata: b":       {"a"},
	} {
		all, err := readAll(io.MultiReader(strings.NewReader(in), iotest.ErrReader(broken)))
		if err != broken {
			t.Errorf("%q: error %v", in, err)
		}
		if d := cmp.Diff(want, dataOf(all)); d != "" {
			t.Errorf("%q: -want +got\n%s", in, d)
		}
	}
}

// Megabytes of data are one event; without an end they are an error.
func TestLongEvents(t *testing.T) {
	big := strings.Repeat("0123456789abcdef", 1<<16)
	in := "data: a\n\ndata: " + big + "\n\ndata: " + big + "\ndata: b\n\ndata: c\n\n"
	all, err := readAll(iotest.HalfReader(strings.NewReader(in)))
	if d := cmp.Diff([]string{"a", big, big + "\nb", "c"}, dataOf(all)); d != "" || err != io.EOF {
		t.Errorf("error %v, %d frames", err, len(all))
	}
	if _, err := readAll(strings.NewReader("data: " + strings.Repeat(big, 100))); !errors.Is(err, ErrTooLong) {
		t.Errorf("error %v", err)
	}
}

// The frames of a stream do not depend on how it is split into pieces, and each arrives with a piece of its own data.
func FuzzFrameReader(f *testing.F) {
	for _, c := range testkit.Captures(f) {
		f.Add(c.Stream, uint64(len(c.Stream)))
	}
	for _, s := range []string{"\ufeffdata: a\r\rdata:b\r\n\r\n", "data\ndata:\ndata: x", "error: e\n\n:\n\n",
		"\r\n\r\r\ndata: \xff"} {
		f.Add([]byte(s), uint64(3))
		f.Add([]byte(s), uint64(1))
	}
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, in []byte, split uint64) {
		want, _ := readAll(iotest.OneByteReader(bytes.NewReader(in)))
		last := int64(0)
		for _, g := range want {
			if g.Receive <= last || g.Receive > int64(len(in)) {
				t.Fatalf("a frame ends at %d, the one before at %d, the stream at %d", g.Receive, last, len(in))
			}
			last = g.Receive
		}
		all, err := readAll(&splitter{in, split | 1})
		if err != io.EOF {
			t.Fatal(err)
		}
		for i := range all {
			if i < len(want) && all[i].Receive >= want[i].Receive && all[i].Receive < want[i].Receive+16 {
				all[i].Receive = want[i].Receive // the end of the piece that holds the frame's end
			}
		}
		if !slices.Equal(want, all) { // which takes a tenth of the time of the difference
			t.Errorf("-whole +split\n%s", cmp.Diff(want, all))
		}
	}))
}

// splitter returns 1 to 16 bytes from each read, by a generator seeded with state.
type splitter struct {
	left  []byte
	state uint64
}

func (s *splitter) Read(p []byte) (int, error) {
	if len(s.left) == 0 {
		return 0, io.EOF
	}
	s.state = s.state*6364136223846793005 + 1442695040888963407
	n := copy(p, s.left[:min(len(s.left), 1+int(s.state>>60))])
	s.left = s.left[n:]
	return n, nil
}
