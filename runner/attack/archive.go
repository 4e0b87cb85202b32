package attack

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// archiveForms are archives in Base64 with a file whose name leads outside, for who unpacks them.
var archiveForms = []form{
	archive(`as a file with ".." in an archive (ZIP)`, zipped, up, ""),
	archive(`as a file with ".." in an archive (tar)`, tarred, up, ""),
	archive(`as a file with ".." in a compressed archive (tar)`, compressed, up, ""),
	archive("as a file with an absolute path in an archive (ZIP)", zipped, "/", ""),
	archive("as a file with an absolute path in an archive (tar)", tarred, "/", ""),
	archive(`as a file with ".." behind a directory in an archive (ZIP)`, zipped, "notes/"+up, ""),
	archive("as a file with an absolute path in a compressed archive (tar)", compressed, "/", ""),
	archive("as a URL of data (ZIP)", zipped, up, "data:application/zip;base64,"),
}

// ofArchive are names, and descriptions, of what may be an archive.
var ofArchive = lazyregexp.New(`(?i)\b(?:zip(?:ped)?|archives?|tar(?:ball|gz)?|tgz|bundles?|compressed|package)\b`)

// archiveSteps are the attempts of family Path on what takes an archive as a text.
func archiveSteps(fields []field) (all []step) {
	for _, f := range fields {
		if f.text && !f.next && f.variable == "" && f.speaksOf(ofArchive) && (packedText.MatchString(f.said) || packedText.MatchString(f.core())) {
			for _, form := range archiveForms {
				all = append(all, step{family: Path, form: form, field: f})
			}
			break
		}
	}
	return all
}

// packedText says that a text holds bytes, or is one that does: a ZIP in Base64 begins with "UEsD".
var packedText = lazyregexp.New(`(?i)base-?64|\bencoded\b|^(?:UEsD|H4sI)`)

func archive(name string, pack func(io.Writer, string, []byte) error, way, before string) form {
	return form{name: name, archive: true, write: func(f field, _ inputs.Mark, number int) string {
		var packed bytes.Buffer
		_ = pack(&packed, way+inputs.OutsideFile(number, ".txt")[1:], inputs.OutsideNote.Content) // into memory: no error
		return f.before + before + base64.StdEncoding.EncodeToString(packed.Bytes()) + f.behind
	}}
}

func zipped(to io.Writer, name string, content []byte) error {
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

func tarred(to io.Writer, name string, content []byte) error {
	w := tar.NewWriter(to)
	if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}); err != nil {
		return err
	}
	if _, err := w.Write(content); err != nil {
		return err
	}
	return w.Close()
}

func compressed(to io.Writer, name string, content []byte) error {
	w := gzip.NewWriter(to)
	if err := tarred(w, name, content); err != nil {
		return err
	}
	return w.Close()
}
