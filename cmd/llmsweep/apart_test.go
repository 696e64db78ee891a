package main

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// apartVariable names the test that this process was started for.
const apartVariable = "LLMSWEEP_TEST_APART"

// apart runs the test that calls it in a process of its own, because it changes the working directory or the
// environment. The test goes on only where apart returns true, in the new process. Other tests run in parallel with it.
func apart(t *testing.T) bool {
	t.Helper()
	if os.Getenv(apartVariable) == t.Name() {
		return true
	}
	t.Parallel()
	program, err := os.Executable()
	noError(t, err)
	p := exec.CommandContext(t.Context(), program, "-test.run=^"+t.Name()+"$", "-test.v",
		fmt.Sprintf("-test.short=%t", testing.Short()))
	p.Env = append(os.Environ(), apartVariable+"="+t.Name())
	out, err := p.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	} else {
		t.Logf("%s", out)
	}
	return false
}
