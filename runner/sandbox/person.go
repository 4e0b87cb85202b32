package sandbox

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
)

// A server that root starts is root, in root's home, and nothing else can be read off a container. For a client of
// somebody's it is a person: with an id as people have them, a line in the table of users, and a home that is
// a link to the one with the decoys.

// person is who a server runs as: the name and the home that it finds. The zero value is the user who started the audit.
type person struct {
	Name string `json:"name"`
	Home string `json:"home"`
}

// personID is the id that systems give to the first person on them (login.defs(5), UID_MIN).
const personID = 1000

// newPerson is a person for the machine of a name, whose home nobody has here. Somebody who is no root is one already.
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

// settle gives a person the home of root, by a link, and a line in the tables of users and groups, where these can be changed.
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

// peopled is a table of users or groups with a line in place of whoever has its id.
func peopled(table []byte, line string) []byte {
	var all strings.Builder
	for known := range strings.Lines(string(table)) {
		if fields := strings.Split(known, ":"); len(fields) < 3 || strings.TrimSpace(fields[2]) != fmt.Sprint(personID) {
			all.WriteString(strings.TrimSuffix(known, "\n") + "\n")
		}
	}
	return []byte(all.String() + line)
}
