package console

import "os"

// ends returns the signals that end a process of a terminal.
func ends() []os.Signal { return []os.Signal{os.Interrupt} }
