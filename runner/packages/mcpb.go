package packages

import (
	"archive/zip"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/decoy"
)

// Bounds on an unpacked bundle: the number of files and directories, the total bytes, and the bytes of its manifest and of its command.
const (
	maxBundleFiles    = 100_000
	maxBundleBytes    = 1 << 30
	maxBundleList     = 32 << 20 // of the zip file's central directory, all of which is kept in memory
	maxBundleManifest = 1 << 20
	// maxBundleCommand bounds the arguments and the environment: Linux takes no more (execve(2)).
	maxBundleCommand = 6 << 20
)

// bundleManifest holds the used part of the manifest.json of an MCP Bundle (MANIFEST.md of modelcontextprotocol/mcpb, 0.3).
type bundleManifest struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Server  struct {
		EntryPoint string       `json:"entry_point"`
		Config     bundleConfig `json:"mcp_config"`
	} `json:"server"`
	UserConfig map[string]struct {
		Type      string `json:"type"`
		Default   any    `json:"default"`
		Sensitive bool   `json:"sensitive"`
	} `json:"user_config"`
}

type bundleConfig struct {
	Command   string                  `json:"command"`
	Args      []string                `json:"args"`
	Env       map[string]string       `json:"env"`
	Platforms map[string]bundleConfig `json:"platform_overrides"`
}

// installBundle unpacks the bundle in the file, or at the URL, that names the package.
func installBundle(ctx context.Context, p Package, dir string) (i Installed, all []locked, err error) {
	file := p.Name
	if strings.HasPrefix(file, "https://") || strings.HasPrefix(file, "http://") {
		if file, err = download(ctx, p.Name, maxBundleBytes); err != nil {
			return i, nil, err
		}
		defer func() { _ = os.Remove(file) }() // it was unpacked
	}
	digest, err := unpack(file, dir)
	if err != nil {
		return i, nil, err
	}
	if p.SHA256 != "" && digest != p.SHA256 {
		return i, nil, fmt.Errorf("it has the SHA-256 %s, and not %s as its server.json says", digest, p.SHA256)
	}
	text, err := os.Open(filepath.Join(dir, "manifest.json"))
	if err != nil {
		return i, nil, errors.New("the bundle has no manifest.json")
	}
	defer func() { _ = text.Close() }() // only read
	var m bundleManifest
	if err := json.NewDecoder(io.LimitReader(text, maxBundleManifest)).Decode(&m); err != nil {
		return i, nil, fmt.Errorf("read its manifest.json: %w", err)
	}
	if i, err = m.launch(dir); err != nil {
		return i, nil, err
	}
	return i, []locked{{name: m.Name, version: m.Version, digest: "sha256:" + digest}}, nil
}

// unpack unpacks a zip file of regular files into a directory, and returns its SHA-256 in hexadecimal.
func unpack(file, dir string) (digest string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // only read
	sum := sha256.New()
	size, err := io.Copy(sum, f)
	if err != nil {
		return "", err
	}
	list := &bounded{from: f, left: maxBundleList}
	archive, err := zip.NewReader(list, size)
	if err != nil {
		return "", fmt.Errorf("%s is no MCP Bundle: %w", file, err)
	}
	list.left = math.MaxInt64 // the files have a bound of their own
	if crowded(archive) {
		return "", fmt.Errorf("%s has more files and directories than the %d of a bundle", file, maxBundleFiles)
	}
	left := int64(maxBundleBytes)
	for _, entry := range archive.File {
		n, err := extract(entry, dir, left)
		if err != nil {
			return "", fmt.Errorf("unpack %s: %w", file, err)
		}
		left -= n
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// bounded reads at most so many bytes.
type bounded struct {
	from io.ReaderAt
	left int64
}

var errLongList = errors.New("its list of files is too long")

func (b *bounded) ReadAt(p []byte, at int64) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, errLongList
	}
	return b.from.ReadAt(p, at)
}

// crowded reports whether a bundle has too many files and directories, including directories that only occur in names
// of files.
func crowded(archive *zip.Reader) bool {
	seen := map[string]bool{}
	for _, entry := range archive.File {
		for name := filepath.Clean(entry.Name); name != "." && name != "/" && !seen[name]; name = filepath.Dir(name) {
			if seen[name] = true; len(seen) > maxBundleFiles {
				return true
			}
		}
	}
	return len(archive.File) > maxBundleFiles
}

// extract writes one file of a bundle, of at most most bytes, and returns how many it has.
func extract(entry *zip.File, dir string, most int64) (int64, error) {
	name := filepath.FromSlash(entry.Name)
	if !filepath.IsLocal(name) {
		return 0, fmt.Errorf("the name %q leads out of it", entry.Name)
	}
	at := filepath.Join(dir, name)
	if entry.FileInfo().IsDir() {
		return 0, os.MkdirAll(at, 0o755)
	}
	if !entry.Mode().IsRegular() {
		return 0, fmt.Errorf("%q is no regular file", entry.Name)
	}
	from, err := entry.Open()
	if err != nil {
		return 0, err
	}
	defer func() { _ = from.Close() }() // only read
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return 0, err
	}
	to, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644|entry.Mode()&0o111)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(to, io.LimitReader(from, most+1))
	if err = errors.Join(err, to.Close()); err == nil && n > most {
		err = fmt.Errorf("it has more than %d bytes", int64(maxBundleBytes))
	}
	return n, err
}

var errTooLong = errors.New("its command and environment are longer than any that can be started")

// launch returns how a client on Linux starts the server of a bundle in a directory, with defaults or plausible values for
// the user's settings, and decoys for sensitive ones.
func (m bundleManifest) launch(dir string) (i Installed, err error) {
	c := m.Server.Config
	if other, ok := c.Platforms["linux"]; ok {
		c.Command = cmp.Or(other.Command, c.Command)
		if other.Args != nil {
			c.Args = other.Args
		}
		c.Env = maps.Clone(c.Env)
		if c.Env == nil {
			c.Env = map[string]string{}
		}
		maps.Copy(c.Env, other.Env)
	}
	if m.Name == "" || c.Command == "" {
		return i, errors.New("its manifest.json has no name, or no server.mcp_config.command")
	}
	var command []string
	room := maxBundleCommand
	for _, word := range append([]string{c.Command}, c.Args...) {
		text, _ := m.fill(word, dir)
		command = append(command, text)
		if room -= len(text); room < 0 {
			return i, errTooLong
		}
	}
	if _, err := exec.LookPath("python"); err != nil && command[0] == "python" {
		command[0] = "python3" // as Debian has it
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		value, sensitive := m.fill(c.Env[name], dir)
		if room -= len(value); room < 0 {
			return i, errTooLong
		}
		if sensitive || decoy.Secret(name) {
			i.Secrets = append(i.Secrets, name)
		} else {
			i.Env = append(i.Env, name+"="+value)
		}
	}
	i.Report.Identifier, i.programs = m.Name, map[string][]string{m.Name: command}
	return i, nil
}

// fill fills in the variables of a text (MANIFEST.md, Variable Substitution). sensitive: one stands for a secret.
func (m bundleManifest) fill(text, dir string) (filled string, sensitive bool) {
	return Fill(Dollar, text, func(name string) (value string, secret, known bool) {
		switch name {
		case "__dirname":
			return dir, false, true
		case "/", "pathSeparator":
			return "/", false, true
		case "HOME", "DESKTOP", "DOCUMENTS", "DOWNLOADS":
			folder := map[string]string{"DESKTOP": "Desktop", "DOCUMENTS": "Documents", "DOWNLOADS": "Downloads"}[name]
			return filepath.Join(os.Getenv("HOME"), folder), false, true
		}
		key, named := strings.CutPrefix(name, "user_config.") // without it, a default could name itself
		of, known := m.UserConfig[key]
		switch {
		case !named || !known:
			return "", false, false
		case of.Sensitive:
			return decoy.Asked(variableOf(key), "").Value, true, true
		}
		return m.configured(key, dir), false, true
	})
}

// configured returns a value for a user's setting that is not a secret: the default, or one that fits the type.
func (m bundleManifest) configured(key, dir string) string {
	of := m.UserConfig[key]
	switch value := of.Default.(type) {
	case string:
		if !strings.Contains(value, "${user_config.") { // it would never end
			value, _ = m.fill(value, dir)
		}
		return value
	case float64, bool:
		return fmt.Sprint(value)
	}
	return plausible(of.Type, key)
}
