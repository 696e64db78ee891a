package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// maxImage is how large an image may be, in bytes.
const maxImage = 20e6

// file is a file or, where it is without content, a directory of an archive.
type file struct {
	name    string
	content []byte
	mode    int64
	owner   int
}

func archive(files []file) ([]byte, error) {
	var b bytes.Buffer
	t := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.content)), Uid: f.owner, Gid: f.owner, ModTime: epoch,
			Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if f.content == nil {
			h.Typeflag = tar.TypeDir
		}
		if err := t.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := t.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := t.Close()
	return b.Bytes(), err
}

// certificates returns the public authorities that Mozilla trusts, for HTTPS.
func certificates() ([]byte, error) {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil { // trusted for a part of the web only, which a file cannot tell
			continue
		}
		if err := pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
	}
	if b.Len() == 0 {
		return nil, errors.New("there are no certificates")
	}
	return b.Bytes(), nil
}

// descriptor names a blob of an image.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// blobs are the contents of an image by their digests.
type blobs []file

func (b *blobs) add(media string, content []byte) descriptor {
	digest := fmt.Sprintf("%x", sum(content))
	*b = append(*b, file{name: "blobs/sha256/" + digest, content: content, mode: 0o644})
	return descriptor{MediaType: "application/vnd.oci.image." + media, Digest: "sha256:" + digest, Size: len(content)}
}

func (b *blobs) addJSON(media string, v any) (descriptor, error) {
	content, err := json.Marshal(v)
	return b.add(media, content), err
}

// layer returns the files of an image: the program, certificates, and a directory for runs that any user may write to,
// as an archive and compressed.
func layer(p *program) (plain, compressed []byte, err error) {
	const nobody, shared = 65534, 0o1777
	roots, err := certificates()
	if err != nil {
		return nil, nil, err
	}
	plain, err = archive([]file{
		{name: "etc/", mode: 0o755}, {name: "etc/ssl/", mode: 0o755}, {name: "etc/ssl/certs/", mode: 0o755},
		{name: "etc/ssl/certs/ca-certificates.crt", content: roots, mode: 0o644},
		{name: "llmsweep", content: p.content, mode: 0o755}, {name: "runs/", mode: shared, owner: nobody},
		{name: "tmp/", mode: shared},
	})
	if err != nil {
		return nil, nil, err
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, nil, err
	}
	_, err = z.Write(plain)
	err = errors.Join(err, z.Close())
	return plain, b.Bytes(), err
}

// image writes an OCI image of one layer as an archive of its layout, which docker load, podman load and skopeo read.
// The format is that of https://github.com/opencontainers/image-spec/blob/main/image-layout.md.
func (r *release) image(p *program) error {
	var all blobs
	plain, compressed, err := layer(p)
	if err != nil {
		return err
	}
	contents := all.add("layer.v1.tar+gzip", compressed)
	config, err := all.addJSON("config.v1+json", map[string]any{
		"architecture": p.arch, "os": p.os, "created": epoch,
		"config": map[string]any{"Entrypoint": []string{"/llmsweep"}, "Cmd": []string{"--help"}, "User": "65534:65534",
			"WorkingDir": "/runs"},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sum(plain))}},
	})
	if err != nil {
		return err
	}
	manifest, err := all.addJSON("manifest.v1+json", map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config,
		"layers": []descriptor{contents},
	})
	if err != nil {
		return err
	}
	manifest.Annotations = map[string]string{
		"org.opencontainers.image.ref.name": "llmsweep:" + r.version,
		"io.containerd.image.name":          "docker.io/library/llmsweep:" + r.version,
	}
	index, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json",
		"manifests": []descriptor{manifest}})
	if err != nil {
		return err
	}
	layout := file{name: "oci-layout", content: []byte(`{"imageLayoutVersion":"1.0.0"}`), mode: 0o644}
	tarred, err := archive(append([]file{layout, {name: "index.json", content: index, mode: 0o644}}, all...))
	if err == nil && len(tarred) > maxImage {
		err = fmt.Errorf("the image of %s has %d bytes, and %.0f are the limit", p.name, len(tarred), maxImage)
	}
	if err != nil {
		return err
	}
	return r.write(p.name+".oci.tar", tarred)
}
