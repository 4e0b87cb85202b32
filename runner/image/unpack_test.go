package image

import (
	"archive/tar"
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// file, dir, link and hard describe entries of a layer.
func file(name, text string) entry {
	return entry{tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(text))}, text}
}
func dir(name string) entry {
	return entry{tar.Header{Name: name, Typeflag: tar.TypeDir, Mode: 0o755}, ""}
}
func link(name, target string) entry {
	return entry{tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: target}, ""}
}
func hard(name, target string) entry {
	return entry{tar.Header{Name: name, Typeflag: tar.TypeLink, Linkname: target}, ""}
}
func special(name string, kind byte) entry {
	return entry{tar.Header{Name: name, Typeflag: kind, Devmajor: 1, Devminor: 3}, ""}
}

type entry struct {
	header tar.Header
	text   string
}

func packed(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var all bytes.Buffer
	archive := tar.NewWriter(&all)
	for _, e := range entries {
		if err := archive.WriteHeader(&e.header); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(e.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return all.Bytes()
}

// apply applies layers to a new directory beside a file that no layer may change, and returns what is there: "name=text",
// "name/" and "name->target".
func apply(t testing.TB, layers ...[]byte) (u *unpacker, seen []string, err error) {
	t.Helper()
	outside := t.TempDir()
	root, kept := filepath.Join(outside, "root"), filepath.Join(outside, "kept")
	if err := os.WriteFile(kept, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	if u, err = newUnpacker(root, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = u.tree.Close() })
	for _, layer := range layers {
		if err = u.layer(context.Background(), bytes.NewReader(layer)); err != nil {
			break
		}
	}
	beside, readErr := os.ReadDir(outside)
	if text, _ := os.ReadFile(kept); readErr != nil || len(beside) != 2 || string(text) != "kept" {
		t.Fatalf("something outside of the root was changed: %v, %q", beside, text)
	}
	walkErr := filepath.WalkDir(root, func(at string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, at)
		switch {
		case err != nil || name == ".":
			return err
		case e.IsDir():
			seen = append(seen, name+"/")
		case e.Type() == fs.ModeSymlink:
			target, _ := os.Readlink(at)
			seen = append(seen, name+"->"+target)
		case e.Type().IsRegular():
			text, _ := os.ReadFile(at)
			seen = append(seen, name+"="+string(text))
		default:
			t.Errorf("%s is of type %v", name, e.Type())
		}
		return nil
	})
	if walkErr != nil {
		t.Fatal(walkErr)
	}
	return u, seen, err
}

func TestLayers(t *testing.T) {
	for name, test := range map[string]struct {
		layers [][]entry
		want   []string
	}{
		"files": {[][]entry{{dir("a"), file("a/b", "1"), file("c/d", "2")}}, []string{"a/", "a/b=1", "c/", "c/d=2"}},
		"whiteout": {
			[][]entry{{file("a/b", "1"), file("a/c", "2"), dir("d/e")}, {file("a/.wh.b", ""), file(".wh.d", "")}}, []string{"a/", "a/c=2"},
		},
		"opaque, before and after what its layer adds": {
			[][]entry{{file("a/old", "1"), file("a/sub/old", "1"), file("b/old", "1")}, {
				file("a/.wh..wh..opq", ""), file("a/new", "2"), file("b/new", "2"), file("b/.wh..wh..opq", ""),
			}}, []string{"a/", "a/new=2", "b/", "b/new=2"},
		},
		"a whiteout and the same name again":         {[][]entry{{file("a", "1")}, {file(".wh.a", ""), file("a", "2")}}, []string{"a=2"}},
		"a file in place of a directory, and back":   {[][]entry{{file("a/b", "1"), file("c", "1")}, {file("a", "2"), dir("c")}}, []string{"a=2", "c/"}},
		"a directory again keeps what is in it":      {[][]entry{{file("a/b", "1")}, {dir("a")}}, []string{"a/", "a/b=1"}},
		"through a link of the image":                {[][]entry{{dir("run"), link("var/run", "/run")}, {file("var/run/x", "1")}}, []string{"run/", "run/x=1", "var/", "var/run->/run"}},
		"a link that leads out stays, and unused":    {[][]entry{{link("a", "/etc/passwd"), link("b", "../../../etc")}}, []string{"a->/etc/passwd", "b->../../../etc"}},
		"a file in place of a link that leads out":   {[][]entry{{link("a", "../kept")}, {file("a", "2")}}, []string{"a=2"}},
		"below a link that leads out":                {[][]entry{{link("a", "../../..")}, {file("a/kept", "2")}}, []string{"a->../../..", "kept=2"}},
		"names that lead out":                        {[][]entry{{file("../../kept", "2"), file("/x", "3")}}, []string{"kept=2", "x=3"}},
		"a hard link, and a change of one name only": {[][]entry{{file("a", "1"), hard("b", "/a")}, {file("b", "2")}}, []string{"a=1", "b=2"}},
		"a hard link through a link":                 {[][]entry{{file("d/a", "1"), link("l", "/d"), hard("b", "l/a")}}, []string{"b=1", "d/", "d/a=1", "l->/d"}},
		"devices and pipes are left out": {
			[][]entry{{special("null", tar.TypeChar), special("disk", tar.TypeBlock), special("pipe", tar.TypeFifo), file("a", "1")}}, []string{"a=1"},
		},
		"whiteouts below a link that leads out": {[][]entry{{link("a", "/..")}, {file("a/.wh.kept", ""), file("a/.wh..wh..opq", "")}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var layers [][]byte
			for _, entries := range test.layers {
				layers = append(layers, packed(t, entries...))
			}
			_, seen, err := apply(t, layers...)
			if err != nil || !slices.Equal(seen, test.want) {
				t.Errorf("unpacked %q, want %q (%v)", seen, test.want, err)
			}
		})
	}
}

func TestHostileLayers(t *testing.T) {
	for name, test := range map[string]struct {
		entries []entry
		want    string
	}{
		"a hard link that leads out":  {[]entry{hard("a", "../kept")}, "link to"},
		"a hard link through a link":  {[]entry{link("l", "../"), hard("a", "l/kept")}, "link to"},
		"links in a circle":           {[]entry{link("a", "b"), link("b", "a"), file("a/x", "1")}, "more than 40 links"},
		"a whiteout of its directory": {[]entry{file("d/x", "1"), file("d/.wh..", "")}, "removes no file by its name"},
		"an unknown type":             {[]entry{{tar.Header{Name: "a", Typeflag: 'Z'}, ""}}, "unknown type"},
		"a path below a file":         {[]entry{file("a", "1"), file("a/b", "2")}, "file exists"},
		"a long path":                 {[]entry{file(strings.Repeat("a/", 3000)+"a", "")}, "more than 4096 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := apply(t, packed(t, test.entries...)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestBounds(t *testing.T) {
	u, _, _ := apply(t)
	u.left = &left{bytes: 10, entries: 10}
	if err := u.layer(context.Background(), bytes.NewReader(packed(t, file("a", "more than ten bytes")))); err == nil || !strings.Contains(err.Error(), "GiB") {
		t.Errorf("too many bytes: %v", err)
	}
	u.left = &left{bytes: 100, entries: 1}
	if err := u.layer(context.Background(), bytes.NewReader(packed(t, dir("b"), dir("c")))); err == nil || !strings.Contains(err.Error(), "files") {
		t.Errorf("too many entries: %v", err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	u.left = newLeft()
	if err := u.layer(ended, bytes.NewReader(packed(t, dir("d")))); err == nil {
		t.Error("it goes on after the time is up")
	}
}

func TestUser(t *testing.T) {
	passwd := "root:x:0:0::/root:/bin/sh\nnode:x:1000:1001::/home/node:/bin/sh\n"
	u, _, err := apply(t, packed(t, file("etc/real", passwd), link("etc/passwd", "/etc/real"), file("etc/group", "root:x:0:\nstaff:x:50:\n")))
	if err != nil {
		t.Fatal(err)
	}
	for of, want := range map[string][2]int{
		"": {0, 0}, "node": {1000, 1001}, "1000": {1000, 1001}, "7": {7, 0}, "node:staff": {1000, 50}, "7:8": {7, 8}, "99999999": {nobody, 0},
	} {
		if uid, gid, err := u.user(of); err != nil || uid != want[0] || gid != want[1] {
			t.Errorf("user %q: %d:%d, want %v (%v)", of, uid, gid, want, err)
		}
	}
	for uid, want := range map[int]string{0: "/root", 1000: "/home/node", 7: "/"} {
		if home, err := u.home(uid, []string{"A=b", "HOME="}); err != nil || home != want {
			t.Errorf("home of %d: %q, want %q (%v)", uid, home, want, err)
		}
	}
	if home, err := u.home(0, []string{"HOME=/a", "HOME=/app"}); err != nil || home != "/app" {
		t.Errorf("home that the image sets: %q (%v)", home, err)
	}
	for _, of := range []string{"nobody-knows", "node:nobody-knows", "-1"} {
		if _, _, err := u.user(of); err == nil {
			t.Errorf("user %q: no error", of)
		}
	}
}

// TestManyDirectories: directories that no entry has count as well, because one path may have thousands.
func TestManyDirectories(t *testing.T) {
	u, err := newUnpacker(filepath.Join(t.TempDir(), "root"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = u.tree.Close() }()
	u.left.entries = 50
	if err := u.layer(t.Context(), bytes.NewReader(packed(t, file(strings.Repeat("a/", 100)+"b", "1")))); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("100 directories where 50 files are allowed: %v", err)
	}
}

// FuzzLayer applies a layer twice: whatever it says, nothing outside of the root changes, and no device is made.
func FuzzLayer(f *testing.F) {
	f.Add(packed(f, dir("a"), link("a/b", "../../.."), file("a/b/kept", "2"), hard("h", "a/b/kept"), file("a/.wh..wh..opq", ""), file(".wh.a", "")))
	f.Add(packed(f, special("null", tar.TypeChar), link("x", "/x"), file("x/y", "1"), link(".", "..")))
	f.Fuzz(func(t *testing.T, layer []byte) { _, _, _ = apply(t, layer, layer) })
}
