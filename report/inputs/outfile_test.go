package inputs

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// What was written is known again, also with other line ends; whatever is changed in it is seen.
func TestAMarkFitsOnlyWhatWasWritten(t *testing.T) {
	for format, content := range map[string][]byte{
		"markdown": []byte("# Title\n\n| a |\n"), "svg": []byte("<svg></svg>"), "html": []byte("<!DOCTYPE html>\n<p>x"),
		"yaml": []byte("a: 1\n"),
	} {
		b := MarkedOutput(content, CommentOf(format))
		if !intactOutput(b) {
			t.Errorf("%s: %q is not known again", format, b)
		}
		if !intactOutput(bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n"))) {
			t.Errorf("%s: with other line ends it is not known again", format)
		}
		for i := range b[:len(b)-1] { // the last byte is a newline
			changed := bytes.Clone(b)
			changed[i] ^= 1
			if intactOutput(changed) {
				t.Errorf("%s: the change of byte %d of %d is not seen", format, i, len(b))
			}
		}
		if intactOutput(append(bytes.Clone(b), "my note\n"...)) {
			t.Errorf("%s: a line at the end is not seen", format)
		}
	}
}

func TestNothingOfOthersIsOverwritten(t *testing.T) {
	ours := string(MarkedOutput([]byte("# Result\n"), XMLMark))
	for _, c := range []struct {
		name, before string
		refused      bool
	}{
		{"foreign.md", "# Mine\n", true}, {"edited.md", ours + "my note\n", true}, {"ours.md", ours, false},
		{"empty.md", "", false}, {"new/er.md", "", false}, {"same.json", "{}", false}, {"other.json", "[]", true},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		if !strings.Contains(c.name, "/") {
			if err := os.WriteFile(path, []byte(c.before), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		f := OutputFile{Path: path, Content: []byte("# New\n"), Comment: XMLMark}
		if filepath.Ext(path) == ".json" {
			f.Content, f.Comment = []byte("{}"), NoMark
		}
		beside := OutputFile{Path: path + ".beside", Content: []byte("x")}
		err := WriteOutput(false, beside, f)
		after, _ := os.ReadFile(path)
		if c.refused != (err != nil) || c.refused && (string(after) != c.before ||
			!strings.Contains(err.Error(), "--force") || !strings.Contains(err.Error(), path)) {
			t.Errorf("%s: %v; it holds %q now", c.name, err, after)
		}
		if _, err := os.Stat(beside.Path); c.refused != (err != nil) {
			t.Errorf("%s: the file beside it: %v", c.name, err)
		}
		err = WriteOutput(true, f)
		if after, _ := os.ReadFile(path); err != nil || !bytes.Equal(after, MarkedOutput(f.Content, f.Comment)) {
			t.Errorf("%s with force: %v, it holds %q", c.name, err, after)
		}
	}
}

// A link stays a link, and a device is written to.
func TestLinksAndDevices(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target.md"), filepath.Join(dir, "link.md")
	if err := os.WriteFile(target, MarkedOutput([]byte("a\n"), XMLMark), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{link, os.DevNull} {
		if err := WriteOutput(false, OutputFile{Path: path, Content: []byte("b\n"), Comment: XMLMark}); err != nil {
			t.Error(err)
		}
	}
	if b, _ := os.ReadFile(target); !strings.HasPrefix(string(b), "b\n") {
		t.Errorf("the target holds %q", b)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link: %v, %v", info.Mode(), err)
	}
}

// A file with a secret is for its owner only, from the beginning.
func TestPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "job.yaml")
	if err := WriteOutput(false, OutputFile{Path: path, Content: []byte("token: x\n"), Comment: HashMark,
		Private: true}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
