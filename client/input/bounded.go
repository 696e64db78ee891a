package input

import (
	"fmt"
	"io"
	"os"
)

// ReadFile returns the content of a file of at most maxBytes, so that a wrong path, such as a model or a device, gives
// an error and does not use up the memory.
func ReadFile(path string, maxBytes int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s is a directory; name a file", path)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > maxBytes {
		return nil, fmt.Errorf("%s is larger than %d MiB; is it the right file?", path, maxBytes>>20)
	}
	return b, nil
}
