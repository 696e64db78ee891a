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

// checkMachine returns a usage error where this machine cannot hold the streams, as many for each of the servers.
func checkMachine(c *console.Console, server string, streams, servers int, flag string) error {
	l := client.MachineLoad{Streams: streams, Files: servers, Ports: !strings.HasPrefix(server, "unix:"), Flag: flag}
	if strings.HasPrefix(server, sim.Scheme) {
		l.Files = 2 * servers // the embedded server has the other ends
	}
	return console.Usage(c.World().Limits().Check(l))
}

// portWarnings returns a warning where the local ports run out at a rate of requests per second, because the server
// keeps no connection open.
func (t *Target) portWarnings(c *console.Console, server string, rate float64) []note.Note {
	s, local := c.World().Limits(), isLocal(server)
	if !strings.HasPrefix(server, "unix:") && s.PortsExhausted(rate, local) && t.prober.Reconnects(c.Ctx) {
		return []note.Note{s.PortWarning(rate, local)}
	}
	return nil
}

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
