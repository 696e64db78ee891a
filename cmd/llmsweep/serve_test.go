package main

import (
	"strings"
	"testing"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
)

// TestReportWritesDrawings: report writes the two best drawings of a sweep beside a document, and one alone, as whole
// SVG; a name that there is not leaves the file as it was.
func TestReportWritesDrawings(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		w.must("report", firstReport, "--format", "markdown", "--lang", "zh", "-o", w.path("published/a<b>.md"))
		w.must("report", firstReport, "--format", "svg", "--drawing", "itl", "-o", w.path("itl.svg"))
		out, _ := w.must("report", firstReport, "--format", "svg")
		if first := contentOf(t, w.path("published/a-b--output.svg")); out == "" || len(out) > len(first) {
			t.Errorf("--format svg prints another drawing than a document shows first:\n%s", out)
		}
		if !containsAll(contentOf(t, w.path("published/a<b>.md")), "](<a-b--output.svg>)", "](<a-b--ttft.svg>)") {
			t.Error("the document does not show its drawings")
		}
		w.llmsweep("report", firstReport, "--format", "svg", "--drawing", "nonsense", "-o", w.path("itl.svg"))
		for _, file := range []string{"published/a-b--output.svg", "published/a-b--ttft.svg", "itl.svg"} {
			shape, err := xmlShape(contentOf(t, w.path(file)))
			marks := 0
			for _, element := range shape {
				if strings.HasPrefix(element, "path ") || strings.HasPrefix(element, "circle ") {
					marks++
				}
			}
			if err != nil || marks < 3 {
				t.Errorf("%s: %v, %d marks", file, err, marks)
			}
		}
	})
}

// TestAddressOfLive: where the address may be left out, and what is refused before anything is measured.
func TestAddressOfLive(t *testing.T) {
	for _, c := range []struct {
		args    string
		address flags.LiveAddress
		url     string
	}{
		{"--live sim:", flags.FreePort, "sim:"}, {"sim: --live", flags.FreePort, "sim:"},
		{"--live --plain sim:", flags.FreePort, "sim:"}, {"--live :8089 sim:", ":8089", "sim:"},
		{"--live=[::1]:80 sim:", "[::1]:80", "sim:"}, {"sim:", "", "sim:"},
		{"--live http://localhost:8000", flags.FreePort, "http://localhost:8000"},
	} {
		var grammar cli
		parser, _ := newParser(console.NewConsole(t.Context(), nil, nil), &grammar)
		if _, err := parser.Parse(append([]string{"sweep"}, strings.Fields(c.args)...)); err != nil {
			t.Errorf("%v: %v", c.args, err)
			continue
		}
		if s := &grammar.Sweep; s.Live != c.address || strings.Join(s.URL, "") != c.url {
			t.Errorf("%v: address %q, server %q", c.args, s.Live, s.URL)
		}
	}
}
