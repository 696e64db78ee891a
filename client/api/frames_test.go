package api

import (
	"bytes"
	"errors"
	"fmt"
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
	tests := map[string]struct {
		in   string
		want []string
	}{
		"plain":                {"data: a\n\ndata: b\n\n", []string{"a", "b"}},
		"CRLF":                 {"data: a\r\n\r\ndata: b\r\n\r\n", []string{"a", "b"}},
		"CR alone":             {"data: a\r\rdata: b\r\r", []string{"a", "b"}},
		"mixed line ends":      {"data: a\r\n\ndata: b\n\r\ndata: c\r\r\n", []string{"a", "b", "c"}},
		"no space":             {"data:a\n\ndata:{}\n\n", []string{"a", "{}"}},
		"one space only":       {"data:  a \n\n", []string{" a "}},
		"comments and pings":   {": ping\n\n:\n\ndata: a\n: x\n\n: ping - 2026\n\n", []string{"a"}},
		"comment inside":       {"data: a\n: ping\ndata: b\n\n", []string{"a\nb"}},
		"other fields":         {"event: message\nid: 7\nretry: 10\ndata: a\n\n", []string{"a"}},
		"event without data":   {"event: ping\n\ndata: a\n\n", []string{"a"}},
		"empty data":           {"data:\n\ndata: \n\ndata\n\ndata: a\n\n", []string{"a"}},
		"several lines":        {"data: {\ndata: \"a\":1\ndata:}\n\n", []string{"{\n\"a\":1\n}"}},
		"empty line of data":   {"data: a\ndata\ndata: b\n\n", []string{"a\n\nb"}},
		"byte order mark":      {"\ufeffdata: a\n\n", []string{"a"}},
		"no final blank line":  {"data: a\n\ndata: b\n", []string{"a", "b"}},
		"no final newline":     {"data: a\n\ndata: b", []string{"a", "b"}},
		"no final data":        {"data: a\n\n: bye", []string{"a"}},
		"many blank lines":     {"\n\n\ndata: a\n\n\n\n\ndata: b\n\n\n", []string{"a", "b"}},
		"near misses":          {"dat: x\ndata2: x\n data: x\ndatab\n\ndata: a\n\n", []string{"a"}},
		"event: error":         {"event: error\ndata: a\n\nevent: message\ndata: b\n\n", []string{"a", "b"}},
		"an error alone":       {"event: error\n\ndata: b\n\n", []string{"", "b"}},
		"a line of prose":      {"data: a\n\nupstream has gone\n\n", []string{"a", "upstream has gone"}},
		"a line of HTML":       {"<html>\n\n", []string{"<html>"}},
		"error line":           {"error: {\"code\":500}\n\n", []string{`{"code":500}`}},
		"colons in data":       {"data: a: b: c\n\n", []string{"a: b: c"}},
		"nothing":              {"", nil},
		"NUL and odd bytes":    {"data: \x00\xff\n\n", []string{"\x00\xff"}},
		"unicode line sep":     {"data: a\u2028b\n\n", []string{"a\u2028b"}},
		"text in two alphabet": {"data: 你好\n\ndata: мир\n\n", []string{"你好", "мир"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for kind, src := range map[string]io.Reader{
				"whole":         strings.NewReader(tt.in),
				"byte by byte":  iotest.OneByteReader(strings.NewReader(tt.in)),
				"data with EOF": iotest.DataErrReader(strings.NewReader(tt.in)),
			} {
				all, err := readAll(src)
				if err != io.EOF {
					t.Errorf("%s: error %v", kind, err)
				}
				if d := cmp.Diff(tt.want, dataOf(all)); d != "" {
					t.Errorf("%s: -want +got\n%s", kind, d)
				}
			}
		})
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

// pieces is a source that returns one piece from each read.
type pieces struct {
	left []string
	err  error
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.left) == 0 {
		return 0, p.err
	}
	n := copy(b, p.left[0])
	if p.left[0] = p.left[0][n:]; p.left[0] == "" {
		p.left = p.left[1:]
	}
	return n, nil
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
		all, err := readAll(&pieces{left: []string{in}, err: broken})
		if err != broken {
			t.Errorf("%q: error %v", in, err)
		}
		if d := cmp.Diff(want, dataOf(all)); d != "" {
			t.Errorf("%q: -want +got\n%s", in, d)
		}
	}
}

func TestMegabytes(t *testing.T) {
	big := strings.Repeat("0123456789abcdef", 1<<16)
	in := "data: a\n\ndata: " + big + "\n\ndata: " + big + "\ndata: b\n\ndata: c\n\n"
	all, err := readAll(iotest.HalfReader(strings.NewReader(in)))
	if d := cmp.Diff([]string{"a", big, big + "\nb", "c"}, dataOf(all)); d != "" || err != io.EOF {
		t.Errorf("error %v, frames of %d bytes", err, len(all))
	}
}

// zeros never ends.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

func TestTooLong(t *testing.T) {
	_, err := readAll(io.MultiReader(strings.NewReader("data: "), zeros{}))
	if !errors.Is(err, ErrTooLong) {
		t.Errorf("error %v", err)
	}
}

// seeds are the captured streams and a few traps.
func seeds(f *testing.F) {
	for _, b := range captured(f) {
		f.Add(b, uint64(len(b)))
	}
	for _, s := range []string{"\ufeffdata: a\r\rdata:b\r\n\r\n", "data\ndata:\ndata: x", "error: e\n\n:\n\n",
		"\r\n\r\r\ndata: \xff"} {
		f.Add([]byte(s), uint64(3))
		f.Add([]byte(s), uint64(1))
	}
}

// The frames of a stream do not depend on how it is split into pieces, and each arrives with a piece of its own data.
func FuzzFrameReader(f *testing.F) {
	seeds(f)
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

func BenchmarkFrameReader(b *testing.B) {
	event := `data: {"id":"chatcmpl-5f0c6c1c1a3f4a0e","object":"chat.completion.chunk","created":1795246897,` +
		`"model":"Qwen2-7B-Instruct","choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}]}` + "\n\n"
	for _, events := range []int{1, 16} {
		b.Run(fmt.Sprint(events, " a piece"), func(b *testing.B) {
			piece := []byte(strings.Repeat(event, events))
			var r FrameReader
			r.Reset()
			b.ReportAllocs()
			for b.Loop() {
				r.Feed(piece, Arrival{})
				for _, ok := r.Next(); ok; _, ok = r.Next() {
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*events), "ns/event")
		})
	}
}
