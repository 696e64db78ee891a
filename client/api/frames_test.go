package api

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
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
	take := func(f Frame) { all = append(all, got{string(f.Data), f.Receive, f.Error, f.Partial}) }
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

// Streams and the data of their events, both quoted as in Go.
func TestEvents(t *testing.T) {
	file, err := os.ReadFile("testdata/events.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range strings.Split(strings.TrimPrefix(string(file), "# "), "\n# ") {
		lines := strings.Split(row, "\n")
		in := testkit.Must(strconv.Unquote(lines[1]))
		var want []string
		for rest := lines[2]; rest != ""; {
			quoted := testkit.Must(strconv.QuotedPrefix(rest))
			want = append(want, testkit.Must(strconv.Unquote(quoted)))
			rest = strings.TrimPrefix(rest[len(quoted):], " ")
		}
		for kind, src := range map[string]io.Reader{
			"whole":         strings.NewReader(in),
			"byte by byte":  iotest.OneByteReader(strings.NewReader(in)),
			"data with EOF": iotest.DataErrReader(strings.NewReader(in)),
		} {
			all, err := readAll(src)
			if d := cmp.Diff(want, dataOf(all)); d != "" || err != io.EOF {
				t.Errorf("%s, %s: error %v, -want +got\n%s", lines[0], kind, err, d)
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
