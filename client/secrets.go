package client

// redacted replaces a secret.
const redacted = "[redacted]"

// maxMessage is the longest message, in bytes.
const maxMessage = 300

// leastLong is the length of a secret, in bytes, that does not appear in a name by chance, as the value of "X-Priority: 1" does.
const leastLong = 8

// harmless are the headers whose values may be shown. The value of any other header is treated as a secret, because
// redacting too much costs little.
var harmless = []string{"Accept", "Accept-Language", "Anthropic-Version", "Cache-Control", "Content-Type", "Host", "User-Agent"}

// Shown returns a short text of the server, such as a version, in one line and without secrets.
func (c *Client) Shown(s string) string { return shorten(c.WithoutSecrets(oneLine(s))) }

// WithoutSecrets returns a name that the server gave, without the secrets that this client sends.
func (c *Client) WithoutSecrets(s string) string { return c.cleaner.long.Replace(s) }
