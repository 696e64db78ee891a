package flags

import (
	"errors"
	"fmt"

	"llmsweep/sweep/perplexity"
)

// Score names a text whose perplexity is measured.
type Score struct {
	Text        string `placeholder:"FILE" help:"Measure the perplexity of a text, where the server scores prompts: before the first stage it is sent in windows, one at a time. See llmsweep help fidelity." group:"Fidelity"`
	TextWindows int    `name:"text-windows" placeholder:"N" help:"Windows of the text to score at most, evenly spread over it (200)." group:"Fidelity"`
	TextBytes   int    `name:"text-bytes" placeholder:"BYTES" help:"Bytes of a window, of which the first half is context (2048)." group:"Fidelity"`
}

// Read returns the text that is scored; nil for none.
func (s *Score) Read() (*perplexity.Text, error) {
	if s.Text == "" {
		if s.TextWindows != 0 || s.TextBytes != 0 {
			return nil, errors.New("--text-windows and --text-bytes belong to --text: add it")
		}
		return nil, nil
	}
	windows, size := perplexity.DefaultWindows, perplexity.DefaultBytes
	if s.TextWindows != 0 {
		windows = s.TextWindows
	}
	if s.TextBytes != 0 {
		size = s.TextBytes
	}
	switch {
	case windows < 1 || windows > perplexity.MostWindows:
		return nil, fmt.Errorf("--text-windows must be between 1 and %d", perplexity.MostWindows)
	case size < perplexity.LeastBytes || size > perplexity.MostBytes:
		return nil, fmt.Errorf("--text-bytes must be between %d and %d", perplexity.LeastBytes, perplexity.MostBytes)
	}
	t, err := perplexity.Read(s.Text, size, windows)
	if err != nil {
		return nil, fmt.Errorf("--text: %w", err)
	}
	return t, nil
}
