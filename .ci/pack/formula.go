package main

import (
	"fmt"
	"strings"
)

func (r *release) formula() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "class Llmsweep < Formula\n  desc %q\n  homepage %q\n  version %q\n", summary, r.url, r.version)
	for _, system := range [][2]string{{"darwin", "on_macos"}, {"linux", "on_linux"}} {
		var parts strings.Builder
		for i := range r.programs {
			if p := &r.programs[i]; p.os == system[0] {
				processor := map[string]string{"amd64": "on_intel", "arm64": "on_arm"}[p.arch]
				fmt.Fprintf(&parts, "    %s do\n      url \"%s/%s\"\n      sha256 \"%x\"\n    end\n", processor, r.url, p.name,
					sum(p.content))
			}
		}
		if parts.Len() > 0 {
			fmt.Fprintf(&b, "\n  %s do\n%s  end\n", system[1], parts.String())
		}
	}
	b.WriteString("\n  def install\n    bin.install Dir[\"llmsweep_*\"].first => \"llmsweep\"\n  end\n")
	fmt.Fprintf(&b, "\n  test do\n    assert_match %q, shell_output(\"#{bin}/llmsweep --version\")\n  end\nend\n",
		"llmsweep "+r.version)
	return []byte(b.String())
}
