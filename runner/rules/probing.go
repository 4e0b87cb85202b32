package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// manySecrets is the least number of places with secrets that is suspicious: the libraries of one or two clouds look in
// fewer.
const manySecrets = 4

// findProbing finds searches for secrets that do not exist, may not be read, or are not opened: in many places, or in
// one where no honest program looks.
func findProbing(in Input) []draft {
	walked, own := in.listed(), in.ownPaths()
	searches := map[report.Capability]*search{}
	drafts := each(in, func(e profile.Effect, d *draft) bool {
		what, alone := lookedFor(e)
		if what == "" || in.listsProcesses(e) || in.Scope.Covering(e.Capability).Mentions(sweeping...) || speaks(in.Scope.Covering(e.Capability), topicsOf(e)) {
			return false
		}
		if (e.Kind == profile.KindLook || e.Kind == profile.KindList) && (walked[path.Dir(e.Path)] || in.wanted(e) || in.madeItself(e)) {
			return false
		}
		d.severity, d.object = report.SeverityHigh, "secrets"
		d.message = subject(e)
		if alone {
			d.object = what
			d.message = sentence("%s tried to open %s (%s), which nothing in its declaration speaks of", subject(e), clean(e.Path, 256), what)
			return true
		}
		if searches[e.Capability] == nil {
			searches[e.Capability] = &search{places: map[string]bool{}}
		}
		return searches[e.Capability].adds(what, own.vicinity(e.Path))
	}, profile.KindAttempt, profile.KindLook, profile.KindRead, profile.KindList, profile.KindExec)
	drafts = slices.DeleteFunc(drafts, func(d draft) bool { return d.object == "secrets" && len(searches[d.capability].places) < manySecrets })
	for i, d := range drafts {
		if d.object == "secrets" {
			all := searches[d.capability]
			drafts[i].message = sentence("%s looked for secrets in %d places that nothing in its declaration speaks of: %s",
				d.message, len(all.places), clean(strings.Join(all.kinds[:min(len(all.kinds), 8)], ", "), 400))
		}
	}
	return drafts
}

// search records where a capability looked for secrets, and the kinds of secrets in order.
type search struct {
	places map[string]bool
	kinds  []string
}

// adds adds a place for a kind of secret, and reports whether it is new.
func (s *search) adds(kind, place string) bool {
	at := kind + " " + place
	if s.places[at] {
		return false
	}
	s.places[at] = true
	if !slices.Contains(s.kinds, kind) {
		s.kinds = append(s.kinds, kind)
	}
	return true
}

// vicinity returns the entry of the home, or of an XDG directory, that a path lies in: several places in one count once.
func (g ownPaths) vicinity(name string) string {
	inside, _ := g.inHome(name)
	for _, dir := range xdgDirs {
		if below, ok := strings.CutPrefix(inside, dir); ok {
			inside = below
		}
	}
	return firstOf(inside)
}

// listed returns the directories that were listed: a program that walks one looks at all its entries, whatever their names.
func (in Input) listed() map[string]bool {
	all := map[string]bool{}
	for _, e := range in.Profile.Effects {
		if e.Kind == profile.KindList {
			all[e.Path] = true
		}
	}
	return all
}

// lookedFor returns what an effect looked for. alone: one such look is a finding.
func lookedFor(e profile.Effect) (what string, alone bool) {
	if e.Kind == profile.KindExec {
		if watching[path.Base(e.Path)] && e.Error != "" {
			return "the clipboard or the screen", false
		}
		return "", false
	}
	if s, ok := sensorAt(e.Path); ok {
		return s.what, true
	}
	at, ok := secretOf(e)
	switch {
	case !ok || at.Routine || e.Kind == profile.KindRead: // what was read is found as that
		return "", false
	case e.Kind == profile.KindLook || e.Kind == profile.KindList:
		return at.What, false
	case strings.HasPrefix(e.Path, "/proc/"):
		return at.What, e.Error != "ENOENT" && e.Error != "ESRCH" && e.Path != ofInit
	}
	return at.What, strings.HasSuffix(e.Path, "/serviceaccount/token") // no runtime looks there by itself
}

// ofInit tells programs whether they run in a container, by a convention of systemd (CONTAINER_INTERFACE). The server's
// parent is another process, in the sandbox and in a Pod.
const ofInit = "/proc/1/environ"

// secretOf returns the kind of secret that an access was meant for.
func secretOf(e profile.Effect) (places.Secret, bool) {
	if e.Kind == profile.KindRead {
		return places.Locate(e.Path)
	}
	return places.Sought(e.Path)
}

// topicsOf returns the words by which a declaration speaks of what was looked for.
func topicsOf(e profile.Effect) []string {
	if at, ok := secretOf(e); ok {
		return at.Topics
	}
	if s, ok := sensorAt(e.Path); ok {
		return s.topics
	}
	return []string{"clipboard", "screenshot", "screenshots", "screen", "copy", "paste", "desktop"}
}

// sensor is a kind of device that records a person.
type sensor struct {
	what             string
	prefixes, topics []string
}

var sensors = []sensor{
	{"the keyboard and the mouse", []string{"/dev/input/", "/dev/uinput"},
		[]string{"keyboard", "mouse", "input", "joystick", "gamepad", "desktop", "automation"}},
	{"the camera and the microphone", []string{"/dev/video", "/dev/snd/"},
		[]string{"camera", "webcam", "microphone", "audio", "video", "sound", "speech", "record", "play"}},
}

func sensorAt(name string) (sensor, bool) {
	for _, s := range sensors {
		if slices.ContainsFunc(s.prefixes, func(prefix string) bool { return strings.HasPrefix(name+"/", prefix) }) { // or their directory
			return s, true
		}
	}
	return sensor{}, false
}

// watching are programs that read the clipboard or the screen.
var watching = map[string]bool{"xclip": true, "xsel": true, "wl-paste": true, "pbpaste": true, "scrot": true, "grim": true, "maim": true,
	"gnome-screenshot": true, "spectacle": true, "import": true, "xwd": true, "screencapture": true, "flameshot": true}
