package inputs

import (
	"slices"
	"strings"
)

// File is an ordinary file for tools that read files.
type File struct {
	// Path is relative to Options.Dir, with slashes.
	Path    string
	Content []byte
}

// FilesDir is the directory of the files that arguments speak of, relative to
// Options.Dir, and RepositoryDir that of the git repository.
const (
	FilesDir      = "mcpaudit-files"
	RepositoryDir = "mcpaudit-repository"
)

// Files are there before the server starts; whoever makes Options.Dir puts them
// there. Arguments that ask for a path to read speak of them.
var Files = slices.Concat(ordinary, repository())

var ordinary = []File{
	{FilesDir + "/note.txt", []byte("Shopping list\nmilk\nbread\n")},
	{FilesDir + "/data.json", []byte(`{"name": "notes", "items": [{"id": 1, "title": "milk"}, {"id": 2, "title": "bread"}]}` + "\n")},
	{FilesDir + "/todo.md", []byte("# To do\n\n- [ ] buy milk\n- [x] buy bread\n")},
	{FilesDir + "/table.csv", []byte("id,name,price\n1,milk,1.20\n2,bread,2.50\n")},
}

// file is the path of an ordinary file that is there.
func (o Options) file(i int) string { return o.dir() + "/" + ordinary[i].Path }

// files is the directory that they are in, repository that of the git repository.
func (o Options) files() string      { return strings.TrimSuffix(o.dir(), "/") + "/" + FilesDir }
func (o Options) repository() string { return strings.TrimSuffix(o.dir(), "/") + "/" + RepositoryDir }
