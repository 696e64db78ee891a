package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// packed packs a release of small files that stand for the programs, and returns its directory.
func packed(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64", "windows_amd64.exe",
		"windows_arm64.exe", "linux_amd64.cdx.json"} {
		if err := os.WriteFile(filepath.Join(dir, "llmsweep_1.2.3_"+name), []byte("program of "+name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r := release{version: "1.2.3", url: "https://example.org/v1.2.3", dir: dir}
	if err := r.pack("../../LICENSE"); err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestWheels tests that each wheel has the program as an executable script, and a record of all its files that is
// right.
func TestWheels(t *testing.T) {
	wheels, err := filepath.Glob(filepath.Join(packed(t), "*.whl"))
	if err != nil || len(wheels) != 6 {
		t.Fatal(err, wheels)
	}
	for _, name := range wheels {
		z, err := zip.NewReader(bytes.NewReader(read(t, name)), int64(len(read(t, name))))
		if err != nil {
			t.Fatal(err)
		}
		contents := map[string][]byte{}
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			if contents[f.Name], err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
			if script := strings.Contains(f.Name, ".data/scripts/"); script != (f.Mode().Perm() == 0o755) ||
				!f.Mode().IsRegular() {
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
			file, _, _ := strings.Cut(line, ",")
			if want := fmt.Sprintf("%s,sha256=%s,%d", file, base64.RawURLEncoding.EncodeToString(sum(contents[file])),
				len(contents[file])); line != want {
				t.Errorf("%s: %s, want %s", name, line, want)
			}
		}
		tags := strings.TrimSuffix(name[strings.Index(name, "-none-")+len("-none-"):], ".whl")
		for _, tag := range strings.Split(tags, ".") {
			if !bytes.Contains(contents[info+"WHEEL"], []byte("\nTag: py3-none-"+tag+"\n")) {
				t.Errorf("%s has no tag %s", name, tag)
			}
		}
	}
}

// untar returns the files of an archive.
func untar(t *testing.T, b []byte) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(b)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

// TestImages follows an image from its index to the program in its layer, by digests and sizes.
func TestImages(t *testing.T) {
	dir := packed(t)
	if images, _ := filepath.Glob(filepath.Join(dir, "*.oci.tar")); len(images) != 2 {
		t.Fatal(images)
	}
	files := untar(t, read(t, filepath.Join(dir, "llmsweep_1.2.3_linux_arm64.oci.tar")))
	blob := func(d descriptor) []byte {
		t.Helper()
		b := files["blobs/sha256/"+strings.TrimPrefix(d.Digest, "sha256:")]
		if len(b) == 0 || len(b) != d.Size || fmt.Sprintf("sha256:%x", sum(b)) != d.Digest {
			t.Fatalf("%+v: %d bytes", d, len(b))
		}
		return b
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
	err := json.Unmarshal(files["index.json"], &index)
	if err == nil {
		err = json.Unmarshal(blob(index.Manifests[0]), &manifest)
	}
	if err == nil {
		err = json.Unmarshal(blob(manifest.Config), &config)
	}
	if err != nil || string(files["oci-layout"]) != `{"imageLayoutVersion":"1.0.0"}` || config.Architecture != "arm64" {
		t.Fatal(err, config)
	}
	z, err := gzip.NewReader(bytes.NewReader(blob(manifest.Layers[0])))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil || fmt.Sprintf("sha256:%x", sum(plain)) != config.Rootfs.Diffs[0] {
		t.Fatal(err, config)
	}
	inside := untar(t, plain)
	if string(inside["llmsweep"]) != "program of linux_arm64" || bytes.Count(inside["etc/ssl/certs/ca-certificates.crt"],
		[]byte("BEGIN CERTIFICATE")) < 100 {
		t.Errorf("%d files", len(inside))
	}
}

// TestFormula tests that the formula has the address and the sum of each program for macOS and Linux.
func TestFormula(t *testing.T) {
	dir := packed(t)
	formula := string(read(t, filepath.Join(dir, "llmsweep.rb")))
	for _, name := range []string{"linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64"} {
		want := fmt.Sprintf("url \"https://example.org/v1.2.3/llmsweep_1.2.3_%s\"\n      sha256 \"%x\"\n", name,
			sum(read(t, filepath.Join(dir, "llmsweep_1.2.3_"+name))))
		if !strings.Contains(formula, want) {
			t.Errorf("no %s in\n%s", want, formula)
		}
	}
}

// TestReproducible packs twice and compares all files.
func TestReproducible(t *testing.T) {
	one, another := packed(t), packed(t)
	names, err := os.ReadDir(one)
	if err != nil || len(names) != 7+6+2+1 {
		t.Fatal(err, names)
	}
	for _, n := range names {
		if !bytes.Equal(read(t, filepath.Join(one, n.Name())), read(t, filepath.Join(another, n.Name()))) {
			t.Errorf("%s is not the same twice", n.Name())
		}
	}
}
