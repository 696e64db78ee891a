package probe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"llmsweep/client"
)

const modelsPath = "/v1/models"

// maxListed is how many models an error names.
const maxListed = 10

// list is what /v1/models told.
type list struct {
	models []gjson.Result
	server string // the Server header
}

// models asks which models there are. A server without such a list is no error if the user named the model.
func (p *Prober) models(ctx context.Context) (list, error) {
	a, err := p.get(ctx, modelsPath)
	if err != nil {
		var e *Error
		if errors.As(err, &e) && e.Kind == KindNotFound {
			if p.options.Params.Model != "" {
				return list{}, nil
			}
			e.Do += " A server that lists no models needs --model."
		}
		return list{}, err
	}
	v := gjson.ParseBytes(a.Body)
	if !gjson.ValidBytes(a.Body) || !v.IsObject() && !v.IsArray() {
		return list{}, p.notAPI(a)
	}
	data := v.Get("data")
	if v.IsArray() {
		data = v // some hosted services leave the wrapping out
	}
	return list{data.Array(), a.Header.Get("Server")}, nil
}

// notAPI is the error for an answer that is no JSON.
func (p *Prober) notAPI(a client.Answer) error {
	what := "the answer is not JSON"
	if strings.HasPrefix(strings.TrimSpace(string(a.Body[:min(len(a.Body), 64)])), "<") {
		what = "this is a web page (HTML), not an API"
	}
	return &Error{Kind: KindNotAPI, URL: p.client.URL(modelsPath), What: what,
		Do: "Is that the server's base URL, and its API's port?"}
}

// choose settles the model: the one asked for, which must be there, or else the first.
func (p *Prober) choose(f *Facts, l list) error {
	for _, m := range l.models {
		f.Models = append(f.Models, m.Get("id").String())
	}
	asked := p.options.Params.Model
	switch {
	case asked == "" && len(f.Models) == 0:
		return &Error{Kind: KindModel, URL: p.client.URL(modelsPath), What: "the server lists no model",
			Do: "Name one with --model."}
	case asked == "":
		f.Model = f.Models[0]
		if len(f.Models) > 1 {
			f.note("of %d models the first was taken: %s (--model chooses)", len(f.Models), f.Model)
		}
	case len(f.Models) == 0 || slices.Contains(f.Models, asked):
		f.Model = asked
	case slices.Contains(f.Models, asked+":latest"): // Ollama's short names
		f.Model = asked + ":latest"
	default:
		return &Error{Kind: KindModel, URL: p.client.URL(modelsPath), What: "no model " + asked + " here",
			Do: "There are: " + enumerate(f.Models) + "."}
	}
	return nil
}

// enumerate names a list's first members.
func enumerate(names []string) string {
	if more := len(names) - maxListed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), more)
	}
	return strings.Join(names, ", ")
}

// entry is the list's object for a model.
func (l list) entry(model string) gjson.Result {
	for _, m := range l.models {
		if m.Get("id").String() == model {
			return m
		}
	}
	return gjson.Result{}
}
