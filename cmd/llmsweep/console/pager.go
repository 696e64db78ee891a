package console

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"golang.org/x/term"
)

// Page prints a text: on a terminal as render returns it for its width, through $PAGER where it is longer than the
// screen; elsewhere plain.
func (c *Console) Page(render func(width int) string, plain string) error {
	f, ok := c.Out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		_, err := fmt.Fprint(c.Out, plain)
		return err
	}
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil {
		_, err := fmt.Fprint(c.Out, plain)
		return err
	}
	text := render(width)
	pager := cmp.Or(c.world.Env("PAGER"), "less")
	if strings.Count(text, "\n") >= height && runtime.GOOS != "windows" && pager != "cat" {
		command := exec.CommandContext(c.Ctx, "sh", "-c", pager)
		command.Stdin, command.Stdout, command.Stderr = strings.NewReader(text), f, c.Err
		if err := command.Run(); err == nil { // else there is no such pager
			return nil
		}
	}
	_, err = fmt.Fprint(f, text)
	return err
}
