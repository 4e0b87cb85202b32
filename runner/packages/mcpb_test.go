package packages

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// bundle makes a zip file of names with the contents and the modes that go with them.
func bundle(t testing.TB, headers ...*zip.FileHeader) string {
	t.Helper()
	var text bytes.Buffer
	archive := zip.NewWriter(&text)
	for _, h := range headers {
		w, err := archive.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(h.Comment)); err != nil && h.Comment != "" {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "x.mcpb")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestUnpack: nothing of a bundle lands outside of its directory, and programs stay programs.
func TestUnpack(t *testing.T) {
	program := &zip.FileHeader{Name: "bin/server", Comment: "x"}
	program.SetMode(0o755)
	dir := t.TempDir()
	if digest, err := unpack(bundle(t, program), dir); err != nil || len(digest) != 64 {
		t.Fatal(digest, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "bin", "server")); err != nil || info.Mode()&0o111 == 0 {
		t.Errorf("%v, %v", info, err)
	}
	link := &zip.FileHeader{Name: "link", Comment: "/etc"}
	link.SetMode(fs.ModeSymlink | 0o777)
	for want, headers := range map[string][]*zip.FileHeader{
		"leads out of it":    {{Name: "../x"}},
		`"/x" leads out`:     {{Name: "/x"}},
		"is no regular file": {link, {Name: "link/x"}},
		"file exists":        {{Name: "a"}, {Name: "a"}},
	} {
		if _, err := unpack(bundle(t, headers...), t.TempDir()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestY3DirectoriesAreBounded: names that are all of directories do not fill the disk with them.
func TestY3DirectoriesAreBounded(t *testing.T) {
	var headers []*zip.FileHeader
	for i := range 60 {
		headers = append(headers, &zip.FileHeader{Name: strings.Repeat(strconv.Itoa(i)+"/", 1990)})
	}
	dir := t.TempDir()
	if _, err := unpack(bundle(t, headers...), dir); err == nil || !strings.Contains(err.Error(), "more files and directories") {
		t.Error(err)
	}
	if made, err := os.ReadDir(dir); err != nil || len(made) > 0 {
		t.Errorf("made %d, %v", len(made), err)
	}
}

// TestAA4ListsOfBundlesAreBounded: a list of files that is all of a bundle is not read into memory.
func TestAA4ListsOfBundlesAreBounded(t *testing.T) {
	const files = 1_000_000
	entry := make([]byte, 46, 47) // of the central directory (APPNOTE.TXT, 4.3.12), for an empty file "a"
	binary.LittleEndian.PutUint32(entry, 0x02014b50)
	entry[28] = 1
	text := bytes.Repeat(append(entry, 'a'), files)
	end := make([]byte, 22) // 4.3.16
	binary.LittleEndian.PutUint32(end, 0x06054b50)
	for _, at := range []int{8, 10} {
		binary.LittleEndian.PutUint16(end[at:], uint16(files%(1<<16)))
	}
	binary.LittleEndian.PutUint32(end[12:], uint32(len(text)))
	file := filepath.Join(t.TempDir(), "x.mcpb")
	if err := os.WriteFile(file, append(text, end...), 0o600); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := unpack(file, t.TempDir())
	runtime.ReadMemStats(&after)
	if !errors.Is(err, errLongList) {
		t.Error(err)
	}
	t.Logf("%d MiB", (after.TotalAlloc-before.TotalAlloc)>>20)
}

func TestBundleLaunch(t *testing.T) {
	var m bundleManifest
	if err := json.Unmarshal([]byte(`{"name":"a","version":"1","server":{"mcp_config":{"command":"x","args":["${__dirname}/s.js"],"env":{"A":"1","B":"2"},
		"platform_overrides":{"linux":{"command":"node","env":{"B":"${user_config.n}","KEY":"${user_config.k}"}},"win32":{"command":"no"}}}},
		"user_config":{"n":{"type":"number","default":7},"k":{"type":"string","sensitive":true},"loop":{"default":"${user_config.loop}"}}}`), &m); err != nil {
		t.Fatal(err)
	}
	i, err := m.launch("/d")
	if err != nil || !slices.Equal(i.programs["a"], []string{"node", "/d/s.js"}) || !slices.Equal(i.Env, []string{"A=1", "B=7"}) || !slices.Equal(i.Secrets, []string{"KEY"}) {
		t.Errorf("%+v, %v", i, err)
	}
	for name := range m.UserConfig { // U3: a default that names itself, or another twice, and that one another
		of := m.UserConfig[name]
		of.Default = strings.Repeat("${loop}${n}${k}", 8)
		m.UserConfig[name] = of
	}
	if got, _ := m.fill("${loop} ${user_config.loop}", "/d"); got != "${loop} "+strings.Repeat("${loop}${n}${k}", 8) {
		t.Errorf("a default is filled in again: %.200q", got)
	}
	if _, err := (bundleManifest{Name: "a"}).launch("/d"); err == nil {
		t.Error("started without a command")
	}
}

func FuzzBundleManifest(f *testing.F) {
	f.Add([]byte(`{"name":"a","server":{"mcp_config":{"command":"${user_config.a}","env":{"A":"${HOME}${"}}},"user_config":{"a":{"default":"${user_config.a}"}}}`))
	f.Add([]byte(`{"name":"a","server":{"mcp_config":{"command":"${user_config.a}"}},"user_config":{"a":{"default":"${a}"}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var m bundleManifest
		if json.Unmarshal(text, &m) != nil {
			return
		}
		if i, err := m.launch("/d"); err == nil && len(i.programs[m.Name]) == 0 {
			t.Errorf("no command: %+v", i)
		}
	})
}

// TestZ2PlaceholdersFillNoMemory: a manifest of 1 MiB does not stand for a command line of gigabytes, in one argument or in many.
func TestZ2PlaceholdersFillNoMemory(t *testing.T) {
	value := strings.Repeat("v", 100<<10)
	for what, args := range map[string][]string{"one": {strings.Repeat("${user_config.a}", 1000)}, "many": slices.Repeat([]string{"${user_config.a}"}, 1000)} {
		text, err := json.Marshal(map[string]any{
			"name": "x", "user_config": map[string]any{"a": map[string]any{"type": "string", "default": value}},
			"server": map[string]any{"mcp_config": map[string]any{"command": "node", "args": args}},
		})
		if err != nil {
			t.Fatal(err)
		}
		var m bundleManifest
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		i, err := m.launch("/d")
		if long := strings.Join(i.programs["x"], ""); len(long) > maxBundleCommand || (err == nil) != (what == "one") {
			t.Errorf("%s: %d bytes, %v", what, len(long), err)
		}
	}
	filled, _ := Fill(braces, strings.Repeat("{a}", 1000), func(string) (string, bool, bool) { return value, false, true })
	if len(filled) > maxFilled+3000 {
		t.Errorf("filled in are %d bytes", len(filled))
	}
}
