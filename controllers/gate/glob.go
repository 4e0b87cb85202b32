package gate

import (
	"fmt"
	"regexp"
	"strings"
)

// glob is an image pattern: "*" matches any text without "/", "**" any text. The parts are those of the
// policy: a policy of the largest size has 32 KiB of them, which regular expressions would multiply.
type glob struct{ repository, tag, digest string }

// anything is the part of a glob that the pattern does not have.
const anything = "**"

// registry matches the start of a glob that can match a full image name: a host, or a pattern
// for one.
var registry = regexp.MustCompile(`^([^/]*\*\*|(localhost|[^/]*[.:*][^/]*)/)`)

// readGlob parses a pattern. One without a registry matches no image and is an error, as a
// policy without effect would go unnoticed.
func readGlob(pattern string) (glob, error) {
	if !registry.MatchString(pattern) {
		return glob{}, fmt.Errorf("%q matches no image: begin with the registry, as in \"docker.io/library/notes:*\"", pattern)
	}
	repository, digest, digested := strings.Cut(pattern, "@")
	g := glob{repository: repository, tag: anything, digest: anything}
	if digested {
		g.digest = digest
	}
	if colon := strings.LastIndex(repository, ":"); colon > strings.LastIndex(repository, "/") {
		g.repository, g.tag = repository[:colon], repository[colon+1:]
	}
	g.repository = strings.ToLower(g.repository)
	return g, nil
}

// matches reports whether a part of a glob matches a whole text. Time is at most in proportion to
// the product of their lengths.
func matches(part, text string) bool {
	literal, _, wild := strings.Cut(part, "*")
	if !wild || !strings.HasPrefix(text, literal) {
		return part == text
	}
	// reached has the places of the pattern up to which it matches the text read so far.
	reached, next := make([]bool, len(part)+1), make([]bool, len(part)+1)
	reach(reached, part, len(literal))
	for i := len(literal); i < len(text); i++ {
		clear(next)
		for at := range len(part) {
			if !reached[at] {
				continue
			}
			switch stars := starsAt(part, at); {
			case stars > 1 || stars == 1 && text[i] != '/':
				reach(next, part, at)
			case stars == 0 && part[at] == text[i]:
				reach(next, part, at+1)
			}
		}
		reached, next = next, reached
	}
	return reached[len(part)]
}

// reach notes a place of a pattern, and the one after its stars, which may match nothing.
func reach(places []bool, part string, at int) {
	places[at], places[at+starsAt(part, at)] = true, true
}

// starsAt counts the stars at a place of a pattern.
func starsAt(part string, at int) int {
	return len(part) - at - len(strings.TrimLeft(part[at:], "*"))
}

// Expression returns the regular expression for a part of a glob.
func Expression(pattern string) string {
	return strings.ReplaceAll(stars.ReplaceAllString(regexp.QuoteMeta(pattern), ".*"), `\*`, "[^/]*")
}

// stars matches two or more quoted stars.
var stars = regexp.MustCompile(`(?:\\\*){2,}`)

// matches reports whether an image matches. With a digest, the tag is ignored, and an image
// without a tag could have any, so adding a digest evades no pattern. Image IDs and unparsable
// names match any repository.
func (g glob) matches(image name) bool {
	switch {
	case image == name{}:
		return true
	case !matches(g.digest, string(image.digest)):
		return false
	case image.repository == "":
		return true
	case image.digest == "" && !matches(g.tag, image.tag):
		return false
	}
	return matches(g.repository, image.repository)
}
