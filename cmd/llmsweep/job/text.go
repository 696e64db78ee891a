package job

import (
	"llmsweep/sweep/perplexity"
)

// text returns the text that the server is to score; nil for none.
func (j *Job) text() (*perplexity.Text, error) {
	if j.Canaries == nil {
		return nil, nil
	}
	return j.Canaries.Score.Read()
}

// budgetShare is the divisor of --budget that gives the time for the windows of a text.
const budgetShare = 4

// scores adds the windows of a text to the plan.
func (j *Job) scores(text *perplexity.Text, one *side) {
	if text == nil {
		return
	}
	one.config.Checks = append(one.config.Checks, perplexity.New(perplexity.Options{
		Text: text, Engine: one.About.Engine, Limit: j.Plan.Budget / budgetShare, Clean: one.Client.WithoutSecrets,
	}))
}
