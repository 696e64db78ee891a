package console

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// VersionNumber is the release that this tree becomes.
const VersionNumber = "0.2.0"

// VersionText names the version, the commit where the build recorded it, Go's version and the system.
func VersionText() string {
	text := "llmsweep " + VersionNumber
	if info, ok := debug.ReadBuildInfo(); ok {
		settings := map[string]string{}
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
		if commit := settings["vcs.revision"]; commit != "" {
			text += " (commit " + commit[:min(len(commit), 12)]
			if t := settings["vcs.time"]; t != "" {
				text += ", " + t
			}
			if settings["vcs.modified"] == "true" {
				text += ", with local changes"
			}
			text += ")"
		}
	}
	return text + fmt.Sprintf(", %s, %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
