package selftest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

const (
	pipesClose = time.Second     // how long a killed helper's pipes may stay open
	killAfter  = 2 * time.Second // how long a helper may take to end by itself
)

// child is the process of the server. It runs until its standard input ends, so that it never outlives this process,
// however that ends.
type child struct {
	cmd *exec.Cmd
	in  io.Closer
}

// startServer starts the server and waits until it serves. It is killed when ctx ends. It gets an empty environment,
// since that of this process may hold an API key.
func startServer(ctx context.Context, command []string) (*child, string, error) {
	if len(command) == 0 {
		return nil, "", errors.New("the self-test has no command for its server")
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = []string{}
	cmd.WaitDelay = pipesClose
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := cmd.Start(); err != nil {
		return nil, "", fmt.Errorf("the self-test's server could not be started: %w", err)
	}
	c := &child{cmd, in}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		c.stop()
		return nil, "", fmt.Errorf("the self-test's server did not start: %w", err)
	}
	return c, "http://" + strings.TrimSpace(line), nil
}

func (c *child) stop() {
	c.in.Close()
	kill := time.AfterFunc(killAfter, func() { c.cmd.Process.Kill() })
	defer kill.Stop()
	c.cmd.Wait() // its exit status does not matter
}
