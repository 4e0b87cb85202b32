package inputs

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"image"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// What is planted is what its name says, as far as Go can tell; that office programs and
// libraries read it was seen with openpyxl, python-docx, python-pptx and pdf.js.
func TestFilesAreWhatTheyAreCalled(t *testing.T) {
	for _, f := range Files() {
		var err error
		switch path.Ext(f.Path) {
		case ".xlsx", ".docx", ".pptx", ".zip":
			err = unpack(f.Content)
		case ".xml", ".svg":
			err = wellFormed(bytes.NewReader(f.Content))
		case ".png", ".jpg", ".gif":
			_, _, err = image.Decode(bytes.NewReader(f.Content))
		case ".json", ".ipynb":
			if !json.Valid(f.Content) {
				err = errors.New("no JSON")
			}
		}
		if err != nil {
			t.Errorf("%s: %v", f.Path, err)
		}
	}
}

func unpack(archive []byte) error {
	all, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return err
	}
	for _, member := range all.File {
		content, err := member.Open()
		if err != nil {
			return err
		}
		if strings.HasSuffix(member.Name, ".xml") || strings.HasSuffix(member.Name, ".rels") {
			if err := wellFormed(content); err != nil {
				return err
			}
		}
	}
	return nil
}

func wellFormed(r io.Reader) error {
	decoder := xml.NewDecoder(r)
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// The database is one to SQLite.
func TestDatabase(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatalf("%v: hack/install.sh brings it", err)
	}
	name := filepath.Join(t.TempDir(), "notes.db")
	const program = `import sqlite3, sys
open(sys.argv[1], "wb").write(sys.stdin.buffer.read())
db = sqlite3.connect(sys.argv[1])
db.execute("INSERT INTO notes (title) VALUES ('tea')")
print(db.execute("PRAGMA integrity_check").fetchall(), [row[0] for row in db.execute("SELECT title FROM notes")])`
	cmd := exec.Command(python, "-c", program, name)
	cmd.Stdin = bytes.NewReader(Document("db"))
	if said, err := cmd.CombinedOutput(); err != nil || string(said) != "[('ok',)] ['milk', 'bread', 'tea']\n" {
		t.Errorf("%v: %s", err, said)
	}
}

// All of them go to the server's side in one message, which is bounded.
func TestPapersAreWritten(t *testing.T) {
	for _, f := range papers {
		if len(f.Content) < 40 {
			t.Errorf("%s: %q", f.Path, f.Content)
		}
	}
}

func TestFilesAreSmall(t *testing.T) {
	if sent, err := json.Marshal(Files()); err != nil || len(sent) > 64<<10 {
		t.Errorf("%d bytes, %v", len(sent), err)
	}
}
