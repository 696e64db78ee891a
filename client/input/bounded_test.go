package input

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for size, want := range map[int]string{0: "", 1 << 20: "", 1<<20 + 1: "larger than 1 MiB"} {
		content := bytes.Repeat([]byte{'x'}, size)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		b, err := ReadFile(path, 1<<20)
		if want == "" && (err != nil || !bytes.Equal(b, content)) {
			t.Errorf("%d bytes: read %d, error %v", size, len(b), err)
		}
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d bytes: error %v", size, err)
		}
	}
	if _, err := ReadFile(filepath.Dir(path), 1); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("a directory: error %v", err)
	}
	if _, err := ReadFile(path+"x", 1); !os.IsNotExist(err) {
		t.Errorf("no file: error %v", err)
	}
}

// A device never ends.
func TestReadDevice(t *testing.T) {
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("this system has no /dev/zero")
	}
	if _, err := ReadFile("/dev/zero", 1<<20); err == nil {
		t.Error("read all of /dev/zero")
	}
}
