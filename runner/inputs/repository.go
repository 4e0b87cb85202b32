package inputs

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // git names its objects so
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// repository are the files of a git repository with one commit, on the branch
// "main": servers for git are many, and refuse whatever is none.
func repository() []File {
	const readme = "# Notes\n\nmilk and bread\n"
	blob, file := object("blob", readme)
	tree, directory := object("tree", "100644 README.md\x00"+string(blob[:]))
	const by = "Probe <probe@" + Host + "> 1767225600 +0000" // 2026-01-01
	commit, first := object("commit", fmt.Sprintf("tree %x\nauthor %s\ncommitter %[2]s\n\nAdd notes\n", tree, by))
	return []File{
		{RepositoryDir + "/README.md", []byte(readme)},
		{RepositoryDir + "/.git/HEAD", []byte("ref: refs/heads/main\n")},
		{RepositoryDir + "/.git/config", []byte("[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n" +
			"[user]\n\tname = Probe\n\temail = probe@" + Host + "\n")},
		{RepositoryDir + "/.git/refs/heads/main", []byte(hex.EncodeToString(commit[:]) + "\n")},
		{RepositoryDir + "/.git/index", index(blob, "README.md", len(readme))},
		file, directory, first,
	}
}

// index is an index of one file (gitformat-index(5), version 2) that git has not
// looked at since.
func index(blob [sha1.Size]byte, name string, size int) []byte {
	const header, fixed = 12, 62
	all := binary.BigEndian.AppendUint32([]byte("DIRC\x00\x00\x00\x02"), 1)
	all = append(all, make([]byte, fixed)...)
	entry := all[header:]
	binary.BigEndian.PutUint32(entry[24:], 0o100644)
	binary.BigEndian.PutUint32(entry[36:], uint32(size))
	copy(entry[40:], blob[:])
	binary.BigEndian.PutUint16(entry[60:], uint16(len(name)))
	all = append(all, name...)
	all = append(all, make([]byte, 8-(len(all)-header)%8)...)
	sum := sha1.Sum(all) //nolint:gosec // as above
	return append(all, sum[:]...)
}

// object is an object of git as a loose file (gitformat-loose(5)), with its name.
func object(kind, content string) ([sha1.Size]byte, File) {
	whole := fmt.Sprintf("%s %d\x00%s", kind, len(content), content)
	name := sha1.Sum([]byte(whole)) //nolint:gosec // as above
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	_, _ = w.Write([]byte(whole)) // to memory: no error
	_ = w.Close()
	id := hex.EncodeToString(name[:])
	return name, File{RepositoryDir + "/.git/objects/" + id[:2] + "/" + id[2:], packed.Bytes()}
}
