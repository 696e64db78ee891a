// Command pack makes of the programs of a release what package managers install: a Python wheel and an OCI image of
// each, and a Homebrew formula of all. Nothing in these files has the time or the machine in it, so that the same
// programs give the same bytes.
//
//	pack -version 0.1.0 -url https://example.org/releases/v0.1.0 -license LICENSE DIR
//
// DIR holds programs named llmsweep_VERSION_SYSTEM_PROCESSOR. The formula fetches them from below the URL.
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// summary is what the program is, in one line.
const summary = "Measures how much load an LLM server sustains, and its latencies under that load"

// epoch is the time of all files: the first that a zip archive can have.
var epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

type program struct {
	os, arch string
	name     string // of its file
	content  []byte
}

type release struct {
	version, url string
	license      []byte
	dir          string
	programs     []program
}

func main() {
	var r release
	license := flag.String("license", "LICENSE", "file with the license")
	flag.StringVar(&r.version, "version", "", "version of the programs")
	flag.StringVar(&r.url, "url", "", "where the files of the release can be fetched from")
	flag.Parse()
	r.dir = flag.Arg(0)
	if err := r.pack(*license); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func (r *release) pack(license string) (err error) {
	if r.license, err = os.ReadFile(license); err != nil {
		return err
	}
	names, err := filepath.Glob(filepath.Join(r.dir, "llmsweep_"+r.version+"_*"))
	if err != nil {
		return err
	}
	for _, name := range names {
		base := filepath.Base(name)
		platform := strings.TrimSuffix(strings.TrimPrefix(base, "llmsweep_"+r.version+"_"), ".exe")
		system, arch, ok := strings.Cut(platform, "_")
		if !ok || strings.Contains(arch, ".") { // a bill of materials, or an image
			continue
		}
		p := program{os: system, arch: arch, name: base}
		if p.content, err = os.ReadFile(name); err != nil {
			return err
		}
		r.programs = append(r.programs, p)
	}
	if len(r.programs) == 0 {
		return fmt.Errorf("%s holds no program of version %s", r.dir, r.version)
	}
	for i := range r.programs {
		p := &r.programs[i]
		if err := r.wheel(p); err != nil {
			return err
		}
		if p.os == "linux" {
			if err := r.image(p); err != nil {
				return err
			}
		}
	}
	return r.write("llmsweep.rb", r.formula())
}

func (r *release) write(name string, content []byte) error {
	fmt.Printf("%s %.1f MB\n", name, float64(len(content))/1e6)
	return os.WriteFile(filepath.Join(r.dir, name), content, 0o644)
}

func sum(content []byte) []byte {
	s := sha256.Sum256(content)
	return s[:]
}
