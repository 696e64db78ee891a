package published

import (
	"net/url"
	"regexp"
	"strings"

	"llmsweep/client/redact"
)

// An option with its values and a variable may give a secret in a command.
var (
	launchOption   = regexp.MustCompile(`(?i)(\s--?[\w-]*(?:key|token|secret|password|passwd|credentials?)(?:=|\s+))(?:"[^"]*"|'[^']*'|[^\s-]\S*)(?:\s+[^\s-]\S*)*`)
	launchVariable = regexp.MustCompile(`(?i)(\b\w*(?:key|token|secret|password|passwd|credentials?)=)(?:"[^"]*"|'[^']*'|[^\s]+)`)
)

// hideSecrets hides the secrets in what a document says of its servers: they would be copied into a run directory.
func hideSecrets(doc *Document) {
	for i := range doc.Runs {
		run := &doc.Runs[i]
		run.Target.URL, run.Target.Launch = hideURLSecrets(run.Target.URL), hideLaunchSecrets(run.Target.Launch)
		for name, l := range run.Source.Labels {
			l.Text = hideLaunchSecrets(l.Text)
			run.Source.Labels[name] = l
		}
	}
}

// hideURLSecrets returns a URL without user, password, query and fragment.
func hideURLSecrets(s string) string {
	if u, err := url.Parse(s); err == nil && !strings.Contains(u.Opaque, "@") {
		if u.User == nil && u.RawQuery == "" && u.Fragment == "" {
			return s
		}
		u.User, u.RawQuery, u.Fragment, u.RawFragment = nil, "", "", ""
		return u.String()
	}
	s, _, _ = strings.Cut(s, "?")
	if at := strings.LastIndex(s, "@"); at >= 0 {
		scheme, _, ok := strings.Cut(s[:at], "://")
		s = s[at+1:]
		if ok {
			s = scheme + "://" + s
		}
	}
	return s
}

// hideLaunchSecrets returns a command, or another text, with its secrets hidden. An option may have several, so all
// words up to the next option are hidden.
func hideLaunchSecrets(s string) string {
	const hidden = "${1}" + redact.Redacted
	return launchOption.ReplaceAllString(launchVariable.ReplaceAllString(s, hidden), hidden)
}
