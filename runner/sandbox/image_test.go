package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/image"
	"github.com/mcpaudit/mcpaudit/runner/sandbox"
)

// shellImage unpacks the machine's shell, with the libraries that it needs, as an image's only program.
func shellImage(t *testing.T, uid int) image.Image {
	t.Helper()
	of := image.Image{Name: "shell", Root: filepath.Join(t.TempDir(), "root"), Dir: "/srv/work", UID: uid, GID: uid, Env: []string{
		"FROM=image", "HOME=/nowhere", "SSL_CERT_FILE=/of/the/image", "LD_PRELOAD=",
	}}
	write(t, filepath.Join(of.Root, "srv/work/own"), "of the image")
	write(t, filepath.Join(of.Root, "dev/null"), "no device")
	shell, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	needed, err := exec.Command("ldd", shell).Output()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"bin/sh": shell}
	for word := range strings.FieldsSeq(string(needed)) {
		if strings.HasPrefix(word, "/") {
			files[word] = word
		}
	}
	for at, from := range files {
		content, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(of.Root, at), string(content))
		if err := os.Chmod(filepath.Join(of.Root, at), 0o755); err != nil { //nolint:gosec // it is run
			t.Fatal(err)
		}
	}
	if own := sandbox.Owner(); own != nil {
		give := func(at string, _ os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			owner, group := own(uid, uid)
			return os.Lchown(at, owner, group)
		}
		if err := filepath.WalkDir(of.Root, give); err != nil {
			t.Fatal(err)
		}
	}
	return of
}

// TestImage: a server of an image sees the image's files, environment, user and directory, and none of the machine's files; what
// it writes is gone afterwards.
func TestImage(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	write(t, filepath.Join(home, "note"), "the user's")
	of := shellImage(t, 1234)
	of.Home = "/nowhere"
	profile := filepath.Join(of.Root, of.Home, ".profile")
	write(t, profile, `echo "the profile of the image"`)
	if err := os.Chmod(profile, 0o644); err != nil { //nolint:gosec // the server reads it
		t.Fatal(err)
	}
	script := `. $HOME/.profile; echo "dir $PWD from $FROM home $HOME"; read line <own; echo "own $line"
while read name value rest; do case $name in Uid:) echo "uid $value";; esac; done </proc/self/status
echo x >/dev/null && echo changed >own && read line <own && echo "then $line"
echo y >/srv/work/new && echo z >/tmp/new && echo "wrote"
while read line; do echo "key $line"; break; done <$HOME/.ssh/id_rsa
for path in /etc/os-release /root /usr/bin/env ` + home + `/note; do [ -e $path ] && echo "sees $path"; done
[ "$SSL_CERT_FILE" = /of/the/image ] && echo "trusts no sinkhole"; :`
	launcher, err := sandbox.NewForImage(of, []string{"sh", "-c", script}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o := runWith(t, launcher)
	t.Logf("stdout %q, stderr %q, notes %q", o.stdout, o.stderr, o.notes)
	want := []string{"the profile of the image", "dir /srv/work from image home /home/ellis", "own of the image", "then changed", "wrote", "key -----BEGIN RSA PRIVATE KEY-----"}
	if os.Getuid() == 0 {
		want = append(want, "uid 1234")
	}
	for _, line := range want {
		if !strings.Contains(o.stdout, line+"\n") {
			t.Errorf("no line %q in what the server said", line)
		}
	}
	for _, line := range []string{"sees", "trusts no sinkhole"} {
		if strings.Contains(o.stdout, line) {
			t.Errorf("the server said %q", line)
		}
	}
	if text, err := os.ReadFile(filepath.Join(of.Root, "srv/work/own")); err != nil || string(text) != "of the image" {
		t.Errorf("the unpacked file has %q (%v)", text, err)
	}
	if !sawRead(o.events, "/home/ellis/.ssh/id_rsa") || !sawRead(o.events, "/srv/work/own") {
		t.Error("the trace does not name the files by the image's paths")
	}
}

// TestImageFiles: the audit opens the image's files by the image's names, and none of the machine's.
func TestImageFiles(t *testing.T) {
	of := image.Image{Root: filepath.Join(t.TempDir(), "root"), Dir: "/"}
	write(t, filepath.Join(of.Root, "real/script"), "#!/bin/x")
	for at, target := range map[string]string{"script": "/real/script", "out": "../../../../../../etc/passwd", "home": "/real"} {
		if err := os.Symlink(target, filepath.Join(of.Root, at)); err != nil {
			t.Fatal(err)
		}
	}
	launcher, err := sandbox.NewForImage(of, []string{"/script"}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if home := launcher.Decoys().Home; home != "/real/ellis" {
		t.Errorf("the decoys are in %s, where no link leads", home)
	}
	file, err := launcher.Open("/script")
	if err != nil {
		t.Fatal(err)
	}
	head := make([]byte, 2)
	if _, err := file.ReadAt(head, 0); err != nil || string(head) != "#!" {
		t.Errorf("read %q (%v)", head, err)
	}
	_ = file.Close() // only read
	for _, path := range []string{"/out", "/etc/passwd", "/real"} {
		if _, err := launcher.Open(path); err == nil {
			t.Errorf("%s was opened", path)
		}
	}
}
