package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"llmsweep/client/testkit"

	simserver "llmsweep/client/sim/server"
	"llmsweep/cmd/llmsweep/console"

	"github.com/google/go-cmp/cmp"
)

// golden compares a text with a committed file, which -update writes.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *testkit.Update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-committed +now); go test ./cmd/llmsweep -update writes it:\n%s", file, diff)
	}
}

// commands are the names of the commands that people see.
func commands(t *testing.T) []string {
	t.Helper()
	var names []string
	parser, _ := newParser(console.NewConsole(t.Context(), nil, nil), &cli{})
	for _, node := range parser.Model.Children {
		if !node.Hidden {
			names = append(names, node.Name)
		}
	}
	return names
}

// TestHelpOfEachCommand compares the output of --help with testdata/help.
func TestHelpOfEachCommand(t *testing.T) {
	for _, command := range append(commands(t), "") {
		var out, errs strings.Builder
		args := strings.Fields(command + " --help")
		if code := executeAgain(args, console.NewConsole(t.Context(), &out, &errs)); code != console.Done || errs.Len() > 0 {
			t.Errorf("%v: exit %d, %s", args, code, errs.String())
		}
		name := command
		if name == "" {
			name = "llmsweep"
		}
		golden(t, filepath.Join("testdata/help", name+".txt"), out.String())
		if command != "" && command != "version" && !strings.Contains(out.String(), "\n    llmsweep ") {
			t.Errorf("%s --help has no examples", command)
		}
	}
}

// TestErrors compares exit code and message of each wrong command line with testdata/errors.txt. Each error is one
// line.
func TestErrors(t *testing.T) {
	notInShort(t)
	virtually(t, func(t *testing.T, w *world) {
		files := strings.NewReplacer("$W", w.dir)
		w.write("unknown.yaml", "points: 3\nstage-tiem: 3s\n")
		w.write("other.yaml", "points: 3\nrate: 4\n")
		w.write("damaged.yaml", "points: 3\na: [1,\n")
		w.write("value.yaml", "points: many\n")
		w.write("list.yaml", "points: [1, 2]\n")
		w.write("twice.yaml", "points: 3\npoints: 4\n")
		w.write("prose.md", "nothing here\n")
		w.write("foreign.html", "<p>mine</p>\n")
		if err := os.Mkdir(w.path("empty"), 0o755); err != nil {
			t.Fatal(err)
		}
		published, err := os.ReadFile("../../report/published/testdata/guidellm-tables.md")
		if err != nil {
			t.Fatal(err)
		}
		w.write("results.md", string(published))
		for port, h := range map[string]http.Handler{
			"1": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprint(w, "<!doctype html><title>Welcome to nginx!</title>")
			}),
			"2": http.NotFoundHandler(),
			"3": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"data":7`) }),
			"4": w.simulated(simserver.Options{APIKey: "right-key-7"}),
			"5": w.simulated(simserver.Options{}),
		} {
			_, done, err := w.serve(w.ctx, "server:"+port, h)
			if err != nil {
				t.Fatal(err)
			}
			defer done()
		}
		defer w.cancel(nil)
		var all strings.Builder
		for _, line := range strings.Split(strings.TrimSpace(wrong), "\n") {
			if line == "" || strings.HasPrefix(line, "#") {
				fmt.Fprintln(&all, line)
				continue
			}
			code, out, errs := w.llmsweep(shellWords(files.Replace(line))...)
			if code == console.Done || !strings.HasPrefix(errs, "llmsweep: ") || strings.Count(errs, "\n") != 1 {
				t.Errorf("%s: exit %d, not one line of error\n%s%s", line, code, out, errs)
			}
			if strings.Contains(errs, "key-7") {
				t.Errorf("%s: the key is in the error: %s", line, errs)
			}
			fmt.Fprintf(&all, "$ llmsweep %s\nexit %d: %s", line, code, strings.ReplaceAll(errs, w.dir, "$W"))
		}
		golden(t, "testdata/errors.txt", all.String())
		if left, err := filepath.Glob(w.path("llmsweep-*")); err != nil || len(left) > 0 {
			t.Errorf("run directories are left behind: %v, %v", left, err)
		}
		if b, err := os.ReadFile(w.path("prose.md")); err != nil || string(b) != "nothing here\n" {
			t.Errorf("the user's document became %q, %v", b, err)
		}
	})
}

// wrong are command lines with an error. $W is the directory of the test.
const wrong = `
# Commands and flags
frobnicate
swep sim:
sweep sim: --frob
run sim: --concurrency
run sim: --requests -3
run sim: --requests many --concurrency 2
help metrix
help nonsense
sweep sim: --rate 5
sweep sim: --rate=inf
sweep sim: --request-rate inf
sweep sim: --max-seconds 30
sweep sim: --num-prompts 100
sweep sim: --concurrency 8
sweep sim: --output-len 5
sweep sim: --goodput ttft:500
sweep --target http://localhost:8000
sweep sim: --percentile-metrics ttft
sweep sim: --rate-type sweep
run sim: --request-rate 5
run sim: --request-rate key-7
run sim: --random-input-len=1024
run sim: --max-seconds 30
run sim: --max-requests 100
run sim: --burstiness 0.5
run sim: --backend vllm
run sim: --data prompt_tokens=5
run sim: --disable-tqdm
run sim: --demand 5
choose x --request-rate 5
label $W/empty gpu=L20
report $W/nowhere
report
report $W/empty --format pdf
compare $W/results.md --any-workload --html $W/foreign.html
compare $W/results.md --any-workload -o $W/foreign.md
report $W/results.md --document --any-workload -o $W/foreign.md

# Servers
sweep
sweep http://
sweep ftp://host
sweep http://host:port
sweep sim:nonsense
sweep http://server:9
sweep http://server:1
sweep http://server:2
sweep http://server:3
sweep http://server:4
sweep http://server:4 --api-key wrong-key-7
sweep http://server:5 --model nope
sweep sim: --header nocolon-key-7
sweep sim: --body [1]
sweep sim: --ca /no/such/file
sweep sim: --think --no-think
sweep sim: --timeout 0s
sweep sim: --max-rps 0
sim --preset x
sim --faults meteor:1
sim --max-num-seqs 0

# Sweeps
sweep sim: --points 0
sweep sim: --repeats 0
sweep sim: --adaptive
sweep sim: --stage-time -3s
sweep sim: --stage-time=-3s
sweep sim: --stage-time 3
sweep sim: --stage-time 1ms
sweep sim: --budget 3s
sweep sim: --warmup soon
sweep sim: --drain=-1s
sweep sim: --max-error-rate 2
sweep sim: --max-concurrency 0
sweep sim: --slo latency<1m
sweep sim: --slo ttft:p99>1m
sweep sim: --slo ttft<500ms
sweep sim: --slo e2e:p99<5s
sweep sim: --slo e2el:99<5s
sweep sim: --slo ttft:p99<500

# Loads
run sim: --max-concurrency 8
run sim: --rate 5 --concurrency 3
run sim: --rate 0
run sim: --rate NaN
run sim: --rate Inf
run sim: --rate 2000000
run sim: --rate 5 --arrivals sometimes
run sim: --arrivals constant
run sim: --arrivals ramp:1-5 --rate 3
run sim: --arrivals trace:$W/none.jsonl
run sim: --arrivals trace:$W/prose.md
run sim: --rate 5 --time-scale 2
run sim: --concurrency 0
run sim: --concurrency 4,4
run sim: --concurrency 4 --max-concurrency 8
run sim: --concurrency 4 --requests 0
run sim: --concurrency 4 --duration 0s
run sim: --concurrency 4 --requests 5 --duration 1s
run sim: --concurrency 4 --repeats 101
run sim: --rate 2 --format pdf

# Workloads
sweep sim: --prompt-tokens many
sweep sim: --output-tokens mean=5,min=9
run sim: --concurrency 4 --dataset $W/none.json
run sim: --concurrency 4 --dataset $W/unknown.yaml
run sim: --concurrency 4 --tokenizer $W/unknown.yaml
run sim: --concurrency 4 --prompt x --turns 3
run sim: --concurrency 4 --multi-turn
run sim: --concurrency 4 --prefix-tokens 0
run sim: --concurrency 4 --think-time forever

# Labels and configuration files
sweep sim: --label gpus=two
sweep sim: --label Color=red
sweep sim: --label L20
sweep sim: --label price=free
sweep sim: --config $W/none.yaml
sweep sim: --config $W/unknown.yaml
sweep sim: --config $W/other.yaml
sweep sim: --config $W/damaged.yaml
sweep sim: --config $W/value.yaml
sweep sim: --config $W/list.yaml
sweep sim: --config $W/empty
sweep sim: --config $W/twice.yaml

# Published results, comparison, choice
import $W/prose.md
import $W/none.md
import $W/prose.md --label gpus=x
audit
audit $W/prose.md
audit $W/empty
compare
compare $W/results.md -o $W/new.pdf
compare $W/results.md -o $W/new.csv
report $W/empty -o $W/new.pdf
compare $W/nowhere
compare $W/empty
compare $W/prose.md
compare $W/results.md --fail-if pace<-5%
compare sim: sim:
compare --live sim:
compare --live sim: sim: --difference 3%
compare --live sim: sim: --budget 0s
compare --live sim: sim: --budget=-3s
compare --live sim: sim: --rate 0
compare --live sim: sim: --concurrency 0
compare --live sim: sim: --stage-time 1ms
compare --live sim: sim: --fail-if ttft@sync>5% --rate 4
compare --live sim: sim:Llama/Abacus
compare --live sim: sim: --label Color=red
choose $W/results.md --demand 20rps
choose $W/results.md --slo itl:mean<50ms
choose $W/results.md --slo itl:mean<50 --demand 20rps
choose $W/results.md --slo itl:mean<50ms --demand 20
choose $W/results.md --slo itl:mean<50ms --demand 20rps --price L20
choose $W/results.md --slo itl:mean<50ms --demand 20rps --prices $W/none.yaml
choose $W/results.md --slo itl:mean<50ms --demand 20rps --only model=Llama
choose $W/results.md --slo itl:mean<50ms --demand 20rps --headroom 1
choose $W/results.md --slo itl:mean<50ms --demand 20rps --max-gpus 0

report $W/list.yaml

# Documents
report $W/results.md --document
report $W/results.md --document -o $W/prose.md
report --document -o $W/new.md
report $W/nowhere --document -o $W/new.md
compare $W/results.md -o $W/run.json
selftest --streams 0
`
