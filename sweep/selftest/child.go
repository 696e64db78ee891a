package selftest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

// child is a helper process. It lives until its standard input ends, so that it outlives this process in no way that this
// process may end.
type child struct {
	cmd *exec.Cmd
	in  io.Closer
	out *bufio.Reader
}

// start starts a helper. It is killed when ctx ends, and knows nothing of this process's environment, which may hold a key.
func start(ctx context.Context, command []string, role string) (*child, error) {
	if len(command) == 0 {
		return nil, errors.New("the self-test has no command for its server")
	}
	cmd := exec.CommandContext(ctx, command[0], append(command[1:len(command):len(command)], role)...)
	cmd.Env = []string{}
	cmd.WaitDelay = time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("the self-test's %s could not be started: %w", role, err)
	}
	return &child{cmd, in, bufio.NewReader(out)}, nil
}

// stop ends the helper and waits until it is gone.
func (c *child) stop() {
	c.in.Close()
	kill := time.AfterFunc(2*time.Second, func() { c.cmd.Process.Kill() })
	defer kill.Stop()
	c.cmd.Wait() // how it ended is of no interest
}

// startServer starts the paced server, and waits until it serves.
func startServer(ctx context.Context, command []string) (c *child, url string, err error) {
	c, err = start(ctx, command, "serve")
	if err != nil {
		return nil, "", err
	}
	line, err := c.out.ReadString('\n')
	if err != nil {
		c.stop()
		return nil, "", gone(ctx, fmt.Errorf("its server did not start: %w", err))
	}
	return c, "http://" + strings.TrimSpace(line), nil
}

// Hog keeps every core busy until in ends.
func Hog(in io.Reader) error {
	var done atomic.Bool
	for range runtime.GOMAXPROCS(0) {
		go func() {
			for !done.Load() {
			}
		}()
	}
	_, err := io.Copy(io.Discard, in)
	done.Store(true)
	return err
}
