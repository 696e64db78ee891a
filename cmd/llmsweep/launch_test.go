package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"llmsweep/report/lang"
)

// options are those of the flags' defaults, for a command line.
func options(args ...string) LaunchOptions {
	return LaunchOptions{
		Name: "bench", Ranks: 4, CPUs: 2, Memory: "2G", Time: 26*time.Hour + 30*time.Minute, Line: readLaunch(args), Version: "test",
		Image: "registry/llmsweep:1", Secret: "keys", CopyImage: "busybox:1.37", Token: "0123456789abcdef",
	}
}

// secretive is a command line with a secret in each place that can hold one.
var secretive = []string{
	"sweep", "http://user:pass-word@server:8000", "--api-key", "sk-0001-secret", "--header", "X-Key: header-secret", "--header=X-Other: other-secret",
	"--body", `{"api_key":"body-secret","top_p":0.9}`, "--label", "gpu=L20 48GB", "--prompt", `it's "quoted" $HOME $(id) $$ \n ` + "`id`", "--slo", "ttft:p99<500ms",
}

// values are what the user sets the variables to.
var values = map[string]string{
	"LLMSWEEP_API_KEY": "sk-0001-secret", "LLMSWEEP_SECRET_1": "user:pass-word", "LLMSWEEP_SECRET_2": "header-secret",
	"LLMSWEEP_SECRET_3": "other-secret", "LLMSWEEP_SECRET_4": "body-secret",
}

// reached is what each rank gets of that command line. The key is in the environment.
var reached = []string{
	"sweep", "http://user:pass-word@server:8000", "--header=X-Key: header-secret", "--header=X-Other: other-secret",
	`--body={"api_key":"body-secret","top_p":0.9}`, "--label", "gpu=L20 48GB", "--prompt", secretive[12], "--slo", "ttft:p99<500ms",
}

// written returns the script or the manifests.
func written(t *testing.T, o *LaunchOptions, system string) string {
	t.Helper()
	text, err := o.Write(system)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func withoutSecrets(t *testing.T, text string) {
	t.Helper()
	for _, s := range values {
		if strings.Contains(text, s) {
			t.Errorf("the secret %s is printed:\n%s", s, text)
		}
	}
}

// A shell that runs the script gives each rank the command line, to the letter, with the secrets of the environment. Without them it ends.
func TestScriptRuns(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	o := options(secretive...)
	o.Nodes, o.Partition, o.Sbatch, o.Program = 2, "all", []string{"--exclusive"}, "/opt/my tools/llmsweep"
	script := written(t, &o, "slurm")
	withoutSecrets(t, script+strings.Join(o.Notes("slurm"), "\n"))
	dir := t.TempDir()
	fake := "#!" + bash + "\nprintf '%s\\n' \"${#LLMSWEEP_CLUSTER_TOKEN}\" \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "srun"), []byte(fake), 0o755); err != nil {
		t.Fatal(err)
	}
	run := exec.Command(bash, "-c", script)
	run.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
	if out, err := run.CombinedOutput(); err == nil || !strings.Contains(string(out), "before sbatch") {
		t.Errorf("without the secrets: %v\n%s", err, out)
	}
	run = exec.Command(bash, "-c", script)
	run.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
	for name, v := range values {
		run.Env = append(run.Env, name+"="+v)
	}
	out, err := run.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := append([]string{"32", "--cpus-per-task=2", "--kill-on-bad-exit=0", "--wait=0", "/opt/my tools/llmsweep"}, reached...)
	if diff := cmp.Diff(strings.Join(want, "\n")+"\n", string(out)); diff != "" {
		t.Error(diff)
	}
	for _, line := range []string{"--nodes=2", "--ntasks=4", "--ntasks-per-node=2", "--mem=4096M", "--time=1-02:30:00", "--partition=all", "--exclusive"} {
		if !strings.Contains(script, "#SBATCH "+line+"\n") {
			t.Errorf("no %s in\n%s", line, script)
		}
	}
}

// decoded returns the objects of a manifest as JSON has them.
func decoded(t *testing.T, manifest string) (all []map[string]any) {
	t.Helper()
	d := yaml.NewDecoder(strings.NewReader(manifest))
	for {
		var v map[string]any
		if d.Decode(&v) != nil {
			break
		}
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		clean, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, clean.(map[string]any))
	}
	return all
}

// launchPublished returns the schemas that Kubernetes publishes, without unknown fields.
func launchPublished(t *testing.T) *jsonschema.Schema {
	t.Helper()
	f, err := os.Open("testdata/kubernetes-1.36.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	v, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("kubernetes.json", v); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("kubernetes.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// at returns a part of an object.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			v = v.(map[string]any)[p]
		case int:
			v = v.([]any)[p]
		}
	}
	return v
}

// The manifests are valid by the schemas of Kubernetes, and say what several ranks need. A schema that takes all would show nothing, so an unknown field
// and a wrong type must be refused.
func TestManifestsAreValid(t *testing.T) {
	schema := launchPublished(t)
	for _, claim := range []string{"", "results"} {
		o := options(secretive...)
		o.Namespace, o.Claim = "bench", claim
		text := written(t, &o, "kubernetes")
		withoutSecrets(t, text+strings.Join(o.Notes("kubernetes"), "\n"))
		all := decoded(t, text)
		var kinds []string
		for _, v := range all {
			kinds = append(kinds, v["kind"].(string))
			if err := schema.Validate(v); err != nil {
				t.Errorf("%s: %v", v["kind"], err)
			}
			if at(v, "metadata", "namespace") != "bench" {
				t.Errorf("%s is not in the namespace", v["kind"])
			}
		}
		if diff := cmp.Diff([]string{"Secret", "Service", "Job"}, kinds); diff != "" {
			t.Fatal(diff)
		}
		service, job := all[1], all[2]
		if at(service, "spec", "clusterIP") != "None" || at(service, "spec", "publishNotReadyAddresses") != true {
			t.Error("the Service is not headless, or knows no pod before it is ready")
		}
		pod := at(job, "spec", "template", "spec")
		if at(job, "spec", "completions") != at(job, "spec", "parallelism") || at(pod, "subdomain") != at(service, "metadata", "name") || at(pod, "restartPolicy") != "Never" {
			t.Errorf("%v", at(job, "spec"))
		}
		if n := len(at(pod, "containers").([]any)); (n == 2) != (claim == "") {
			t.Errorf("%d containers with the claim %q", n, claim)
		}
		if strings.Contains(text, o.Token) != (at(all[0], "stringData", "token") == o.Token) || strings.Count(text, o.Token) != 1 {
			t.Error("the token is not in the Secret alone")
		}
		pod.(map[string]any)["restartpolicy"] = "Never"
		if schema.Validate(any(job)) == nil {
			t.Error("an unknown field is valid")
		}
		delete(pod.(map[string]any), "restartpolicy")
		at(job, "spec").(map[string]any)["completions"] = "four"
		if schema.Validate(any(job)) == nil {
			t.Error("a text is a valid number")
		}
	}
}

var reference = regexp.MustCompile(`\$\$|\$\([A-Za-z_][A-Za-z0-9_]*\)`)

// expand is what Kubernetes makes of an argument: $$ is $, and $(NAME) the value of a variable.
func expand(text string, value func(string) string) string {
	return reference.ReplaceAllStringFunc(text, func(s string) string {
		if s == "$$" {
			return "$"
		}
		return value(s[2 : len(s)-1])
	})
}

// A pod gets the command line to the letter.
func TestPodsGetTheCommandLine(t *testing.T) {
	o := options(secretive...)
	text := written(t, &o, "kubernetes")
	job := decoded(t, text)[2]
	rank := at(job, "spec", "template", "spec", "containers", 0)
	keys := map[string]string{}
	for _, v := range at(rank, "env").([]any) {
		if from, ok := v.(map[string]any)["valueFrom"]; ok && at(from, "secretKeyRef", "name") == "keys" {
			keys[at(v, "name").(string)] = values[at(v, "name").(string)]
		}
	}
	if diff := cmp.Diff(values, keys); diff != "" {
		t.Error(diff)
	}
	var got []string
	for _, a := range at(rank, "args").([]any) {
		got = append(got, expand(a.(string), func(name string) string { return values[name] }))
	}
	if diff := cmp.Diff(reached, got); diff != "" {
		t.Error(diff)
	}
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("ab $()'\"\\{}"))).Draw(rt, "text")
		if got := expand((launchArg{{Text: text}}).Kubernetes(), func(string) string { return "?" }); got != text {
			rt.Errorf("%q became %q", text, got)
		}
	})
}

// What the user must know is said, in both languages.
func TestNotes(t *testing.T) {
	o := options("sweep", "http://localhost:8000", "--dataset", "a.json", "--arrivals=trace:b.jsonl", "--api-key=sk-0001-secret")
	for _, l := range lang.All() {
		o.Lang = l
		for _, system := range []string{"slurm", "kubernetes"} {
			all := strings.Join(o.Notes(system), "\n")
			if text := written(t, &o, system); strings.Contains(text, "%!") || strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) }) != (l == lang.Chinese) {
				t.Errorf("%s:\n%s", l, text)
			}
			for _, want := range []string{"a.json", "b.jsonl", "localhost"} {
				if !strings.Contains(all, want) {
					t.Errorf("%s: nothing of %s in\n%s", l, want, all)
				}
			}
			if strings.Contains(all, "kubectl create secret generic keys --from-literal=api-key=...") != (system == "kubernetes") {
				t.Errorf("%s, %s:\n%s", l, system, all)
			}
		}
	}
	if n := options("sweep", "http://server:8000").Line.Secrets; len(n) > 0 {
		t.Errorf("secrets in a command line without: %v", n)
	}
}

// Options that make no job are refused.
func TestWrongOptions(t *testing.T) {
	for what, change := range map[string]func(*LaunchOptions){
		"name": func(o *LaunchOptions) { o.Name = "Bench_1" }, "long name": func(o *LaunchOptions) { o.Name = strings.Repeat("a", 60) },
		"ranks": func(o *LaunchOptions) { o.Ranks = 1 }, "cpus": func(o *LaunchOptions) { o.CPUs = 0 },
		"namespace": func(o *LaunchOptions) { o.Namespace = "a" }, "claim": func(o *LaunchOptions) { o.Claim = "a" },
		"memory": func(o *LaunchOptions) { o.Memory = "2 GB" }, "time": func(o *LaunchOptions) { o.Time = time.Second },
	} {
		o := options("sweep", "sim:")
		if err := o.Check("slurm"); err != nil {
			t.Fatal(err)
		}
		if change(&o); o.Check("slurm") == nil {
			t.Errorf("%s: taken", what)
		}
	}
}

// A shell reads a quoted word as the text, and a terminal obeys nothing in it.
func TestQuoted(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	for _, text := range []string{"a b", "it's", "a\x1b[31mred\x07", "a\u009b31m", "two\nlines\tand 'quotes' \\n", "模型", "模型\u202e", "\xff\xfe", "$(id) `id` $HOME\r"} {
		word := shellWord(text)
		if strings.ContainsFunc(word, func(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }) {
			t.Errorf("%q is written %q", text, word)
		}
		if out, err := exec.Command(bash, "-c", "printf %s "+word).Output(); err != nil || string(out) != text {
			t.Errorf("%q is read as %q, %v", text, out, err)
		}
	}
}

// Secrets are found however JSON writes them, and keys wherever they stand.
func TestSecretsInOtherForms(t *testing.T) {
	const key = "sk-0001-secret"
	for _, body := range []string{`{"a":{"api_key":"in&<\"body"}}`, `{"a":{"api_key":"in\u0026\u003c\"body"}}`, `{"a":{"api_key":"\u0069n&<\"body"}}`, `{"user":"` + key + `"}`, `{"user":"sk-0002-secret"}`} {
		l := readLaunch([]string{"run", "h", "--api-key=" + key, "--label", "note=" + key, "--body=" + body}, "sk-0002-secret", "", "run")
		for _, a := range l.Args {
			if text := a.text(); strings.Contains(text, "body\"") || strings.Contains(text, `n\u0026`) || strings.Contains(text, "n&<") || strings.Contains(text, "-secret") {
				t.Errorf("%s: %q", body, text)
			}
		}
		if len(l.Args) < 4 || l.Args[0].text() != "run" || len(l.Secrets) < 2 {
			t.Errorf("%s: %+v", body, l)
		}
	}
}

// A manifest has the argument to the letter, and nothing that a terminal obeys.
func TestManifestIsHarmless(t *testing.T) {
	for _, text := range []string{"a\u202egnp.exe\u202c", "a\u009b31mred", "it's \u202e \"x\"", "\x1b[31m\u009b", "- a\u202e", "\x1b[31mred", "\ta\tb", "a\x00b\x7fc"} {
		o := options("run", "http://h:1", "--model", text)
		manifest := written(t, &o, "kubernetes")
		if strings.ContainsFunc(manifest, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
			t.Errorf("%q\n%q", text, manifest)
		}
		all := decoded(t, manifest)
		if found := fmt.Sprintf("%q", all[len(all)-1]); !strings.Contains(found, fmt.Sprintf("%q", text)) {
			t.Errorf("%q is not in %s", text, found)
		}
	}
}
