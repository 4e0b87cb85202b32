package inputs

import (
	"bytes"
	"strings"
	"testing"
)

func TestDrawNames(t *testing.T) {
	m := Mark{Seed: 7, Call: 12}
	own := strings.Join([]string{
		m.ID(), m.Name(), m.File(), m.Host(), m.UUID(), m.Injected(), strings.ToUpper(m.ID()), FilesDir, RepositoryDir, ProjectDir, LinkName, AccountFiles[0], calledPath, leadPath,
		LocalDir,
	}, " ")
	for range 200 {
		names := DrawNames(false)
		seen := names.Out(own)
		if strings.Contains(strings.ToLower(seen), Word) || strings.Contains(seen, Host) || strings.Contains(seen, uuidMiddle) {
			t.Fatalf("the server sees %q", seen)
		}
		if got := names.In(seen); got != own {
			t.Fatalf("In(Out) of\n%q is\n%q, by %q", own, got, seen)
		}
		for _, f := range Files() {
			if in := names.InBytes(names.OutBytes(f.Content)); !bytes.Equal(in, f.Content) {
				t.Fatalf("%s is another file after In(Out)", f.Path)
			}
		}
	}
}

func TestDrawNamesKeepsTheHostOfAnOpenNetwork(t *testing.T) {
	if got := DrawNames(true).Out((Mark{Call: 1}).Host()); got != "c1."+Host {
		t.Errorf("the host is %q", got)
	}
}

// TestArchivesHaveDrawnNames: the checksum of a header is no longer true if a name in it is replaced.
func TestArchivesHaveDrawnNames(t *testing.T) {
	names := DrawNames(false)
	for i, file := range ArchiveFiles(names) {
		if strings.Contains(file.Path, Word) {
			t.Errorf("the server sees %s", file.Path)
		}
		for _, entry := range entries(t, Archives[i].Ending, file.Content) {
			if strings.Contains(entry.Name+entry.Linkname, Word) {
				t.Errorf("%s: the server sees %s, %s", file.Path, entry.Name, entry.Linkname)
			}
		}
		if got := names.OutBytes(file.Content); !bytes.Equal(got, file.Content) {
			t.Errorf("%s is changed later", file.Path)
		}
	}
}
