// Package draw makes drawings: SVG files and figures of pages with texts in both languages, and text for a terminal.
package draw
