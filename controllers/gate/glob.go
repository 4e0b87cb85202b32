package gate

import (
	"fmt"
	"regexp"
	"strings"
)

// glob is a pattern of images: "*" is any text without "/", "**" any text. It has the
// parts of a name, each of which is absent for any.
type glob struct{ repository, tag, digest *regexp.Regexp }

// registry is how a glob begins that some image's whole name can match: with a host, or
// with a pattern that can be one.
var registry = regexp.MustCompile(`^([^/]*\*\*|(localhost|[^/]*[.:*][^/]*)/)`)

// readGlob reads a pattern. One that can match no image, because it begins with no
// registry, is an error: a policy that is about nothing would go unnoticed.
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

// compile makes a regular expression, which is matched in linear time.
func compile(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`(?s)\A(?:` + Expression(pattern) + `)\z`)
}

// Expression is a regular expression for a part of a glob.
func Expression(pattern string) string {
	return strings.ReplaceAll(stars.ReplaceAllString(regexp.QuoteMeta(pattern), ".*"), `\*`, "[^/]*")
}

// stars are two and more, as they are quoted.
var stars = regexp.MustCompile(`(?:\\\*){2,}`)

// matches reports whether an image is meant. Where a digest says which image it is, the tag
// says nothing, and a name that has none could have any; so that no pattern is left by
// naming the digest. The id of an image, and what cannot be read, say nothing about the
// name: it could be any.
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
