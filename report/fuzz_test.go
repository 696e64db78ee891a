package report

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"llmsweep/client/testkit"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// FuzzDirectory opens and renders run directories with any content: each is refused, or printed in all formats without
// a panic and without what a terminal would obey.
func FuzzDirectory(f *testing.F) {
	records := `{"stage":"a","seq":1,"turn":0,"due":1.5,"sent":1.5,"first_token":1.6,"last_token":1.9,"end":2,"status":"ok","output_tokens":3,"gaps_us":[1,2]}` + "\n"
	for _, name := range []string{"run.json", "run-killed.json", "sweep.json"} {
		b := testkit.Must(os.ReadFile(filepath.Join("../sweep/testdata", name)))
		if len(b) < 100<<10 {
			f.Add(b, []byte(records))
		}
	}
	f.Add([]byte(`{"schema":"llmsweep.run/v1","state":"complete","stages":[{"name":"a","kind":"closed","requests":{"ok":1}}]}`), []byte(records))
	f.Add([]byte(`{"schema":"llmsweep.run/v1","target":{"model":"\u001b[31m|x<script>","notes":[{"code":"probe.busy","args":{"seconds":"x"}}]}}`), []byte("{}\n"))
	dir := f.TempDir()
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, run, records []byte) {
		for name, b := range map[string][]byte{rundir.RunFile: run, rundir.RecordsFile: records} {
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r, err := saturation.Reopen(dir)
		if err != nil {
			return
		}
		for _, format := range Formats() {
			for _, l := range []lang.Lang{lang.English, lang.Chinese} {
				var out bytes.Buffer
				if err := Render(&out, format, []rundir.Run{*r}, Options{Lang: l, Dir: dir}); err == nil &&
					bytes.Contains(out.Bytes(), []byte("\x1b")) {
					t.Errorf("%s: an escape sequence in %q", format, out.Bytes())
				}
			}
		}
	}))
}
