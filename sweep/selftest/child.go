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

const (
	pipesClose = time.Second     // how long a killed helper's pipes may stay open
	killAfter  = 2 * time.Second // how long a helper may take to end by itself
)

// child is a helper process. It runs until its standard input ends, so that it never outlives this process, however that ends.
type child struct {
	cmd *exec.Cmd
	in  io.Closer
	out *bufio.Reader
}

// start starts a helper process. It is killed when ctx ends. It gets an empty environment, since that of this process may hold an
// API key.
func start(ctx context.Context, command []string, role string) (*child, error) {
	if len(command) == 0 {
		return nil, errors.New("the self-test has no command for its server")
	}
	cmd := exec.CommandContext(ctx, command[0], append(command[1:len(command):len(command)], role)...)
	cmd.Env = []string{}
	cmd.WaitDelay = pipesClose
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

// stop ends the helper and waits for it.
func (c *child) stop() {
	c.in.Close()
	kill := time.AfterFunc(killAfter, func() { c.cmd.Process.Kill() })
	defer kill.Stop()
	c.cmd.Wait() // its exit status does not matter
}

// startServer starts the server and waits until it serves.
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
