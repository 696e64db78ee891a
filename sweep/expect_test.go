package sweep

import (
	"testing"
	"time"
)

// A sweep of slower requests takes longer, and a budget is kept.
func TestOutlook(t *testing.T) {
	c := Defaults()
	quick, requests := c.Outlook(2 * time.Second)
	slow, _ := c.Outlook(20 * time.Second)
	if quick < 5*time.Minute || quick > 15*time.Minute || slow < 2*quick || requests < 1000 {
		t.Errorf("%v with %d requests, and %v where they are slow", quick, requests, slow)
	}
	c.Budget = 4 * time.Minute
	if takes, _ := c.Outlook(2 * time.Second); takes > c.Budget*11/10 || takes < c.Budget/2 {
		t.Errorf("%v of a budget of %v", takes, c.Budget)
	}
}
