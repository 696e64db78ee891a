package probe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"llmsweep/client"
	"llmsweep/client/api"
)

const modelsPath = "/v1/models"

const maxListed = 10 // models in an error

type modelList struct {
	models []gjson.Result
	server string // the Server header

	identified bool // the engine's own pages were read
}

// models requests the list of models. A server without one is no error yet: missing is the error where nothing else
// names a model.
func (p *Prober) models(ctx context.Context) (l modelList, missing *Error, err error) {
	a, err := p.getModels(ctx)
	if err != nil {
		if errors.As(err, &missing) && (missing.Kind == kindNotFound || missing.Kind == kindServer &&
			p.options.Params.Model != "") {
			// transformers serve 5.19 fails here where it serves a model from a folder
			missing.Do += " A server that lists no models needs --model."
			return modelList{server: a.Header.Get("Server")}, missing, nil
		}
		return modelList{}, nil, err
	}
	v := gjson.ParseBytes(a.Body)
	if !gjson.ValidBytes(a.Body) || !v.IsObject() && !v.IsArray() {
		return modelList{}, nil, p.notAPI(a)
	}
	data := v.Get("data")
	if v.IsArray() {
		data = v // some hosted services
	}
	return modelList{models: data.Array(), server: a.Header.Get("Server")}, nil, nil
}

// getModels sends a key that is refused in the other way that servers have: in the header of an API that has one, which
// is then the API to measure, or as a bearer token.
func (p *Prober) getModels(ctx context.Context) (client.Answer, error) {
	a, err := p.getWhenReady(ctx, modelsPath)
	var refused *Error
	before, o := p.options, p.options
	if o.APIKey == "" || !errors.As(err, &refused) || refused.Kind != kindAuth {
		return a, err
	}
	if o.API == api.Auto {
		o.API = keyedAPI()
	} else {
		o.Bearer = true
	}
	if e := p.setOptions(o); e != nil {
		return a, e
	}
	if b, second := p.get(ctx, modelsPath); second == nil {
		return b, nil
	}
	if e := p.setOptions(before); e != nil {
		return a, e
	}
	return a, err
}

// keyedAPI returns the first API that takes the key in a header of its own.
func keyedAPI() string {
	for _, d := range api.Dialects() {
		if d.Traits().Auto && d.Traits().Key != "" {
			return d.Name()
		}
	}
	return api.Default()
}

func (p *Prober) notAPI(a client.Answer) error {
	what := "the answer is not JSON"
	if strings.HasPrefix(strings.TrimSpace(string(a.Body[:min(len(a.Body), 64)])), "<") {
		what = "this is a web page (HTML), not an API"
	}
	return &Error{Kind: kindNotAPI, URL: p.client.URL(modelsPath), What: what,
		Do: "Is that the server's base URL, and its API's port?"}
}

func (l modelList) names() []string {
	var names []string
	for _, m := range l.models {
		names = append(names, m.Get("id").String())
	}
	return names
}

// chooseModel chooses the user's model, which must be in the list, or else the first.
func (p *Prober) chooseModel(f *Facts, names []string) error {
	f.Models = names
	model := p.options.Params.Model
	switch {
	case model == "" && len(f.Models) == 0:
		return &Error{Kind: kindModel, URL: p.client.URL(modelsPath), What: "the server lists no model",
			Do: "Name one with --model."}
	case model == "":
		f.Model = f.Models[0]
		if len(f.Models) > 1 {
			f.note(noteFirstModel, len(f.Models), f.Model)
		}
	case len(f.Models) == 0 || slices.Contains(f.Models, model):
		f.Model = model
	case slices.Contains(f.Models, model+":latest"): // Ollama's short names
		f.Model = model + ":latest"
	default:
		return &Error{Kind: kindModel, URL: p.client.URL(modelsPath), What: "no model " + model + " here",
			Do: "There are: " + enumerate(f.Models) + "."}
	}
	return nil
}

func enumerate(names []string) string {
	if more := len(names) - maxListed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), more)
	}
	return strings.Join(names, ", ")
}

func (l modelList) entry(model string) gjson.Result {
	for _, m := range l.models {
		if m.Get("id").String() == model {
			return m
		}
	}
	return gjson.Result{}
}
