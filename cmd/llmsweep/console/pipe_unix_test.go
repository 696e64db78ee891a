//go:build unix

package console

import (
	"os"
	"testing"
)

// Only a pipe without a reader is broken: not a file, nor a pipe that is read.
func TestReaderGone(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	if readerGone(file) || readerGone(writer) {
		t.Errorf("gone: the file's %v, the pipe's %v", readerGone(file), readerGone(writer))
	}
	reader.Close()
	if !readerGone(writer) {
		t.Error("the reader of the pipe is gone")
	}
}
