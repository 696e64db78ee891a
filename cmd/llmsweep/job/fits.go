package job

import (
	"net"
	"net/url"
	"strings"

	"llmsweep/client"
	"llmsweep/client/note"
	"llmsweep/client/sim"
	"llmsweep/cmd/llmsweep/console"
)

// checkMachine returns a usage error where this machine cannot hold the streams. Nothing has been sent then. servers is
// how many servers are measured with as many streams each.
func checkMachine(c *console.Console, server string, streams, servers int, flag string) error {
	l := client.MachineLoad{Streams: streams, Files: servers, Ports: !strings.HasPrefix(server, "unix:"), Flag: flag}
	if strings.HasPrefix(server, sim.Scheme) {
		l.Files = 2 * servers // the embedded server has the other ends
	}
	return console.Usage(c.World().Limits().Check(l))
}

// PortWarnings returns a warning where the local ports run out at a rate of requests per second, because the server
// keeps no connection. Where it does, a request takes a connection that exists.
func (t *Target) PortWarnings(c *console.Console, server string, rate float64) []note.Note {
	s, local := c.World().Limits(), isLocal(server)
	if !strings.HasPrefix(server, "unix:") && s.PortsExhausted(rate, local) && t.prober.Reconnects(c.Ctx) {
		return []note.Note{s.PortWarning(rate, local)}
	}
	return nil
}

// isLocal reports whether a server is on this machine.
func isLocal(server string) bool {
	if strings.HasPrefix(server, sim.Scheme) {
		return true
	}
	if !strings.Contains(server, "://") {
		server = "http://" + server
	}
	u, err := url.Parse(server)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
