package testkit

import (
	"os"
	"time"
)

// ClearEnvironment sets the time zone to UTC, and removes the variables that change what llmsweep prints, where it
// connects and where it writes, so that tests give the same on every machine. TestMain calls it.
func ClearEnvironment() {
	time.Local = time.UTC
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "LLMSWEEP_API_KEY",
		"OPENAI_API_KEY", "LANG", "LC_ALL", "LC_MESSAGES", "COLUMNS", "TERM", "NO_COLOR", "PAGER", "CI",
		"GITHUB_STEP_SUMMARY"} {
		os.Unsetenv(name)
	}
}
