package main

import (
	"os"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/report/lang"
)

// crashMonitorCmd is the process that gives the terminal back after a crash.
type crashMonitorCmd struct {
	Lang string `default:"en" enum:"en,zh"`
	Dir  string `arg:""`
}

// Run waits for the end of the process that it watches.
func (m *crashMonitorCmd) Run(*console.Console) error {
	return console.Monitor(os.Stdin, os.Stdout, os.Stderr, m.Dir, lang.Lang(m.Lang))
}
