package main

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"llmsweep/client/testkit"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
)

// FuzzFlags parses command lines and what their flags say, without running them: each is understood, or refused in one
// line.
func FuzzFlags(f *testing.F) {
	for _, s := range []string{
		"run http://h --rate 4 --arrivals gamma:0.5 --duration 5m --slo ttft:p99<500ms",
		"run sim: --concurrency 1,2 --requests 9 --label gpu=L20,gpus=2",
		"sweep h:1 --points 3 --stage-time 3s --body {\"a\":1} --header A:b --budget 60s",
		"compare --live a b --rate 2 --budget 3m",
		"choose a --price L20=1 --demand 20rps --slo itl:mean<5ms", "report d --format csv -o x",
		"sim --fault 500:0.1 --habit sheds", "help metrics",
		"run h --arrivals ramp:1-20 --prompt-tokens mean=5,std=2 --turns 3 --think-time exp:2s",
		"sweep h --cert a --key b --http 2 --ca c",
	} {
		f.Add(s)
	}
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, line string) {
		args := strings.Fields(line)
		for _, a := range args {
			if strings.HasPrefix(a, "--config") || strings.HasPrefix(a, "@") { // would read files
				return
			}
		}
		if len(args) == 0 {
			return
		}
		parser := parserFor(console.NewConsole(context.Background(), io.Discard, io.Discard))
		defer parser.free()
		grammar := parser.grammar
		parsed, err := parser.Parse(args)
		if parser.exited() >= 0 {
			return
		}
		if err == nil {
			err = checkPositive(parsed)
		} else {
			err = plainError(err, args[0])
		}
		if err == nil {
			err = understood(grammar, parsed.Command())
		}
		if err != nil && err.Error() == "" {
			t.Errorf("%q: an error without a text", line)
		}
		for _, flags := range []*flags.Target{&grammar.Run.Target, &grammar.Sweep.Target} {
			for _, a := range flags.Redact(args) {
				if key := flags.APIKey; len(key) > 3 && strings.Contains(a, key) {
					t.Errorf("%q: the key is in %q", line, a)
				}
			}
		}
	}))
}

// understood reads what the flags of run and sweep say, as far as that needs no file and no server.
func understood(g *cli, command string) (err error) {
	target, urls := &g.Sweep.Target, g.Sweep.URL
	if strings.HasPrefix(command, "run") {
		target, urls = &g.Run.Target, g.Run.URL
		_, err = g.Run.check()
	} else if strings.HasPrefix(command, "sweep") {
		_, err = g.Sweep.Config(1)
	} else {
		return nil
	}
	if err == nil {
		_, err = target.Options(strings.Join(urls, ""), 1)
	}
	return err
}

// FuzzConfig reads configuration files: each is understood, or refused in one line that names the file.
func FuzzConfig(f *testing.F) {
	for _, s := range []string{
		"", "points: 3\nstage-time: 30s\n", "slo: ['a<1', b]\n",
		"url: 'sim:'\nlabel: {gpu: L20, gpus: 2}\nbody: {top_p: 0.9, stop: [a]}\nheader: {X: y}\n",
		"# nothing\n", "a: &x [1]\nb: *x\n", "- 1\n", "a: |\n  b\n", "points: 3\npoints: 4\n", "\"\\x00\": 1\n",
		"a: !!binary x\n", "---\n...\n---\na: 1\n", "{a: 1",
	} {
		f.Add([]byte(s))
	}
	parser, _ := newParser(console.NewConsole(context.Background(), io.Discard, io.Discard), &cli{})
	var flags []*kong.Flag
	kong.Visit(parser.Model, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			flags = append(flags, flag)
		}
		return next(nil)
	})
	const name = "c.yaml"
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, text []byte) {
		file, err := parseConfig(name, text)
		if err == nil {
			err = file.Validate(parser.Model)
		}
		for i := 0; err == nil && i < len(flags); i++ {
			_, err = file.Resolve(nil, nil, flags[i])
		}
		if err != nil && !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v", text, err)
		}
	}))
}
