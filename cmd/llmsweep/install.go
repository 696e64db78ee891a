package main

import (
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/cmd/llmsweep/job"
	"llmsweep/cmd/llmsweep/manual"
	"llmsweep/report"

	"github.com/alecthomas/kong"
	"github.com/cpuguy83/go-md2man/v2/md2man"
	kongcompletion "github.com/jotaen/kong-completion"
	"github.com/posener/complete"
)

// completionCmd is llmsweep completion.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Shell: bash, zsh or fish."`
}

// Help returns what --help prints after the purpose.
func (completionCmd) Help() string {
	return `Examples:
  source <(llmsweep completion bash)        # in ~/.bashrc
  source <(llmsweep completion zsh)         # in ~/.zshrc
  llmsweep completion fish | source         # in ~/.config/fish/config.fish`
}

// Run prints the commands that make a shell complete commands, flags and their values.
func (s *completionCmd) Run(k *kong.Context) error {
	return (&kongcompletion.Completion{Shell: s.Shell, Code: true}).Run(k)
}

// completeLine answers a shell that asks for completions: shells that ran what "llmsweep completion" prints start the program
// with the unfinished command line in the variable COMP_LINE. Without that variable it does nothing. exit is called with 0 after an answer.
func completeLine(parser *kong.Kong, exit func(code int)) {
	kongcompletion.Register(parser, kongcompletion.WithExitFunc(exit),
		kongcompletion.WithPredictor("topic", complete.PredictSet(manual.Topics()...)),
		kongcompletion.WithPredictor("reportformat", complete.PredictSet(flags.ReportFormats()...)),
		kongcompletion.WithPredictor("format", complete.PredictSet(report.Formats()...)),
		kongcompletion.WithPredictor("drawing", complete.PredictSet(append(job.Best(), "speed")...)),
		kongcompletion.WithPredictor("preset", complete.PredictSet(presetNames()...)))
}

// manCmd is llmsweep man.
type manCmd struct{}

// Help returns what --help prints after the purpose.
func (manCmd) Help() string {
	return `Examples:
  llmsweep man > llmsweep.1 && man ./llmsweep.1
  llmsweep man | sudo tee /usr/local/share/man/man1/llmsweep.1 > /dev/null`
}

// Run prints the manual page of all commands and flags.
func (manCmd) Run(k *kong.Context, c *console.Console) error {
	_, err := c.Out.Write(md2man.Render([]byte(manPage(k.Model))))
	return err
}
