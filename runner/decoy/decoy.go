// Package decoy makes secrets that belong to nobody: the files and environment
// variables that a thief looks for, well-formed, different in every run, and
// valid nowhere. A server that reads one went looking for secrets; one whose
// output has a decoy's token stole it.
//
// An honest server must not notice them. Nothing here changes what a runtime
// does at start-up (no proxy, no NODE_OPTIONS, no .gitconfig), and the few files
// that ordinary tools open unasked are marked as routine.
package decoy

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Set has the decoys of one run.
type Set struct {
	// Home is the home directory as the server sees it: absolute and clean.
	Home  string
	Files []File
	Vars  []Var
	// Around are files without a secret. They are planted only in directories of ours.
	Around []File
}

// minSecret is the length of the shortest random word that is a secret. No program
// writes 16 random characters by chance.
const minSecret = 16

// File is one decoy file.
type File struct {
	// Path is the server's name for it: below Home or ServiceAccount.
	Path string
	// Routine: ordinary tools open the file unasked (npm its .npmrc, every HTTP
	// client the .netrc), so reading it means nothing by itself.
	Routine bool
	// Hosts are the domain names of the services that the secret is for. It may
	// go there, and to all names below them.
	Hosts []string
	// Secrets are the strings of the content that occur nowhere else: at least
	// one, random, of at least 16 characters.
	Secrets []string
	// Content is the whole file.
	Content []byte
}

// Var is one decoy in the environment. Hosts and Secrets are as in File; a variable that
// the server asked for may have no secret.
type Var struct {
	Name, Value    string
	Hosts, Secrets []string
	// Asked: the server asked for it, so it has a use for it.
	Asked bool
}

// With returns the set with more variables.
func (s Set) With(more []Var) Set {
	s.Vars = slices.Concat(s.Vars, more)
	return s
}

// New makes the decoys of one run for a server with the given home. If people
// work in that home, .env is routine as well: dotenv loaders look for it in
// every directory above the program.
func New(home string, livedIn bool) (Set, error) {
	if !filepath.IsAbs(home) {
		return Set{}, fmt.Errorf("make decoys: home %q is not an absolute path", home)
	}
	set := Set{Home: filepath.Clean(home), Around: lived(filepath.Clean(home))}
	for _, k := range kinds {
		content, secrets, err := k.make()
		if err != nil {
			return Set{}, fmt.Errorf("make decoy %s: %w", k.name, err)
		}
		set.Files = append(set.Files, File{
			Path: filepath.Join(set.Home, k.name), Hosts: k.hosts, Secrets: secrets, Content: []byte(content),
			Routine: k.routine || livedIn && k.name == ".env",
		})
	}
	for _, v := range variables {
		value, secrets := fill(v.value)
		set.Vars = append(set.Vars, Var{Name: v.name, Value: value, Hosts: v.hosts, Secrets: secrets})
	}
	return set, nil
}

// ServiceAccount is the directory of a Pod's service account token.
const ServiceAccount = "/var/run/secrets/kubernetes.io/serviceaccount"

// AddServiceAccount adds a service account token, for a Pod that has none.
func (s *Set) AddServiceAccount() {
	content, secrets := serviceAccountToken()
	s.Files = append(s.Files, File{
		Path: filepath.Join(ServiceAccount, "token"), Hosts: []string{"kubernetes.default.svc"}, Secrets: secrets, Content: []byte(content),
	})
}

// Env returns the environment variables as "NAME=value".
func (s Set) Env() []string {
	env := make([]string, 0, len(s.Vars))
	for _, v := range s.Vars {
		env = append(env, v.Name+"="+v.Value)
	}
	return env
}

// Find returns the decoy file at path, or false.
func (s Set) Find(path string) (File, bool) {
	i := slices.IndexFunc(s.Files, func(f File) bool { return f.Path == path })
	if i < 0 {
		return File{}, false
	}
	return s.Files[i], true
}

// Access says who may use the planted files.
type Access struct{ dir, file fs.FileMode }

// The accesses.
var (
	// Private: the server runs under our own uid, and ssh insists on these modes.
	Private = Access{dir: 0o700, file: 0o600}
	// Shared: the server's uid is not known, and it may keep files of its own in
	// the same directories (~/.config).
	Shared = Access{dir: 0o777, file: 0o644}
)

// Plant writes the files of the home below dir, which stands for the home and
// must exist. Existing files are overwritten.
func (s Set) Plant(dir string, access Access) error { return s.plantBelow(s.Home, dir, access) }

// PlantServiceAccount does the same for the files of the service account.
func (s Set) PlantServiceAccount(dir string, access Access) error {
	return s.plantBelow(ServiceAccount, dir, access)
}

func (s Set) plantBelow(base, dir string, access Access) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("plant decoys: %w", err)
	}
	err = s.plant(root, base, access)
	if err = errors.Join(err, root.Close()); err != nil {
		return fmt.Errorf("plant decoys: %w", err)
	}
	return nil
}

// Replant is Plant for a home in which a server has run: intact files stay as
// they are, and whatever the server has put in the way goes.
func (s Set) Replant(dir string, access Access) error {
	if len(s.Files) == 0 {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("plant decoys again: %w", err)
	}
	defer func() { _ = root.Close() }() // opened for its name only
	for _, f := range s.Files {
		name, err := filepath.Rel(s.Home, f.Path)
		if err != nil || !filepath.IsLocal(name) || f.intact(root, name, access) {
			continue
		}
		for _, above := range parents(name) {
			if info, err := root.Lstat(above); err == nil && !info.IsDir() {
				_ = root.Remove(above) // if this fails, planting below it fails too, and says why
			}
		}
		if err := f.plant(root, name, access); err != nil {
			return fmt.Errorf("plant decoys again: %w", err)
		}
	}
	return nil
}

// intact reports whether a file is as it was planted, and not behind a link.
func (f File) intact(root *os.Root, name string, access Access) bool {
	for _, above := range parents(name) {
		if info, err := root.Lstat(above); err != nil || info.Mode() != access.dir|fs.ModeDir {
			return false
		}
	}
	info, err := root.Lstat(name)
	if err != nil || info.Mode() != access.file || info.Size() != int64(len(f.Content)) {
		return false
	}
	content, err := root.ReadFile(name)
	return err == nil && bytes.Equal(content, f.Content)
}

// parents returns the directories above a relative name, the highest first.
func parents(name string) []string {
	var all []string
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
		all = append(all, dir)
	}
	slices.Reverse(all)
	return all
}

// plant stays below root whatever links it meets. It sets modes explicitly, so
// that the umask does not matter.
func (s Set) plant(root *os.Root, base string, access Access) error {
	for _, f := range s.Files {
		name, err := filepath.Rel(base, f.Path)
		if err != nil {
			return err
		}
		if !filepath.IsLocal(name) {
			continue // of another place
		}
		if err := f.plant(root, name, access); err != nil {
			return err
		}
	}
	return s.surround(root, base, access)
}

func (f File) plant(root *os.Root, name string, access Access) error {
	for _, above := range parents(name) {
		if err := root.MkdirAll(above, access.dir); err != nil {
			return err
		}
		if err := root.Chmod(above, access.dir); err != nil {
			return err
		}
	}
	if err := root.RemoveAll(name); err != nil {
		return err
	}
	if err := root.WriteFile(name, f.Content, access.file); err != nil {
		return err
	}
	if err := root.Chmod(name, access.file); err != nil {
		return err
	}
	when := written(name, time.Now())
	return root.Chtimes(name, when, when)
}

// written returns a plausible time of change for a file of a lived-in home: within the last two years,
// by its name, so that no file is as new as the sandbox, and all times differ.
func written(name string, now time.Time) time.Time {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(name)) // writes nothing that fails
	const day = 24 * time.Hour
	oldest := 700 * day
	if strings.Contains(name, "history") || strings.Contains(name, "recently-used") { // written all the time
		oldest = day
	}
	ago := time.Duration(hash.Sum64() % uint64(oldest)) //nolint:gosec // less than oldest
	return now.Truncate(time.Hour).Add(-2*time.Hour - ago)
}
