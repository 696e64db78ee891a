package flags

import (
	"regexp"

	"github.com/alecthomas/kong"

	"llmsweep/report/progress"
)

// LiveAddress is the value of --live: an address, which may be left out.
type LiveAddress string

// FreePort is a free port of this machine's own address.
const FreePort = "127.0.0.1:0"

var addressText = regexp.MustCompile(`^(\[[0-9a-fA-F:.%]*\]|[^\[\]:/\s]*):\d+$`)

// Decode reads the address, where the next argument is one.
func (a *LiveAddress) Decode(ctx *kong.DecodeContext) error {
	next := ctx.Scan.Peek()
	text, ok := next.Value.(string)
	if next.Type != kong.FlagValueToken && !(ok && next.IsValue() && addressText.MatchString(text)) {
		*a = FreePort
		return nil
	}
	return ctx.Scan.PopValueInto("address", (*string)(a))
}

// Serving holds the flags of the page that shows a run while it is measured.
type Serving struct {
	Live LiveAddress `placeholder:"[HOST:PORT]" help:"Serve the page while it runs (a free port of 127.0.0.1)." hidden:"" group:"Result"`
}

// Listen starts the web server of the page; nil without --live.
func (f *Serving) Listen() (*progress.LiveServer, error) {
	if f.Live == "" {
		return nil, nil
	}
	return progress.ListenLive(string(f.Live))
}
