// Command sbom prints the bill of materials of a Go program as CycloneDX JSON: the modules that are compiled into it,
// with their versions and the sums of go.sum. It has no time and no serial number in it, so that the same program gives
// the same bytes.
package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	version := flag.String("version", "", "version of the program")
	flag.Parse()
	if err := run(*version, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(version, file string) error {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return err
	}
	main := component(cdx.ComponentTypeApplication, info.Main.Path, version)
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &main}
	parts := []cdx.Component{component(cdx.ComponentTypeLibrary, "std", info.GoVersion)}
	uses := []string{parts[0].BOMRef}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		c := component(cdx.ComponentTypeLibrary, m.Path, m.Version)
		if h, ok := sum(m); ok {
			c.Hashes = &[]cdx.Hash{h}
		}
		parts, uses = append(parts, c), append(uses, c.BOMRef)
	}
	bom.Components = &parts
	bom.Dependencies = &[]cdx.Dependency{{Ref: main.BOMRef, Dependencies: &uses}}
	return cdx.NewBOMEncoder(os.Stdout, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
}

func component(kind cdx.ComponentType, path, version string) cdx.Component {
	url := "pkg:golang/" + path + "@" + version
	return cdx.Component{Type: kind, BOMRef: url, Name: path, Version: version, PackageURL: url}
}

// sum returns a module's sum. Go writes it as "h1:" and the SHA-256 of the module's files in base64.
func sum(m *debug.Module) (cdx.Hash, bool) {
	b, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:"))
	if err != nil || len(b) == 0 {
		return cdx.Hash{}, false
	}
	return cdx.Hash{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(b)}, true
}
