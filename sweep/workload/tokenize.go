package workload

import (
	"context"
	"fmt"
	"strings"

	"github.com/sugarme/tokenizer/pretrained"
)

// TokenizerFunc counts the tokens of a text.
type TokenizerFunc func(ctx context.Context, text string) (int, error)

// TokenizerFile reads a tokenizer.json as Hugging Face's tokenizers write it.
func TokenizerFile(name string) (count TokenizerFunc, err error) {
	defer func() { // the library panics on some kinds that it does not support
		if p := recover(); p != nil {
			count, err = nil, fmt.Errorf("--tokenizer %s: this kind of tokenizer.json is not supported: %v", name, p)
		}
	}()
	t, err := pretrained.FromFile(name)
	if err != nil {
		return nil, fmt.Errorf("--tokenizer %s: not a tokenizer.json: %s", name, strings.SplitN(err.Error(), "\n", 2)[0])
	}
	return func(_ context.Context, text string) (int, error) {
		e, err := t.EncodeSingle(text)
		if err != nil {
			return 0, err
		}
		return len(e.Ids), nil
	}, nil
}
