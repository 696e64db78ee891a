package main

import (
	"regexp"

	"github.com/alecthomas/kong"

	"llmsweep/report/progress/web"
)

// servedAt is the value of --live: an address, which may be left out.
type servedAt string

// anywhere is a free port of this machine's own address.
const anywhere = "127.0.0.1:0"

var addressText = regexp.MustCompile(`^(\[[0-9a-fA-F:.%]*\]|[^\[\]:/\s]*):\d+$`)

// Decode reads the address, where the next argument is one.
func (a *servedAt) Decode(ctx *kong.DecodeContext) error {
	next := ctx.Scan.Peek()
	text, ok := next.Value.(string)
	if next.Type != kong.FlagValueToken && !(ok && next.IsValue() && addressText.MatchString(text)) {
		*a = anywhere
		return nil
	}
	return ctx.Scan.PopValueInto("address", (*string)(a))
}

// serveFlags say where the run is served while it is measured.
type serveFlags struct {
	Live           servedAt `placeholder:"[HOST:PORT]" help:"Serve the page of the run at this address while it runs, with /metrics for Prometheus beside it. Without an address: a free port of 127.0.0.1." group:"Output"`
	LiveAnyAddress bool     `name:"live-any-address" help:"With --live: also take an address that other machines can reach. They can then read the run." group:"Output"`
}

// serve begins to serve; the server is nil without --live.
func (f *serveFlags) serve() (*web.Server, error) {
	if f.Live == "" {
		return nil, nil
	}
	return web.Listen(string(f.Live), f.LiveAnyAddress)
}
