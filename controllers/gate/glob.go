package gate

import (
	"fmt"
	"regexp"
	"strings"
)

// glob is an image pattern: "*" matches any text without "/", "**" any text. Each part is nil
// if it matches anything.
type glob struct{ repository, tag, digest *regexp.Regexp }

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
	tag, tagged := "", false
	if colon := strings.LastIndex(repository, ":"); colon > strings.LastIndex(repository, "/") {
		repository, tag, tagged = repository[:colon], repository[colon+1:], true
	}
	g := glob{repository: compile(strings.ToLower(repository))}
	if tagged {
		g.tag = compile(tag)
	}
	if digested {
		g.digest = compile(digest)
	}
	return g, nil
}

// compile returns a regular expression, which matches in linear time.
func compile(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`(?s)\A(?:` + Expression(pattern) + `)\z`)
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
	case g.digest != nil && !g.digest.MatchString(string(image.digest)):
		return false
	case image.repository == "":
		return true
	case image.digest == "" && g.tag != nil && !g.tag.MatchString(image.tag):
		return false
	}
	return g.repository.MatchString(image.repository)
}
