package client

import "llmsweep/client/redact"

// Shown returns a short text of the server, such as a version, in one line and without secrets.
func (c *Client) Shown(s string) string { return redact.Shorten(c.WithoutSecrets(redact.OneLine(s))) }

// WithoutSecrets returns a name that the server gave, without the secrets that this client sends.
func (c *Client) WithoutSecrets(s string) string { return c.cleaner.Long.Replace(s) }
