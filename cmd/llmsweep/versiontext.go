package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is the release that this tree becomes.
const version = "0.1.0"

// versionText names the version, the commit where the build recorded it, Go's version and the system.
func versionText() string {
	text := "llmsweep " + version
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
