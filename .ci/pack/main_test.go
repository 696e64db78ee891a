package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// packed packs a release of small files that stand for the programs, and returns its files.
func packed(t *testing.T) map[string][]byte {
	t.Helper()
	r := release{version: "1.2.3", url: "https://example.org/v1.2.3", dir: t.TempDir()}
	for _, name := range strings.Fields("linux_amd64 linux_arm64 darwin_amd64 darwin_arm64 windows_amd64.exe " +
		"windows_arm64.exe linux_amd64.cdx.json") {
		if err := os.WriteFile(filepath.Join(r.dir, "llmsweep_1.2.3_"+name), []byte("program of "+name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.pack("../../LICENSE"); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range must(os.ReadDir(r.dir)) {
		files[f.Name()] = must(os.ReadFile(filepath.Join(r.dir, f.Name())))
	}
	return files
}

// Two releases of the same programs have the same bytes: the programs, a wheel of each, an image of those for Linux,
// and a formula with the address and the sum of each for macOS and Linux.
func TestRelease(t *testing.T) {
	files, again := packed(t), packed(t)
	for name, content := range files {
		if !bytes.Equal(content, again[name]) {
			t.Errorf("%s is not the same twice", name)
		}
	}
	if n := len(files); n != 7+6+2+1 {
		t.Errorf("%d files", n)
	}
	for _, name := range strings.Fields("linux_amd64 linux_arm64 darwin_amd64 darwin_arm64") {
		program := "llmsweep_1.2.3_" + name
		want := fmt.Sprintf("url \"https://example.org/v1.2.3/%s\"\n      sha256 \"%x\"\n", program, sum(files[program]))
		if formula := string(files["llmsweep.rb"]); !strings.Contains(formula, want) {
			t.Errorf("no %s in\n%s", want, formula)
		}
	}
}

// Each wheel has the program as an executable script, and a record of all its files that is right.
func TestWheels(t *testing.T) {
	for name, wheel := range packed(t) {
		names, isWheel := strings.CutSuffix(name, ".whl")
		if !isWheel {
			continue
		}
		z, contents := must(zip.NewReader(bytes.NewReader(wheel), int64(len(wheel)))), map[string][]byte{}
		for _, f := range z.File {
			contents[f.Name] = must(io.ReadAll(must(f.Open())))
			script := strings.Contains(f.Name, ".data/scripts/")
			if script != (f.Mode().Perm() == 0o755) || !f.Mode().IsRegular() {
				t.Errorf("%s: %s has mode %v", name, f.Name, f.Mode())
			}
		}
		script := "llmsweep-1.2.3.data/scripts/llmsweep"
		if strings.Contains(name, "win_") {
			script += ".exe"
		}
		if !bytes.HasPrefix(contents[script], []byte("program of ")) {
			t.Errorf("%s has no %s", name, script)
		}
		const info = "llmsweep-1.2.3.dist-info/"
		lines := strings.Split(strings.TrimSpace(string(contents[info+"RECORD"])), "\n")
		if len(lines) != len(contents) || lines[len(lines)-1] != info+"RECORD,," {
			t.Errorf("%s: %d files, and the record %q", name, len(contents), lines)
		}
		for _, line := range lines[:len(lines)-1] {
			file, record, _ := strings.Cut(line, ",")
			hash := base64.RawURLEncoding.EncodeToString(sum(contents[file]))
			if want := fmt.Sprintf("sha256=%s,%d", hash, len(contents[file])); record != want {
				t.Errorf("%s: %s, want %s", name, line, want)
			}
		}
		_, tags, _ := strings.Cut(names, "-none-")
		for _, tag := range strings.Split(tags, ".") {
			if !bytes.Contains(contents[info+"WHEEL"], []byte("\nTag: py3-none-"+tag+"\n")) {
				t.Errorf("%s has no tag %s", name, tag)
			}
		}
	}
}

// untar returns the files of an archive.
func untar(b []byte) map[string][]byte {
	files, r := map[string][]byte{}, tar.NewReader(bytes.NewReader(b))
	for h, err := r.Next(); err != io.EOF; h, err = r.Next() {
		files[must(h, err).Name] = must(io.ReadAll(r))
	}
	return files
}

// An image leads from its index to the program in its layer, by digests and sizes.
func TestImages(t *testing.T) {
	files := untar(packed(t)["llmsweep_1.2.3_linux_arm64.oci.tar"])
	blob := func(d descriptor) []byte {
		t.Helper()
		b := files["blobs/sha256/"+strings.TrimPrefix(d.Digest, "sha256:")]
		if len(b) == 0 || len(b) != d.Size || fmt.Sprintf("sha256:%x", sum(b)) != d.Digest {
			t.Fatalf("%+v: %d bytes", d, len(b))
		}
		return b
	}
	read := func(b []byte, v any) {
		t.Helper()
		if err := json.Unmarshal(b, v); err != nil {
			t.Fatal(err)
		}
	}
	var index struct{ Manifests []descriptor }
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	var config struct {
		Architecture string
		Rootfs       struct {
			Diffs []string `json:"diff_ids"`
		}
	}
	read(files["index.json"], &index)
	read(blob(index.Manifests[0]), &manifest)
	read(blob(manifest.Config), &config)
	plain := must(io.ReadAll(must(gzip.NewReader(bytes.NewReader(blob(manifest.Layers[0]))))))
	if string(files["oci-layout"]) != `{"imageLayoutVersion":"1.0.0"}` || config.Architecture != "arm64" ||
		fmt.Sprintf("sha256:%x", sum(plain)) != config.Rootfs.Diffs[0] {
		t.Fatal(config)
	}
	inside := untar(plain)
	certificates := bytes.Count(inside["etc/ssl/certs/ca-certificates.crt"], []byte("BEGIN CERTIFICATE"))
	if string(inside["llmsweep"]) != "program of linux_arm64" || certificates < 100 {
		t.Errorf("%d files, %d certificates", len(inside), certificates)
	}
}
