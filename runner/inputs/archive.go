package inputs

import (
	"path"
	"strconv"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/pseudonym"
)

// Up leads to the root from any directory that is not too deep.
var Up = strings.Repeat("../", 16)

// doubled is what is left to be Up by a guard that deletes "../" once.
var doubled = strings.ReplaceAll(Up, "../", "....//")

// Archive has a file whose name leads out of the directory where it is unpacked.
type Archive struct {
	// Form describes how.
	Form string
	// Ending is its file extension.
	Ending string

	way    string
	linked bool
}

// Archives lists the archives in the directories of arguments where guards are tried.
var Archives = []Archive{
	{`as a file with ".." in an archive (ZIP)`, ".zip", Up, false},
	{`as a file with ".." in an archive (tar)`, ".tar", Up, false},
	{`as a file with ".." in a compressed archive (tar)`, ".tar.gz", Up, false},
	{"as a file with an absolute path in an archive (ZIP)", ".zip", "/", false},
	{"as a file with an absolute path in an archive (tar)", ".tar", "/", false},
	{`as a file with ".." behind a directory in an archive (ZIP)`, ".zip", "notes/" + Up, false},
	{"as a file with an absolute path in a compressed archive (tar)", ".tar.gz", "/", false},
	{"as a file behind a link in an archive (tar)", ".tar", "/", true},
	{"as a file behind a link in a compressed archive (tar)", ".tar.gz", "/", true},
	{"as a file behind a relative link in an archive (tar)", ".tar", Up, true},
	{"as a file behind a relative link in a compressed archive (tar)", ".tar.gz", Up, true},
	{"as a file behind a link in an archive (ZIP)", ".zip", "/", true},
	{`as a file with "....//" in an archive (ZIP)`, ".zip", doubled, false},
	{`as a file with "....//" in a compressed archive (tar)`, ".tar.gz", doubled, false},
	{`as a file with "..\" in an archive (ZIP)`, ".zip", strings.ReplaceAll(Up, "/", `\`), false},
}

// Pack makes the archive that leads to the file of a numbered attempt, by the names that the server sees.
func (a Archive) Pack(number int, names *pseudonym.Names) []byte {
	return a.pack(a.way + names.Out(OutsideFile(number, ".txt"))[1:])
}

// Beside makes an archive with a file in a directory beside the one where it is unpacked.
func (a Archive) Beside(dir string, number int) []byte {
	tail := strings.TrimPrefix(OutsideFile(number, ".txt"), OutsideDir)
	return a.pack("../" + path.Base(dir) + tail)
}

func (a Archive) pack(name string) []byte {
	parts := []part{{name, string(OutsideNote.Content), false}}
	if a.linked {
		parts = linked(name, string(OutsideNote.Content))
	}
	switch a.Ending {
	case ".zip":
		return zipped(parts...)
	case ".tar":
		return tarred(parts...)
	}
	return gzipped(tarred(parts...))
}

// Packed is the name of the file in archives of honest calls.
const Packed = "note.txt"

// ArchiveName returns the file name of an archive, by its index in Archives.
func ArchiveName(i int) string {
	return LinkName + "-archive-" + strconv.Itoa(i+1) + Archives[i].Ending
}

// ArchiveAt returns the archive that the path of a URL names; false for none.
func ArchiveAt(name string, names *pseudonym.Names) ([]byte, bool) {
	for i, a := range Archives {
		if path.Base(name) == names.Out(ArchiveName(i)) {
			return a.Pack(ArchiveNumber(i), names), true
		}
	}
	return nil, false
}

// calledPath begins the path of a URL whose download is called otherwise.
const calledPath = "/" + Word + "-called/"

// CalledPath returns the path of a URL whose answer has a name that leads to the file of a numbered attempt.
func CalledPath(number int) string { return calledPath + strconv.Itoa(number) }

// EncodedPath returns the path of a URL whose last part is such a name, encoded.
func EncodedPath(number int) string {
	return "/" + strings.ReplaceAll(Up+OutsideFile(number, ".txt")[1:], "/", "%2f")
}

// CalledAt returns the name of the answer to a request for a CalledPath; false for any other path.
func CalledAt(path string) (name string, ok bool) {
	number, err := strconv.Atoi(strings.TrimPrefix(path, calledPath))
	if err != nil || !strings.HasPrefix(path, calledPath) {
		return "", false
	}
	return Up + OutsideFile(number, ".txt")[1:], true
}

// ArchiveNumber returns the number of the attempt that such a file leads to, above those of others.
func ArchiveNumber(i int) int { return MaxOutside + 1 + i }

// ArchiveFiles returns the files of Archives, by the names that the server sees: a name in an archive cannot be replaced
// later, because it may be compressed, or part of a checksum.
func ArchiveFiles(names *pseudonym.Names) (all []File) {
	for i, a := range Archives {
		all = append(all, File{names.Out(ArchiveName(i)), a.Pack(ArchiveNumber(i), names)})
	}
	return all
}

// linked returns a link to the directory of an absolute path, and a file in it. No file of the link's name exists where
// they are unpacked.
func linked(name, content string) []part {
	dir, base := path.Split(name)
	link := "shelf-" + path.Base(dir)
	return []part{{link, path.Dir(name), true}, {link + "/" + base, content, false}}
}
