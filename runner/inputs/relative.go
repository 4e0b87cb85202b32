package inputs

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/places"
)

// Tools with a directory of their own take names below it, and refuse every
// absolute path. Valid names are in their descriptions, in the results of
// other tools, or any name without a directory.

// relativeOnly finds errors about how a path is written.
var relativeOnly = lazyregexp.New(`(?i)\b(?:relative|absolute|traversal|base ?names?|(?:invalid|illegal|bad|unsafe) (?:file ?|path ?)?(?:name|path|folder|directory)|path separators?|slash(?:es)?)\b`)

// absoluteOnly finds those that ask for an absolute path.
var absoluteOnly = lazyregexp.New(`(?i)\b(?:(?:must|should|has to|needs? to) (?:be|start with|use)|requires?|expect(?:s|ed)|provide|use) (?:an? |the )?absolute\b|` +
	`\b(?:not|n't) (?:an )?absolute\b|\babsolute path(?:name)? (?:is )?(?:required|expected|needed)\b`)

// maxSuspected bounds how often an absolute path is suspected in one place.
const maxSuspected = 3

// relative reports whether a place refuses absolute paths, as far as is known.
func (f *Form) relative(n *node) bool { return f.suspected(n) > 0 }

func (f *Form) suspected(n *node) int {
	if !f.isPath(n) {
		return 0
	}
	return f.taught(n).absolute
}

// doubt records that a path was refused, perhaps because it is absolute. dirs are the
// directories that were known to be required.
func (l *lesson) doubt(whole, said string, dirs []string, o Options) {
	isAbsolute := strings.HasPrefix(whole, "/")
	if !isAbsolute && absoluteOnly.MatchString(said) {
		l.rooted, l.absolute = true, 0
	}
	if !isAbsolute || !l.doubtful() {
		return
	}
	within := slices.ContainsFunc(dirs, func(dir string) bool { return places.Within(whole, dir) })
	if outside.MatchString(said) && (len(l.dirs) == 0 || within) || relativeOnly.MatchString(said) || absent.MatchString(said) && o.there(whole) {
		l.absolute++
	}
}

// doubtful reports whether a path may have been refused for being absolute.
func (l *lesson) doubtful() bool { return !l.rooted && l.absolute < maxSuspected }

// there reports whether a path names something planted.
func (o Options) there(name string) bool {
	return o.keeps(name) || slices.ContainsFunc(Files(), func(f File) bool { return name == o.dir()+"/"+f.Path })
}

// suspect returns the absolute paths, and the URLs, of a call whose refusal gives no reason: they
// are the likeliest fault if none was ever accepted.
func (f *Form) suspect(c Case) (found []placed) {
	for _, p := range c.placed {
		n, known := f.tree.leafAt(p.at), f.leaves[p.at]
		if n == nil || known != nil && known.best != nil || !f.dubious(n, p.value) {
			continue
		}
		f.repair = true
		found = append(found, p)
		if known != nil {
			known.stale = true
		}
	}
	return found
}

// dubious reports whether a value may have been refused for its form, and counts that.
func (f *Form) dubious(n *node, value string) bool {
	l, isPath := f.lesson(n.at), strings.HasPrefix(value, "/") && f.isPath(n)
	switch {
	case l == nil:
		return false
	case !isPath:
		return l.doubtURL(value)
	case !l.doubtful() || f.options.Ways.takesAbsolute():
		return false
	}
	l.absolute++
	return true
}

// leafAt returns the place of a text or a number; nil for none.
func (n *node) leafAt(at string) *node {
	for leaf := range n.leaves() {
		if leaf.at == at {
			return leaf
		}
	}
	return nil
}

// relatives returns the names that a place may take instead of absolute paths: examples of its
// description, and those of existing files. For a new file, a made-up name comes first.
func (f *Form) relatives(n *node, usual []candidate) (described, bare []candidate) {
	suspected, creates := f.suspected(n), f.creates(n)
	if suspected == 0 || creates && suspected < 2 {
		return nil, nil
	}
	for _, word := range Offered(said(n)) {
		if !strings.HasPrefix(word, "/") && !strings.ContainsAny(word, `:\~ `) && !strings.Contains(word, "..") && !f.mentions(word, n.name) &&
			(f.isDirectory(n) || len(path.Ext(word)) > 1 && word[0] != '.') {
			described = append(described, candidate{value: word, source: ofDescription})
		}
	}
	switch {
	case creates:
	case f.isDirectory(n):
		bare = []candidate{{value: "."}}
	case len(usual) > 0:
		bare = []candidate{{value: path.Base(plain(usual[0].value))}}
	}
	return described, bare
}

// rooted ranks candidates: relative names with a source come first.
func rooted(c candidate) int {
	if c.source == "" || strings.HasPrefix(plain(c.value), "/") {
		return 1
	}
	return 0
}
