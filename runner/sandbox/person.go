package sandbox

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
)

// A server that root starts is root, which shows it that it may be in a container. For a person's client it runs as
// that person: with a common uid, a line in the table of users, and a home that is a link to the one with the decoys.

// person is who a server runs as: the name and the home that it finds. The zero value is the user who started the audit.
type person struct {
	Name string `json:"name"`
	Home string `json:"home"`
}

// personID is the uid of a system's first user (login.defs(5), UID_MIN).
const personID = 1000

// newPerson returns a person without a home on the machine, who fits its host name; none if the audit does not run as root.
func newPerson(host, home string) person {
	if os.Getuid() != 0 {
		if own, err := user.Current(); err == nil {
			return person{own.Username, home}
		}
		return person{}
	}
	name, _, _ := strings.Cut(host, "-")
	for _, name := range append([]string{name}, people...) {
		if at := filepath.Join("/home", name); !isThere(at) {
			return person{name, at}
		}
	}
	return person{}
}

// env returns the variables by which an environment names the person, without those that are set already.
func (p person) env(taken []string) []string {
	if p.Name == "" {
		return nil
	}
	all := []string{"USER=" + p.Name, "LOGNAME=" + p.Name, "HOME=" + p.Home}
	return slices.DeleteFunc(all, func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.ContainsFunc(taken, func(other string) bool { return strings.HasPrefix(other, name+"=") })
	})
}

// settle links a person's home to root's, and adds a line to the tables of users and groups, where these can be changed.
func (r *root) settle(p person, home string) error {
	if p.Home == "" || p.Home == home {
		return nil
	}
	if err := r.ensure(filepath.Dir(p.Home), 0o755); err != nil {
		return err
	}
	tree, err := os.OpenRoot(r.at("/"))
	if err != nil {
		return err
	}
	defer func() { _ = tree.Close() }() // opened for its name only
	link := strings.TrimPrefix(p.Home, "/")
	if err := tree.RemoveAll(link); err != nil {
		return fmt.Errorf("make %s: %w", p.Home, err)
	}
	if err := tree.Symlink(home, link); err != nil {
		return fmt.Errorf("make %s: %w", p.Home, err)
	}
	if r.readOnly != nil {
		return nil
	}
	for table, line := range map[string]string{
		"/etc/passwd": fmt.Sprintf("%s:x:%d:%d:%s:%s:/bin/bash\n", p.Name, personID, personID, p.Name, p.Home),
		"/etc/group":  fmt.Sprintf("%s:x:%d:\n", p.Name, personID),
	} {
		known, err := tree.ReadFile(strings.TrimPrefix(table, "/"))
		if err != nil || strings.Contains(string(known), line) {
			continue // a machine without users, or an earlier launch was for this person
		}
		if err := r.place(table, peopled(known, line)); err != nil {
			return err
		}
	}
	return nil
}

// peopled returns a table of users or groups with a line in place of the one with the same id.
func peopled(table []byte, line string) []byte {
	var all strings.Builder
	for known := range strings.Lines(string(table)) {
		if fields := strings.Split(known, ":"); len(fields) < 3 || strings.TrimSpace(fields[2]) != fmt.Sprint(personID) {
			all.WriteString(strings.TrimSuffix(known, "\n") + "\n")
		}
	}
	return []byte(all.String() + line)
}
