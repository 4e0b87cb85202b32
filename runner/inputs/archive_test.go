package inputs

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"path"
	"strings"
	"testing"
)

// TestArchives: each leads to the file of its attempt from wherever it is unpacked.
func TestArchives(t *testing.T) {
	for i, a := range Archives {
		number := ArchiveNumber(i)
		links, last := map[string]string{}, ""
		for _, entry := range entries(t, a.Ending, a.Pack(number, nil)) {
			if last = entry.Name; entry.Typeflag == tar.TypeSymlink {
				links[entry.Name] = entry.Linkname
			}
		}
		if dir, linked := links[path.Dir(last)]; linked {
			if !path.IsAbs(dir) {
				dir = path.Join("/tmp/unpacked", dir)
			}
			last = dir + "/" + path.Base(last)
		} else if last = strings.ReplaceAll(strings.ReplaceAll(last, "....//", "../"), `\`, "/"); !path.IsAbs(last) {
			last = path.Join("/tmp/unpacked", last)
		}
		if last != OutsideFile(number, ".txt") {
			t.Errorf("%s: leads to %s", a.Form, last)
		}
	}
}

func entries(t *testing.T, ending string, packed []byte) (all []*tar.Header) {
	t.Helper()
	if ending == ".zip" {
		r, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
		if r == nil {
			t.Fatal(err)
		}
		for _, f := range r.File {
			h := &tar.Header{Name: f.Name}
			if f.Mode()&fs.ModeSymlink != 0 {
				file, err := f.Open()
				if err != nil {
					t.Fatal(err)
				}
				to, _ := io.ReadAll(file)
				h.Typeflag, h.Linkname = tar.TypeSymlink, string(to)
			}
			all = append(all, h)
		}
		return all
	}
	var from io.Reader = bytes.NewReader(packed)
	if strings.HasSuffix(ending, ".gz") {
		z, err := gzip.NewReader(from)
		if err != nil {
			t.Fatal(err)
		}
		from = z
	}
	for r := tar.NewReader(from); ; {
		h, err := r.Next()
		if h == nil {
			if err != io.EOF {
				t.Fatal(err)
			}
			return all
		}
		all = append(all, h)
	}
}
