package offline

import (
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// What is written here is read by the CEL of config/policy/lookup, which says the same
// in its own words: a test holds the two together.

// maxKey is how long a key of a ConfigMap may be. A longer one is cut, and its lines
// say what they are about.
const maxKey = 253

var (
	escapes = strings.NewReplacer("_", "_u", "/", "_s", ":", "_c", "[", "_o", "]", "_e")
	spaces  = strings.NewReplacer("%", "%25", " ", "%20", "\t", "%09", "\n", "%0A")
)

// keyOf is the key of an image, which is its digest or its name in full, and how the
// lines below it begin. No two images have both in common. prefix is the namespace and
// a dot where each namespace has lists of its own.
func keyOf(prefix string, digest v1alpha1.Digest, full string) (key, of string) {
	key, of = strings.Replace(string(digest), ":", "-", 1), string(digest)
	if digest == "" {
		key, of = escapes.Replace(full), full
	}
	if key = prefix + key; len(key) <= maxKey {
		return key, ""
	}
	return key[:maxKey], of
}

// words encodes one half of a command line: each word is followed by a space, so that no
// word and an empty one differ.
func words(list []string) string {
	var text strings.Builder
	for _, word := range list {
		text.WriteString(spaces.Replace(word))
		text.WriteByte(' ')
	}
	return text.String()
}

// requirements encodes a selector, a line each: operator, key and values. Neither can
// have a space or a comma.
func requirements(selector *metav1.LabelSelector) string {
	if selector == nil {
		return ""
	}
	var text strings.Builder
	line := func(operator metav1.LabelSelectorOperator, key string, values []string) {
		text.WriteString(string(operator) + " " + key + " ," + strings.Join(values, ",") + ",\n")
	}
	for _, key := range sortedKeys(selector.MatchLabels) {
		line(metav1.LabelSelectorOpIn, key, []string{selector.MatchLabels[key]})
	}
	for _, e := range selector.MatchExpressions {
		line(e.Operator, e.Key, e.Values)
	}
	return text.String()
}

// images is one expression for all globs of a policy, on the name in full: as package
// gate has it, a digest makes up for any tag, and the id of an image for any name.
func images(globs []string) string {
	var all []string
	for _, glob := range globs {
		repository, digest, _ := strings.Cut(glob, "@")
		tag := ""
		if colon := strings.LastIndex(repository, ":"); colon > strings.LastIndex(repository, "/") {
			repository, tag = repository[:colon], repository[colon+1:]
		}
		const anyTag = `(?::[^/@]*)?`
		name := expression(strings.ToLower(repository))
		switch {
		case strings.Trim(digest, "*") != "":
			all = append(all, name+anyTag+"@"+expression(digest), expression(digest))
			continue
		case tag != "":
			all = append(all, name+":"+expression(tag), name+anyTag+"@.*")
		default:
			all = append(all, name+anyTag+"(?:@.*)?")
		}
		all = append(all, "sha256:[0-9a-f]*")
	}
	return `(?s)\A(?:` + strings.Join(all, "|") + `)\z`
}

// expression of a glob: "*" is any text without "/", "**" any text.
func expression(glob string) string {
	quoted := regexp.QuoteMeta(glob)
	quoted = runs.ReplaceAllString(quoted, ".*")
	return strings.ReplaceAll(quoted, `\*`, "[^/]*")
}

// runs are two stars and more, as they are quoted.
var runs = regexp.MustCompile(`(?:\\\*){2,}`)
