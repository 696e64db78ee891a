package probe

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/tidwall/gjson"

	"llmsweep/client"
	"llmsweep/client/note"
)

// Paths that empty a prefix cache. vLLM has its own in development mode
// (vllm/entrypoints/serve/dev/cache/api_router.py), and answers {"success": false} while requests run; older versions
// answer nothing. SGLang then answers 400 (srt/entrypoints/http_server.py).
const (
	resetVLLM   = "/reset_prefix_cache"
	flushSGLang = "/flush_cache"
)

// cacheResets has the paths to try by engine; "" is an unknown one.
var cacheResets = map[string][]string{"vLLM": {resetVLLM}, "SGLang": {flushSGLang}, "": {resetVLLM, flushSGLang}}

// How long, and how often, a server with requests in flight is asked to empty its cache.
const (
	cacheTime  = 10 * time.Second
	cacheEvery = 200 * time.Millisecond
)

// EmptyCache empties the prefix cache of a server with that engine. It returns why it could not, else the zero note.
func (p *Prober) EmptyCache(ctx context.Context, engine string) (why note.Note) {
	paths, known := cacheResets[engine]
	if !known {
		return noteCacheEngine.New(engine)
	}
	for _, path := range paths {
		missing := false
		if why, missing = p.resetCache(ctx, path); !missing {
			return why
		}
	}
	switch engine {
	case "vLLM":
		return noteCacheDevMode.New(p.client.URL(resetVLLM))
	case "":
		return noteCacheNeither.New(p.client.URL(""))
	}
	return why
}

// resetCache requests a path, again and again while the server refuses because requests run, for cacheTime at most.
// missing reports that the server has no such path.
func (p *Prober) resetCache(ctx context.Context, path string) (why note.Note, missing bool) {
	url := p.client.URL(path)
	for began := time.Now(); ; {
		a, err := p.client.Fetch(ctx, p.limit(askTime), http.MethodPost, path, nil)
		var f *client.Failure
		done := gjson.GetBytes(a.Body, "success")
		switch {
		case err == nil && (!done.Exists() || done.Bool()):
			return note.Note{}, false
		case errors.As(err, &f) && f.HTTP != http.StatusBadRequest:
			return noteCacheRefused.New(url, f), f.HTTP == http.StatusNotFound || f.HTTP == http.StatusMethodNotAllowed
		}
		why = noteCacheBusy.New(url, time.Since(began))
		if time.Since(began) >= cacheTime {
			return why, false
		}
		select {
		case <-time.After(cacheEvery):
		case <-ctx.Done():
			return why, false
		}
	}
}
