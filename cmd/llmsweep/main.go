// Command llmsweep measures how much load an LLM server sustains and how long its answers take under that load.
//
// This package is the grammar of the command line: one file for each command, with its flags, its --help and the calls
// that do the work. What commands share is in the packages beside it:
//
//	job      one job from flags to exit code: connect, measure, conclude, render
//	flags    groups of flags that several commands have
//	console  what surrounds a command: streams, errors with exit codes, terminal, signals
//	manual   the topics of llmsweep help
//
// The work is done in client (one request), sweep (which stages, their metrics and the answer) and report (renderings).
// Imports run one way: cmd -> report -> sweep -> client. Where a change goes:
//
//	a column             Columns in report/findings/columns.go, its heading beside headAnswered in
//	                     report/findings/words.go; the default ones: MainColumns in report/findings/main_columns.go;
//	                     those of --all: allRows in report/sections.go and allRows in report/page/run.go
//	an API of servers    Dialects in client/api/dialects.go, with a file like those of openAI in client/api/openai.go and
//	                     sglangAPI in client/api/sglang.go; the simulated server's side, if it is to have one: New in
//	                     client/sim/server/server.go
//	a kind of load       kinds in sweep/arrival/kinds.go, with a file like that of Gamma in sweep/arrival/gamma.go: run
//	                     has it then; sweep has Poisson arrivals alone (Poisson in sweep/experiment/experiment.go)
//	a rule of judgement  verdict in sweep/measure/verdict.go for a stage, with DefaultTolerance; leastGrowth in
//	                     sweep/measure/thresholds.go; bracketOf in sweep/saturation/saturation.go for the answer
//	a sentence           in English and Chinese: saySaturates in report/findings/words.go for answers, sweepWords in
//	                     report/findings/words_notes.go for reasons and notes; tests read answers by answerPatterns in
//	                     report/printed_answer_test.go
//	a format             formats in report/formats.go for output, ParseText in report/published/read.go for input
//	a drawing            loadFigures in report/page/drawing.go; report/draw has the means
//	a command            a file like that of simCmd in cmd/llmsweep/sim.go, and its line of cli in cmd/llmsweep/main.go
//
// Tables of the manual name columns, APIs, loads and the tolerance: metrics.md, servers.md, loads.md and verdicts.md in
// cmd/llmsweep/manual/topics. The manual has 4,000 words at most, README 120 lines, --help 46 lines: what comes asks what
// leaves. After a change of what people see, .ci/update writes the expected outputs anew: read the difference.
package main

import (
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"llmsweep/client/api"
	simserver "llmsweep/client/sim/server"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/sweep/arrival"
)

func main() {
	if os.Getenv("GOGC") == "" {
		// A collection marks what thousands of open streams hold, which delays the tokens that arrive meanwhile.
		// Streams leave little to collect, so it costs little memory to collect a quarter as often as Go does.
		debug.SetGCPercent(400)
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

type cli struct {
	Demo     demoCmd     `cmd:"" help:"Sweep a simulated server for a minute; needs no GPU." group:"Measure"`
	Sweep    sweepCmd    `cmd:"" help:"Find the highest rate that a server sustains, with its latencies." group:"Measure"`
	Run      runCmd      `cmd:"" help:"Measure one load: a rate, a concurrency, a ramp or a trace." group:"Measure"`
	Resume   resumeCmd   `cmd:"" help:"Continue a sweep or run that was interrupted." group:"Measure"`
	Report   reportCmd   `cmd:"" help:"Print a run again: tables, CSV, JSON, a page, a document." group:"Read"`
	Label    labelCmd    `cmd:"" help:"Change the labels of a run: model, GPU, engine, price." group:"Read"`
	Import   importCmd   `cmd:"" help:"Turn results of other tools into run directories." group:"Read"`
	Audit    auditCmd    `cmd:"" help:"Find figures that cannot be right, and say why." group:"Read"`
	Compare  compareCmd  `cmd:"" help:"Compare results or two servers: differences with intervals." group:"Decide"`
	Choose   chooseCmd   `cmd:"" help:"Find the cheapest GPUs and engine for a demand and an SLO." group:"Decide"`
	History  historyCmd  `cmd:"" help:"Find what became slower or faster from run to run." group:"Decide"`
	Sim      simCmd      `cmd:"" help:"Start a simulated server." group:"Other"`
	Selftest selftestCmd `cmd:"" help:"Measure how fast and exact this client is on this machine." group:"Other"`
	Help     helpCmd     `cmd:"" help:"Explain a topic, such as metrics or slo; alone: list them." group:"Other"`

	SelftestHelper selftestHelperCmd `cmd:"" hidden:""`

	Config  configFlag       `placeholder:"FILE" help:"Read flags of a command from a YAML file (help files)."`
	Version kong.VersionFlag `help:"Print the version."`
}

// BeforeResolve lets the environment choose the language where neither the command line nor the configuration file
// does.
func (*cli) BeforeResolve(ctx *kong.Context, c *console.Console) error {
	ctx.AddResolver(kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		if flag.Name != "lang" || flag.Default != "en" {
			return nil, nil
		}
		return c.Language(), nil
	}))
	return nil
}

// description is what llmsweep --help begins with.
const description = `Measure how much load an LLM server sustains, and its latencies under that load.

  llmsweep demo                            # a minute, without a server
  llmsweep sweep http://localhost:8000     # from 7 minutes; --budget sets it`

func run(args []string, out, errOut io.Writer) int {
	in, stop := console.NewInterrupter()
	defer stop()
	c := console.NewConsole(in.Ctx, out, errOut)
	c.Interrupts = in
	return execute(args, c)
}

// newParser returns the parser of the command line, and a function that reports the exit code that --help or --version
// asked for, or -1.
func newParser(c *console.Console, grammar *cli) (*kong.Kong, func() int) {
	exited := -1
	parser, err := kong.New(grammar,
		kong.Name("llmsweep"),
		kong.Description(description),
		kong.Writers(c.Out, c.Err),
		kong.Exit(func(code int) { exited = code }),
		kong.Bind(c),
		kong.Vars{
			"version": console.VersionText(), "listen": simAddress, "engines": strings.Join(simserver.Engines(), ", "),
			"apis": strings.Join(api.Names(), ","), "apis_text": strings.Join(api.Names(), ", "),
			"arrivals": arrival.KindsHelp(),
		},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, WrapUpperBound: 110}),
		kong.ValueFormatter(func(v *kong.Value) string { return v.Help }),
		kong.Help(func(o kong.HelpOptions, ctx *kong.Context) error {
			for _, f := range ctx.Model.Flags { // llmsweep --help has them
				f.Hidden = ctx.Selected() != nil
			}
			return kong.DefaultHelpPrinter(o, ctx)
		}),
	)
	if err != nil {
		panic(err) // the grammar itself is wrong
	}
	parser.Model.HelpFlag.Help = "Print this help."
	measuring := []string{"What is sent", "Server", "How long"}
	for _, command := range parser.Model.Children {
		for _, f := range command.Flags { // only --live takes what sweep and run take
			if command.Name == "compare" && f.Group != nil && slices.Contains(measuring, f.Group.Title) {
				f.Hidden = true
			}
		}
	}
	return parser, func() int { return exited }
}

func execute(args []string, c *console.Console) int {
	parser, exited := newParser(c, &cli{})
	return executeWith(parser, exited, args, c)
}

// executeWith is execute with a parser for that console.
func executeWith(parser *kong.Kong, exited func() int, args []string, c *console.Console) int {
	c.Args = args
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(withSides(args))
	if code := exited(); code >= 0 { // --help or --version has been printed
		return code
	}
	if err == nil {
		err = checkPositive(parsed)
	} else {
		err = plainError(explainForeign(err, parser.Model, args), args[0])
	}
	if err != nil {
		return c.Complain(console.Usage(err))
	}
	return c.Complain(parsed.Run(c))
}
