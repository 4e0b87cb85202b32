package shim

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/codepath"
	"github.com/mcpaudit/mcpaudit/runner/lasting"
)

// Bounds of what an image may have in its user's home: entries that are looked at, and bytes of a file that is joined.
const (
	maxHomeEntries = 1 << 12
	maxJoined      = 64 << 10
)

var (
	// libraries are directories of a home from which interpreters load code (codepath.Home), besides those that
	// codepath.Tree knows.
	libraries = []string{".local/lib", ".local/share/gem", ".gem", ".bun", ".julia", "R"}
	// visible are the other entries of a home that are not hidden, and of which programs load something.
	visible = []string{"R", "bin"}
	// joined are planted files that hold several sections, of which the last one that sets an option counts (npmrc(5),
	// git-config(1)). They may name programs.
	joined = []string{".npmrc", ".gitconfig"}
)

// imageHome returns the home of this process's user: the value of HOME, which the image or the container runtime sets.
func imageHome() string {
	if home := os.Getenv("HOME"); home != "" {
		return home
	}
	if u, err := user.LookupId(strconv.Itoa(os.Getuid())); err == nil {
		return u.HomeDir
	}
	return "/"
}

// environment returns the server's environment, with its home, which it makes ready.
func (s *Setup) environment() ([]string, error) {
	env := os.Environ()
	if s.Home != "" {
		if err := mergeHome(cmp.Or(s.ImageHome, imageHome()), s.Home); err != nil {
			return nil, err
		}
		env = replace(env, []string{"HOME=" + s.Home})
	}
	return merge(replace(env, s.Set), s.Env), nil
}

// homeMerger brings what the image has in its user's home, and programs load or obey by themselves, into the home of the
// audit: an interpreter that finds its user site empty does not run what it runs in production.
type homeMerger struct {
	image, home string
	into        *os.Root
	left        int
}

// mergeHome brings it from the directory image into home, by links. Planted files stay.
func mergeHome(image, home string) error {
	image = filepath.Clean(image)
	ours, err := os.Stat(home)
	if err != nil {
		return err
	}
	if there, err := os.Stat(image); codepath.Below(image, home) || err == nil && os.SameFile(there, ours) {
		return fmt.Errorf("the image's user has its home in %s, which the audit replaces: give it another home", home)
	}
	m := homeMerger{image: image, home: home, left: maxHomeEntries}
	if m.into, err = os.OpenRoot(home); err != nil {
		return err
	}
	defer func() { _ = m.into.Close() }() // opened for its name only
	return m.merge(".")
}

// merge brings the entries of a directory. What the user cannot read there, no program of the user loads.
func (m *homeMerger) merge(dir string) error {
	entries, _ := os.ReadDir(filepath.Join(m.image, dir))
	for _, entry := range entries {
		if m.left--; m.left < 0 {
			return fmt.Errorf("the image has more than %d entries in what programs load from its user's home %s: move them elsewhere", maxHomeEntries, m.image)
		}
		name := filepath.Join(dir, entry.Name())
		bring := m.provide
		if info, err := os.Stat(filepath.Join(m.image, name)); err == nil && info.IsDir() && !isLibrary(name) {
			bring = m.merge
		}
		if !m.loaded(name) {
			continue
		}
		if err := bring(name); err != nil {
			return err
		}
	}
	return nil
}

// loaded reports whether programs load or obey a name in a home, or something below it.
func (m *homeMerger) loaded(name string) bool {
	top, _, _ := strings.Cut(name, "/")
	if top[0] != '.' && (m.image == "/" || !slices.Contains(visible, top)) {
		return false // of an image whose home is its code, too
	}
	leads := func(library string) bool { return codepath.Below(library, name) }
	return isLibrary(name) || slices.ContainsFunc(libraries, leads) || lasting.Obeyed(filepath.Join(m.home, name))
}

func isLibrary(name string) bool {
	return slices.Contains(libraries, name) || codepath.Tree("/"+name) == "/"+name
}

// provide links one name, or adds its content to a planted file.
func (m *homeMerger) provide(name string) error {
	if err := m.into.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	from := filepath.Join(m.image, name)
	err := m.into.Symlink(from, name)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if planted, err := m.into.Lstat(name); err != nil || !planted.Mode().IsRegular() || !slices.Contains(joined, name) {
		return err
	}
	if info, err := os.Stat(from); err != nil || !info.Mode().IsRegular() || info.Size() > maxJoined {
		return fmt.Errorf("%s has to be a file of at most %d bytes", from, maxJoined)
	}
	content, err := os.ReadFile(from)
	if err != nil {
		return nil //nolint:nilerr // as in merge
	}
	planted, err := m.into.ReadFile(name)
	if err != nil || bytes.HasSuffix(planted, content) { // the second is so from an earlier launch on
		return err
	}
	if err := m.into.Remove(name); err != nil { // it is the runner's
		return err
	}
	return m.into.WriteFile(name, slices.Concat(planted, []byte("\n"), content), 0o644)
}
