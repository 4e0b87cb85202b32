package inputs

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"path"
	"strconv"
	"strings"
	"sync"
)

// Up leads to the root from any directory that is not too deep.
var Up = strings.Repeat("../", 16)

// Archive has a file whose name leads out of the directory that it is unpacked in.
type Archive struct {
	// Form says for people how.
	Form string
	// Ending is that of its name.
	Ending string

	pack func(to io.Writer, name string, content []byte) error
	way  string
}

// Archives are those that lie in the directories of arguments where guards are tried.
var Archives = []Archive{
	{`as a file with ".." in an archive (ZIP)`, ".zip", packZIP, Up},
	{`as a file with ".." in an archive (tar)`, ".tar", packTar, Up},
	{`as a file with ".." in a compressed archive (tar)`, ".tar.gz", packTarball, Up},
	{"as a file with an absolute path in an archive (ZIP)", ".zip", packZIP, "/"},
	{"as a file with an absolute path in an archive (tar)", ".tar", packTar, "/"},
	{`as a file with ".." behind a directory in an archive (ZIP)`, ".zip", packZIP, "notes/" + Up},
	{"as a file with an absolute path in a compressed archive (tar)", ".tar.gz", packTarball, "/"},
	{"as a file behind a link in an archive (tar)", ".tar", packLink, "/"},
	{"as a file behind a link in a compressed archive (tar)", ".tar.gz", compressed(packLink), "/"},
}

// Pack makes the archive that leads to the file of a numbered attempt.
func (a Archive) Pack(number int) []byte {
	var packed bytes.Buffer
	_ = a.pack(&packed, a.way+OutsideFile(number, ".txt")[1:], OutsideNote.Content) // into memory: no error
	return packed.Bytes()
}

// ArchiveName is the name of the file of an archive, by its place in Archives.
func ArchiveName(i int) string {
	return LinkName + "-archive-" + strconv.Itoa(i+1) + Archives[i].Ending
}

// ArchiveNumber is the number of the attempt that such a file leads to: above those of others.
func ArchiveNumber(i int) int { return MaxOutside + 1 + i }

// ArchiveFiles are the files of Archives.
var ArchiveFiles = sync.OnceValue(func() (all []File) {
	for i, a := range Archives {
		all = append(all, File{ArchiveName(i), a.Pack(ArchiveNumber(i))})
	}
	return all
})

func packZIP(to io.Writer, name string, content []byte) error {
	w := zip.NewWriter(to)
	file, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
	if err != nil {
		return err
	}
	if _, err := file.Write(content); err != nil {
		return err
	}
	return w.Close()
}

func packTar(to io.Writer, name string, content []byte) error {
	w := tar.NewWriter(to)
	if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}); err != nil {
		return err
	}
	if _, err := w.Write(content); err != nil {
		return err
	}
	return w.Close()
}

// packLink packs a link to the directory of an absolute path, and a file behind it. The link has a name
// that nothing has where it is unpacked.
func packLink(to io.Writer, name string, content []byte) error {
	w, link := tar.NewWriter(to), "shelf-"+path.Base(path.Dir(name))
	if err := w.WriteHeader(&tar.Header{Name: link, Typeflag: tar.TypeSymlink, Linkname: path.Dir(name), Mode: 0o777}); err != nil {
		return err
	}
	if err := w.WriteHeader(&tar.Header{Name: link + "/" + path.Base(name), Mode: 0o644, Size: int64(len(content))}); err != nil {
		return err
	}
	if _, err := w.Write(content); err != nil {
		return err
	}
	return w.Close()
}

var packTarball = compressed(packTar)

func compressed(pack func(io.Writer, string, []byte) error) func(io.Writer, string, []byte) error {
	return func(to io.Writer, name string, content []byte) error {
		w := gzip.NewWriter(to)
		if err := pack(w, name, content); err != nil {
			return err
		}
		return w.Close()
	}
}
