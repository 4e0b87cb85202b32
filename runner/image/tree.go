package image

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// maxTable bounds a table of users or groups in bytes.
const maxTable = 1 << 20

// parent returns where a directory of the image is, and makes it if it is missing.
func (u *unpacker) parent(dir string) (string, error) {
	if dir == u.latest && dir != "" {
		return u.resolved, nil
	}
	at, err := u.resolve(dir)
	if err == nil {
		err = u.ensure(at)
	}
	if err == nil {
		u.latest, u.resolved = dir, at
	}
	return at, err
}

// forget is called when a link or a removal may have changed where directories are.
func (u *unpacker) forget() { u.latest = "" }

// ensure makes a directory, and those above it, for root.
func (u *unpacker) ensure(dir string) error {
	if info, err := u.tree.Lstat(dir); err == nil && info.IsDir() {
		return nil
	}
	if above := path.Dir(dir); above != "." {
		if err := u.ensure(above); err != nil {
			return err
		}
	}
	if err := errors.Join(u.left.entry(), u.tree.Mkdir(dir, 0o755)); err != nil {
		return err
	}
	return u.give(dir, 0, 0)
}

// resolve follows the links on a path as the image's programs would, for which the image's root is "/". The rest of a path
// that is not there stays as it is.
func (u *unpacker) resolve(name string) (string, error) {
	at, rest, links := ".", strings.Split(name, "/"), 0
	for len(rest) > 0 {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, part)
		if len(next) > maxPath {
			return "", fmt.Errorf("it leads to a path of more than %d bytes", maxPath)
		}
		target, err := u.tree.Readlink(next)
		if err != nil { // no link
			at = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("it has more than %d links on its way", maxLinks)
		}
		if path.IsAbs(target) {
			at = "."
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return at, nil
}

// drop removes a file or a tree.
func (u *unpacker) drop(at string) error {
	u.forget()
	return u.tree.RemoveAll(at)
}

// remove carries out a whiteout.
func (u *unpacker) remove(dir, base string) error {
	if base == "" || base == "." || base == ".." {
		return errors.New("it removes no file by its name")
	}
	return u.drop(path.Join(dir, base))
}

// clear removes what lower layers have in a directory.
func (u *unpacker) clear(dir string, made map[string]bool) error {
	entries, err := fs.ReadDir(u.tree.FS(), dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		at := path.Join(dir, e.Name())
		switch {
		case !made[at]:
			err = u.drop(at)
		case e.IsDir():
			err = u.clear(at, made)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// directory returns the path of the working directory without links. It is made if it is missing.
func (u *unpacker) directory(dir string) (string, error) {
	at, err := u.parent(strings.TrimPrefix(path.Clean("/"+dir), "/"))
	if err != nil {
		return "", fmt.Errorf("its working directory %.200q: %w", dir, err)
	}
	return path.Join("/", at), nil
}

// volume makes the directory of a volume, which belongs to a user.
func (u *unpacker) volume(dir string, uid, gid int) error {
	at, err := u.parent(strings.TrimPrefix(path.Clean("/"+dir), "/"))
	if err == nil {
		err = u.give(at, uid, gid)
	}
	if err != nil {
		return fmt.Errorf("the volume %.200q: %w", dir, err)
	}
	return nil
}

// user returns the ids of "USER[:GROUP]", by names or numbers; root for "".
func (u *unpacker) user(of string) (uid, gid int, err error) {
	name, group, grouped := strings.Cut(of, ":")
	if name == "" {
		name = "0"
	}
	uid, numeric := id(name)
	entry, found, err := u.lookup("etc/passwd", name, 2)
	switch {
	case err != nil:
		return 0, 0, err
	case found:
		uid, _ = id(entry[2])
		gid, _ = id(entry[3])
	case !numeric:
		return 0, 0, fmt.Errorf("its user %.100q is not in its /etc/passwd", name)
	}
	if !grouped || group == "" {
		return uid, gid, nil
	}
	gid, numeric = id(group)
	if entry, found, err = u.lookup("etc/group", group, 2); found {
		gid, _ = id(entry[2])
	}
	if err == nil && !found && !numeric {
		err = fmt.Errorf("its group %.100q is not in its /etc/group", group)
	}
	return uid, gid, err
}

// home returns the home of a user: the variable of the image's config, or that of its /etc/passwd.
func (u *unpacker) home(uid int, env []string) (string, error) {
	for _, entry := range slices.Backward(env) {
		if home, ok := strings.CutPrefix(entry, "HOME="); ok && home != "" {
			return home, nil
		}
	}
	entry, found, err := u.lookup("etc/passwd", strconv.Itoa(uid), 2)
	if !found || len(entry) < 7 || entry[5] == "" {
		return "/", err
	}
	return entry[5], nil
}

// lookup returns the fields of a line of a table of users or groups, by the name or the number in a field.
func (u *unpacker) lookup(table, name string, number int) ([]string, bool, error) {
	at, err := u.resolve(table)
	if err != nil {
		return nil, false, fmt.Errorf("read its /%s: %w", table, err)
	}
	file, err := u.tree.Open(at)
	if err != nil {
		return nil, false, nil // an image may have none
	}
	defer func() { _ = file.Close() }() // only read
	text, err := io.ReadAll(io.LimitReader(file, maxTable))
	if err != nil {
		return nil, false, fmt.Errorf("read its /%s: %w", table, err)
	}
	var byNumber []string
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimRight(line, "\n"), ":")
		if len(fields) <= number+1 {
			continue
		}
		if fields[0] == name {
			return fields, true, nil
		}
		if byNumber == nil && fields[number] == name {
			byNumber = fields
		}
	}
	return byNumber, byNumber != nil, nil
}

// id reads a number of a user or a group.
func id(text string) (int, bool) {
	n, err := strconv.ParseUint(text, 10, 31)
	return known(int(n)), err == nil //nolint:gosec // it has 31 bits
}
