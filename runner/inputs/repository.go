package inputs

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // git names its objects so
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"
)

// otherBranch is the branch of the repository that is not checked out.
const otherBranch = "notes"

// repository returns the files of a git repository: servers for git are many, and refuse
// whatever is none. "main" has two commits; the tag "v1.0.0" and the branch "notes" are at
// the first. One new file is staged, and a tracked one has changed since. Its remote,
// "origin", is the repository itself.
func repository() []File {
	r := history{dir: RepositoryDir}
	readme, list, other := r.blob("# Notes\n\nmilk and bread\n"), r.blob("milk\nbread\n"), r.blob("tea\n")
	first := r.commit("Add notes", "", tracked{"README.md", readme})
	second := r.commit("Add a list", first, tracked{"README.md", readme}, tracked{"list.txt", list})
	third := r.commit("Add tea", first, tracked{"README.md", readme}, tracked{"tea.txt", other})
	const signed = "\tname = Alex\n\temail = alex@" + Host + "\n"
	head := func(name, commit string) File {
		return File{RepositoryDir + "/.git/refs/" + name, []byte(commit + "\n")}
	}
	return append(r.files,
		File{RepositoryDir + "/README.md", []byte("# Notes\n\nmilk and bread\n")},
		File{RepositoryDir + "/list.txt", []byte("milk\nbread\nhoney\n")},
		File{RepositoryDir + "/new.txt", []byte("tea\n")},
		File{RepositoryDir + "/.git/HEAD", []byte("ref: refs/heads/main\n")},
		File{RepositoryDir + "/.git/config", []byte("[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n[user]\n" + signed +
			"[remote \"origin\"]\n\turl = .\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n" +
			"[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n")},
		head("heads/main", second), head("heads/"+otherBranch, third), head("tags/v1.0.0", first),
		File{RepositoryDir + "/.git/index", index(tracked{"README.md", readme}, tracked{"list.txt", list}, tracked{"new.txt", other})},
	)
}

// tracked is a file that git knows, by its path, with the object that has its content.
type tracked struct {
	name   string
	object [sha1.Size]byte
}

// history collects the objects of a repository in a directory.
type history struct {
	dir   string
	files []File
}

func (r *history) blob(content string) [sha1.Size]byte { return r.object("blob", content) }

// commit returns the id of a commit of some files, in the order of their names, that
// follows another, or none with "".
func (r *history) commit(message, parent string, files ...tracked) string {
	if parent != "" {
		parent = "parent " + parent + "\n"
	}
	const by = "Alex <alex@" + Host + "> 1767225600 +0000" // 2026-01-01
	id := r.object("commit", fmt.Sprintf("tree %x\n%sauthor %s\ncommitter %[3]s\n\n%s\n", r.tree(files), parent, by, message))
	return hex.EncodeToString(id[:])
}

// tree returns the name of the object of a directory with some files.
func (r *history) tree(files []tracked) [sha1.Size]byte {
	var all strings.Builder
	for len(files) > 0 {
		first := files[0]
		dir, _, below := strings.Cut(first.name, "/")
		if !below {
			all.WriteString("100644 " + first.name + "\x00" + string(first.object[:]))
			files = files[1:]
			continue
		}
		var in []tracked
		for ; len(files) > 0 && strings.HasPrefix(files[0].name, dir+"/"); files = files[1:] {
			in = append(in, tracked{files[0].name[len(dir)+1:], files[0].object})
		}
		object := r.tree(in)
		all.WriteString("40000 " + dir + "\x00" + string(object[:]))
	}
	return r.object("tree", all.String())
}

// object adds an object of git as a loose file (gitformat-loose(5)), and returns its name.
func (r *history) object(kind, content string) [sha1.Size]byte {
	whole := fmt.Sprintf("%s %d\x00%s", kind, len(content), content)
	name := sha1.Sum([]byte(whole)) //nolint:gosec // as above
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	_, _ = w.Write([]byte(whole)) // to memory: no error
	_ = w.Close()
	id := hex.EncodeToString(name[:])
	file := File{path.Join(r.dir, ".git/objects", id[:2], id[2:]), packed.Bytes()}
	if !slices.ContainsFunc(r.files, func(f File) bool { return f.Path == file.Path }) {
		r.files = append(r.files, file)
	}
	return name
}

// index is an index of files in the order of their names (gitformat-index(5), version
// 2) that git has not looked at since.
func index(files ...tracked) []byte {
	const fixed = 62
	all := binary.BigEndian.AppendUint32([]byte("DIRC\x00\x00\x00\x02"), uint32(len(files)))
	for _, f := range files {
		entry := make([]byte, fixed)
		binary.BigEndian.PutUint32(entry[24:], 0o100644)
		copy(entry[40:], f.object[:])
		binary.BigEndian.PutUint16(entry[60:], uint16(len(f.name)))
		entry = append(entry, f.name...)
		all = append(all, append(entry, make([]byte, 8-len(entry)%8)...)...)
	}
	sum := sha1.Sum(all) //nolint:gosec // as above
	return append(all, sum[:]...)
}
