package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
)

// TestReportShowsDrawings: report.md of a sweep shows its two best drawings, files beside it that are whole SVG; report
// writes them again beside another document, and one alone.
func TestReportShowsDrawings(t *testing.T) {
	notInShort(t)
	virtually(t, func(t *testing.T, w *world) {
		w.must(quick("sweep", w.slow(), "--out", w.path("run"), "--stage-time", "2s", "--points", "3", "--plain")...)
		w.must("report", w.path("run"), "--format", "markdown", "--lang", "zh", "-o", w.path("published/a<b>.md"))
		w.must("report", w.path("run"), "--format", "svg", "--drawing", "itl", "-o", w.path("itl.svg"))
		out, _ := w.must("report", w.path("run"), "--format", "svg")
		// the file has a mark behind it
		if first, err := os.ReadFile(w.path("run/output.svg")); err != nil || !strings.HasPrefix(string(first), out) ||
			len(out) == 0 {
			t.Errorf("%v: --format svg prints another drawing than report.md shows first", err)
		}
		for doc, files := range map[string][]string{"run/report.md": {"output.svg", "ttft.svg"},
			"published/a<b>.md": {"a-b--output.svg", "a-b--ttft.svg"}, "": {"itl.svg"}} {
			dir := strings.TrimSuffix(doc, doc[strings.LastIndex(doc, "/")+1:])
			text := ""
			if doc != "" {
				b, err := os.ReadFile(w.path(doc))
				if err != nil {
					t.Fatal(err)
				}
				text = string(b)
			}
			for _, file := range files {
				if doc != "" && !strings.Contains(text, "](<"+file+">)") {
					t.Errorf("%s does not show %s:\n%s", doc, file, text)
				}
				wholeSVG(t, w.path(dir+file))
			}
		}
		code, _, errs := w.llmsweep("report", w.path("run"), "--format", "svg", "--drawing", "nonsense", "-o",
			w.path("itl.svg"))
		if code != console.WrongUsage || !strings.Contains(errs, "there are output, ttft") {
			t.Errorf("exit %d: %s", code, errs)
		}
		wholeSVG(t, w.path("itl.svg")) // as it was
		for _, args := range [][]string{{"--format", "png"}, {"-o", w.path("ttft.png")}} {
			code, _, errs := w.llmsweep(append([]string{"report", w.path("run"), "--drawing", "ttft"}, args...)...)
			if code != console.WrongUsage || !strings.Contains(errs, "use --format svg") {
				t.Errorf("%v: exit %d: %s", args, code, errs)
			}
		}
		for _, args := range [][]string{{"--drawing", "ttft", "--format", "csv"}} {
			if code, _, errs := w.llmsweep(append([]string{"report", w.path("run")}, args...)...); code != console.WrongUsage {
				t.Errorf("%v: exit %d: %s", args, code, errs)
			}
		}
	})
}

// wholeSVG checks that a file is a drawing.
func wholeSVG(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	d, marks := xml.NewDecoder(f), 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return
		}
		if e, ok := token.(xml.StartElement); ok && (e.Name.Local == "path" || e.Name.Local == "circle") {
			marks++
		}
	}
	if marks < 3 {
		t.Errorf("%s has %d marks", path, marks)
	}
}

// TestAddressOfLive: where the address may be left out, and what is refused before anything is measured.
func TestAddressOfLive(t *testing.T) {
	for _, c := range []struct {
		args    []string
		address flags.LiveAddress
		url     string
	}{
		{[]string{"--live", "sim:"}, flags.FreePort, "sim:"},
		{[]string{"sim:", "--live"}, flags.FreePort, "sim:"},
		{[]string{"--live", "--plain", "sim:"}, flags.FreePort, "sim:"},
		{[]string{"--live", ":8089", "sim:"}, ":8089", "sim:"},
		{[]string{"--live=[::1]:80", "sim:"}, "[::1]:80", "sim:"},
		{[]string{"--live", "http://localhost:8000"}, flags.FreePort, "http://localhost:8000"},
		{[]string{"sim:"}, "", "sim:"},
	} {
		var grammar cli
		parser, _ := newParser(console.NewConsole(t.Context(), nil, nil), &grammar)
		if _, err := parser.Parse(append([]string{"sweep"}, c.args...)); err != nil {
			t.Errorf("%v: %v", c.args, err)
			continue
		}
		if s := &grammar.Sweep; s.Live != c.address || strings.Join(s.URL, "") != c.url {
			t.Errorf("%v: address %q, server %q", c.args, s.Live, s.URL)
		}
	}
}
