package server

import (
	"encoding/json"
	"net/http"
	"strings"

	"llmsweep/client/sim"
)

// tgiDefault is how many tokens TGI sends where the request sets no length.
const tgiDefault = 100

// tgiEndpoint is TGI's own /generate_stream, after huggingface/text-generation-inference, docs/openapi.json 2.4.1; not
// checked against a running engine. It always streams.
func tgiEndpoint() *endpoint {
	return &endpoint{
		Path: "/generate_stream", KnownFields: strings.Fields("inputs parameters"), Framing: eventFraming(), Refusal: tgiRefusal,
		Invalid: http.StatusUnprocessableEntity, Parse: parseTGI,
		Encoder: func(a *AnswerState) encoder { return &tgiEncoder{a} },
	}
}

func parseTGI(s *Host, raw []byte) (request, error) {
	var b struct {
		Inputs     string `json:"inputs"`
		Parameters struct {
			MaxNewTokens *int     `json:"max_new_tokens"`
			Details      bool     `json:"details"`
			Temperature  *float64 `json:"temperature"`
		} `json:"parameters"`
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		return request{}, badRequest("Failed to deserialize the JSON body into the target type: %v", err)
	}
	if t := b.Parameters.Temperature; t != nil && *t <= 0 {
		return request{}, badRequest("Input validation error: `temperature` must be strictly positive")
	}
	j := request{Stream: true, Usage: b.Parameters.Details && !s.Options.NoUsage}
	ids := Append(nil, b.Inputs, s.Config.Model.Vocab)
	return j, s.SetWork(&j, ids, lengthLimits{Max: b.Parameters.MaxNewTokens, Default: tgiDefault})
}

// tgiEvent is one token. The last event has the whole text and the details.
type tgiEvent struct {
	Index         int      `json:"index"`
	Token         tgiToken `json:"token"`
	GeneratedText any      `json:"generated_text"`
	Details       any      `json:"details"`
	Stamp
}

type tgiToken struct {
	ID      uint32  `json:"id"`
	Text    string  `json:"text"`
	LogProb float64 `json:"logprob"`
	Special bool    `json:"special"`
}

type tgiDetails struct {
	FinishReason    string `json:"finish_reason"`
	GeneratedTokens int    `json:"generated_tokens"`
	Seed            *int   `json:"seed"`
	InputLength     int    `json:"input_length"`
}

// tgiEncoder sends one event for each token, however many are sent together.
type tgiEncoder struct{ *AnswerState }

func (e *tgiEncoder) Opening() any { return nil }

func (e *tgiEncoder) Tokens(from, to int) (all []any) {
	for n := from + 1; n <= to; n++ {
		all = append(all, e.event(n))
	}
	return all
}

// event returns the event of the n-th token.
func (e *tgiEncoder) event(n int) tgiEvent {
	token := tgiToken{ID: e.TokenIDs(n-1, n)[0], Text: e.Text(n-1, n), LogProb: anyLogProb}
	event := tgiEvent{Index: n, Token: token, GeneratedText: jsonNull(), Details: jsonNull(), Stamp: e.Stamp()}
	if !e.IsLast(n) {
		return event
	}
	event.GeneratedText = e.Text(0, n)
	if e.Request.Usage {
		event.Details = tgiDetails{
			FinishReason:    map[string]string{"length": "length", "stop": "eos_token"}[e.Request.Finish],
			GeneratedTokens: n, InputLength: e.Request.Work.PromptTokens,
		}
	}
	return event
}

func (e *tgiEncoder) Closing(sim.Usage) []any { return nil }

// Whole is never asked for: TGI's endpoint always streams.
func (e *tgiEncoder) Whole(u sim.Usage) any { return e.event(u.OutputTokens) }

func aboutTGI(s *Host) map[string]route {
	info := fixedPage(map[string]any{
		"model_id": s.Options.ModelID, "max_total_tokens": s.Config.MaxModelLen, "max_input_tokens": s.Config.MaxModelLen - 1,
		"max_concurrent_requests": 128, "router": "text-generation-router", "version": "2.4.1-sim"})
	tokenize := func(w http.ResponseWriter, r *http.Request) {
		var b struct{ Inputs string }
		if err := json.NewDecoder(r.Body).Decode(&b); err != nil {
			writeError(w, badRequest("%v", err))
			return
		}
		tokens := []map[string]any{}
		for _, id := range Append(nil, b.Inputs, s.Config.Model.Vocab) {
			tokens = append(tokens, map[string]any{"id": id})
		}
		writeJSON(w, http.StatusOK, tokens)
	}
	return map[string]route{"/info": {Method: http.MethodGet, Serve: info}, "/tokenize": {Method: http.MethodPost, Serve: tokenize}}
}
