// Package redact removes secrets from texts: from command lines, configuration files, the environment and messages of
// servers.
package redact
