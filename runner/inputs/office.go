package inputs

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"embed"
	"io/fs"
	"strings"
)

// part is one file of an archive. The content of a link is its target.
type part struct {
	name, content string
	link          bool
}

// zipped packs files without dates, so that the same files give the same bytes.
func zipped(parts ...part) []byte {
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	for _, p := range parts {
		header := zip.FileHeader{Name: p.name, Method: zip.Deflate}
		if p.link {
			header.Method = zip.Store
			header.SetMode(fs.ModeSymlink | 0o777)
		}
		file, err := w.CreateHeader(&header)
		if err == nil {
			_, _ = file.Write([]byte(p.content)) // to memory: no error
		}
	}
	_ = w.Close() // as above
	return packed.Bytes()
}

// tarred does the same in a tar archive.
func tarred(parts ...part) []byte {
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	for _, p := range parts {
		if p.link {
			_ = w.WriteHeader(&tar.Header{Name: p.name, Typeflag: tar.TypeSymlink, Linkname: p.content, Mode: 0o777}) // to memory: no error
			continue
		}
		if w.WriteHeader(&tar.Header{Name: p.name, Mode: 0o644, Size: int64(len(p.content)), Typeflag: tar.TypeReg}) == nil {
			_, _ = w.Write([]byte(p.content)) // as above
		}
	}
	_ = w.Close() // as above
	return packed.Bytes()
}

func gzipped(content []byte) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(content) // to memory: no error
	_ = w.Close()           // as above
	return packed.Bytes()
}

const (
	xmlHead = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	// OpenDocument is the prefix of the media types of Office.
	OpenDocument = "application/vnd.openxmlformats-officedocument."
)

//go:embed office
var office embed.FS

func embedded(name string) []byte {
	content, err := office.ReadFile("office/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return content
}

// officeFile returns a file of Office (ECMA-376): a spreadsheet with the sheets "Sheet1" and "Sheet2", a text document
// with a table, or a slide show.
func officeFile(ending string) []byte {
	text := string(embedded("notes." + ending + ".txtar"))
	var parts []part
	for each := range strings.SplitSeq(strings.TrimPrefix(text, "-- "), "\n-- ") {
		name, content, _ := strings.Cut(each, " --\n")
		parts = append(parts, part{name: name, content: strings.TrimSuffix(content, "\n")})
	}
	return zipped(parts...)
}
