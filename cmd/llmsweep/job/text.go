package job

import (
	"llmsweep/sweep/perplexity"
)

// text returns the text that the server is to score; nil for none.
func (e *Measurement) text() (*perplexity.Text, error) {
	if e.Canaries == nil {
		return nil, nil
	}
	return e.Canaries.Score.Read()
}

// budgetShare is which part of --budget the windows of a text may take: one of so many.
const budgetShare = 4

// scores adds the windows of a text to the plan.
func (e *Measurement) scores(text *perplexity.Text, t *Target) {
	if text == nil {
		return
	}
	e.Plan.Checks = append(e.Plan.Checks, perplexity.New(perplexity.Options{
		Text: text, Engine: t.About.Engine, Limit: e.Plan.Budget / budgetShare, Clean: t.Client.WithoutSecrets,
	}))
}
