package behavior

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// layout has the directories by which a path is classified.
type layout struct {
	home string
	// own has the directories where the server itself is installed.
	own []string
}

// scripts lists the extensions of files that a runtime is given to run.
var scripts = []string{".js", ".mjs", ".cjs", ".ts", ".py", ".rb", ".php", ".jar", ".sh"}

// shared lists directories in which all programs make up names.
var shared = []string{"/tmp", "/var/tmp", "/dev/shm", "/dev/pts", "/sys"}

// layout finds where a server is installed: in the directories of the files that its command names.
func (s Server) layout(p profile.Profile) layout {
	at := layout{home: strings.TrimSuffix(s.Home, "/")}
	for i, arg := range s.Command {
		if i > 0 && !slices.Contains(scripts, path.Ext(arg)) {
			continue // a directory argument is not where the server is installed
		}
		if dir := installed(arg, p); dir != "" && dir != at.home && path.Base(dir) != "bin" && !slices.Contains(shared, dir) {
			at.own = append(at.own, dir)
		}
	}
	return at
}

// installed returns the directory of a program or script that a command names; empty if
// no effect shows it. A name without a directory has to be seen itself.
func installed(arg string, p profile.Profile) string {
	name := path.Clean(arg)
	dir := path.Dir(name)
	if path.IsAbs(name) {
		return strings.TrimSuffix(dir, "/")
	}
	if strings.HasPrefix(arg, "-") || !strings.ContainsAny(name, "/.") {
		return ""
	}
	for _, e := range p.Effects {
		if e.Kind == profile.KindConnect || e.Kind == profile.KindListen {
			continue
		}
		if before, _, ok := strings.Cut(e.Path, "/"+dir+"/"); ok && dir != "." {
			return before + "/" + dir
		}
		if before, ok := strings.CutSuffix(e.Path, "/"+name); ok && dir == "." {
			return before
		}
	}
	return ""
}

// Directories that have one directory per program, relative to a home or absolute.
var (
	homeGroups = []string{".config", ".cache", ".local/share", ".local/state", ".local/lib", ".local"}
	rootGroups = []string{"/var/lib", "/var/log", "/var/cache", "/var/run", "/usr/share", "/usr/local", "/usr/lib", "/var", "/usr", "/opt", "/home", "/root", "/etc", "/run", "/mnt", "/srv", "/dev"}
)

// class returns the place of a file: a directory with a final slash, or the file itself
// if all programs share its directory. dir: it is a directory itself.
func (p layout) class(name string, dir bool) string {
	for _, own := range p.own {
		if places.Within(name, own) {
			return "./"
		}
	}
	if rest, ok := places.Rest(name, p.home); ok && p.home != "" {
		return p.inHome(rest, dir)
	}
	for _, place := range shared {
		if places.Within(name, place) {
			return place + "/"
		}
	}
	if rest, ok := places.Rest(name, "/proc"); ok {
		if first, _, _ := strings.Cut(rest, "/"); first != "" && strings.Trim(first, "0123456789") == "" {
			return "/proc/PID/"
		}
		return "/proc/"
	}
	for _, group := range rootGroups {
		if rest, ok := places.Rest(name, group); ok {
			return group + "/" + first(rest, dir)
		}
	}
	if rest, ok := places.Rest(name, "/"); ok && (dir || strings.Contains(rest, "/")) {
		return "/" + first(rest, dir)
	}
	return "/"
}

func (p layout) inHome(rest string, dir bool) string {
	for _, group := range homeGroups {
		if inside, ok := places.Rest(rest, group); ok {
			return "~/" + group + "/" + first(inside, dir)
		}
	}
	if !strings.HasPrefix(rest, ".") && !strings.Contains(rest, "/") && !dir {
		return "~/" // a user's file, whatever its name
	}
	return "~/" + first(rest, dir)
}

// first returns the first part of a path, with a slash if it is a directory.
func first(rest string, dir bool) string {
	name, _, more := strings.Cut(rest, "/")
	if name == "" {
		return ""
	}
	if name = maskGenerated(name, ""); more || dir {
		name += "/"
	}
	return name
}

// file is the path of a file that is an address: whole, with its made-up parts hidden.
func (p layout) file(name string) string {
	if !strings.HasPrefix(name, "/") {
		return maskGenerated(name, "")
	}
	if places.Within(name, "/run") || places.Within(name, "/var/run") {
		return maskGenerated(name, "/")
	}
	return p.class(name, false)
}

// maskGenerated replaces with a star each part of a name, between separators ("" for
// none), that was made up for the run or came from the probe.
func maskGenerated(name, separator string) string {
	parts := []string{name}
	if separator != "" {
		parts = strings.Split(name, separator)
	}
	out := parts[:0]
	for _, part := range parts {
		if _, marked := inputs.Marked(part); marked || madeUp(part) {
			part = "*"
		}
		if n := len(out); part == "*" && n > 0 && out[n-1] == "*" {
			continue
		}
		out = append(out, part)
	}
	return strings.Join(out, separator)
}

// A name is made up if it is long and has digits, or has many digits: people write
// "sha256sum" and "notes-2024", programs "tmp8x3k2q9f", "3f2a77b1" and "1714060800".
const (
	longName   = 16
	manyDigits = 5
)

func madeUp(name string) bool {
	digits, letters, hex := 0, 0, true
	for _, r := range name {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			letters++
			hex = hex && strings.ContainsRune("abcdefABCDEF", r)
		}
	}
	switch {
	case digits == 0:
		return false
	case digits >= manyDigits, letters+digits >= longName && 4*digits >= letters:
		return true
	}
	return hex && letters > 0 && letters+digits >= 8
}
