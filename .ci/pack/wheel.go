package main

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
)

// platforms returns the tags of the systems that a program runs on. It is static, so that any C library does; Go 1.26
// needs macOS 12. See https://packaging.python.org/en/latest/specifications/platform-compatibility-tags/.
func platforms(p *program) []string {
	python := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[p.arch]
	switch p.os {
	case "linux":
		return []string{"manylinux2014_" + python, "manylinux_2_17_" + python, "musllinux_1_1_" + python}
	case "darwin":
		return []string{"macosx_12_0_" + strings.Replace(python, "aarch64", "arm64", 1)}
	}
	return []string{"win_" + p.arch}
}

// wheel writes a Python wheel that has the program as a script, so that pip puts it on the PATH. The format is that of
// https://packaging.python.org/en/latest/specifications/binary-distribution-format/.
func (r *release) wheel(p *program) error {
	const mode, executable = 0o644, 0o755
	tags := platforms(p)
	script, info := "llmsweep", fmt.Sprintf("llmsweep-%s.dist-info/", r.version)
	if p.os == "windows" {
		script += ".exe"
	}
	about := "Wheel-Version: 1.0\nGenerator: llmsweep\nRoot-Is-Purelib: false\n"
	for _, tag := range tags {
		about += "Tag: py3-none-" + tag + "\n"
	}
	metadata := fmt.Sprintf("Metadata-Version: 2.4\nName: llmsweep\nVersion: %s\nSummary: %s\nLicense-File: "+
		"LICENSE\nRequires-Python: >=3.7\n", r.version, summary)
	var b, record bytes.Buffer
	z := zip.NewWriter(&b)
	add := func(name string, content []byte, mode uint32) error {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: epoch}
		h.CreatorVersion, h.ExternalAttrs = 3<<8, (0o100000|mode)<<16 // a regular file of Unix
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write(content)
		}
		return err
	}
	for _, f := range []struct {
		name    string
		content []byte
		mode    uint32
	}{
		{fmt.Sprintf("llmsweep-%s.data/scripts/%s", r.version, script), p.content, executable},
		{info + "METADATA", []byte(metadata), mode}, {info + "WHEEL", []byte(about), mode},
		{info + "licenses/LICENSE", r.license, mode},
	} {
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum(f.content)),
			len(f.content))
		if err := add(f.name, f.content, f.mode); err != nil {
			return err
		}
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	if err := add(info+"RECORD", record.Bytes(), mode); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return r.write(fmt.Sprintf("llmsweep-%s-py3-none-%s.whl", r.version, strings.Join(tags, ".")), b.Bytes())
}
