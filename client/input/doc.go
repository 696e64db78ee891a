// Package input reads what people type and name on a command line: the URL of a server, a file that must not be larger
// than its kind can be, and the name that a misspelt one stands for.
package input
