package console

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"llmsweep/client/sim"
)

// ProxyFor returns the URL of the proxy for a server, without user name and password; empty where there is none.
func (c *Console) ProxyFor(server string) string {
	if c.world.Proxy == nil || strings.HasPrefix(server, sim.Scheme) || strings.HasPrefix(server, "unix:") {
		return ""
	}
	if !strings.Contains(server, "://") {
		server = "http://" + server
	}
	u, err := url.Parse(server)
	if err != nil {
		return ""
	}
	p, err := c.world.Proxy(&http.Request{URL: u})
	if err != nil || p == nil {
		return ""
	}
	shown := url.URL{Scheme: cmp.Or(p.Scheme, "http"), Host: p.Host}
	return shown.String()
}
