package offline

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

// The CEL in config/policy/lookup reads this encoding and implements it again: a test compares
// the two.

// spaces escapes the separators of words, fields, commands and lines.
var spaces = strings.NewReplacer("%", "%25", " ", "%20", "\t", "%09", "\n", "%0A", "\r", "%0D")

// sentences replaces separators other than spaces.
var sentences = strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")

// idPrefix marks keys of image IDs, which are config digests: a manifest may have been made
// with an equal digest.
const idPrefix = "id:"

// keyOf returns the key at the start of an image's line: its digest, idPrefix and its ID, or
// its full name, which contains a slash. Keys are unique. prefix is the namespace and a dot for
// lists by namespace.
func keyOf(prefix, image string) string { return prefix + spaces.Replace(image) }

// buckets is the number of entries in a list: for each request the API server converts whole
// ConfigMaps, at a cost per entry rather than per byte.
const buckets = 256

// placed is the number of trailing characters that select a key's bucket.
const placed = 32

// alphabet has the characters of keys, shuffled so that names that differ in a number spread
// over all buckets.
const alphabet = "2QG@Rxaqvy64VIHkn5MbCNwrEF[uDS+l%]-7si3.XTz/Z1LWOo:K0d8J9peA_fcBhUmjgYtP"

// bucketOf returns the ConfigMap entry of a key. It proves nothing about the key: chosen names
// may all share one.
func bucketOf(key string) string {
	sum, letters := 0, []rune(key)
	for _, letter := range letters[max(len(letters)-placed, 0):] {
		sum += strings.IndexRune(alphabet, letter)
	}
	return "b" + strconv.Itoa(sum%buckets)
}

// fill puts a list into buckets: one line per key, with its commands. Lines start with the
// delimiter that ends others, so a key is found by its surroundings.
func fill(list map[string][]string) map[string]string {
	filled := map[string]*strings.Builder{}
	for _, key := range slices.Sorted(maps.Keys(list)) {
		bucket := filled[bucketOf(key)]
		if bucket == nil {
			bucket = &strings.Builder{}
			filled[bucketOf(key)] = bucket
		}
		bucket.WriteString("\n" + key + "\t" + strings.Join(list[key], "\r"))
	}
	texts := make(map[string]string, len(filled))
	for name, bucket := range filled {
		texts[name] = bucket.String()
	}
	return texts
}

// words encodes half a command line: each word is followed by a space, so no words and one
// empty word differ.
func words(list []string) string {
	var text strings.Builder
	for _, word := range list {
		text.WriteString(spaces.Replace(word))
		text.WriteByte(' ')
	}
	return text.String()
}

// requirements encodes a selector, one line each: operator, key and values, which cannot
// contain spaces or commas.
func requirements(selector *metav1.LabelSelector) string {
	if selector == nil {
		return ""
	}
	var text strings.Builder
	line := func(operator metav1.LabelSelectorOperator, key string, values []string) {
		text.WriteString(string(operator) + " " + key + " ," + strings.Join(values, ",") + ",\n")
	}
	for _, key := range slices.Sorted(maps.Keys(selector.MatchLabels)) {
		line(metav1.LabelSelectorOpIn, key, []string{selector.MatchLabels[key]})
	}
	for _, e := range selector.MatchExpressions {
		line(e.Operator, e.Key, e.Values)
	}
	return text.String()
}

// images joins all globs of a policy into one expression on the full name: as in package gate,
// a digest matches any tag, and an image ID any name.
func images(globs []string) string {
	var all []string
	for _, glob := range globs {
		repository, digest, _ := strings.Cut(glob, "@")
		tag := ""
		if colon := strings.LastIndex(repository, ":"); colon > strings.LastIndex(repository, "/") {
			repository, tag = repository[:colon], repository[colon+1:]
		}
		const anyTag = `(?::[^/@]*)?`
		name := gate.Expression(strings.ToLower(repository))
		switch {
		case strings.Trim(digest, "*") != "":
			all = append(all, name+anyTag+"@"+gate.Expression(digest), gate.Expression(digest))
			continue
		case tag != "":
			all = append(all, name+":"+gate.Expression(tag), name+anyTag+"@.*")
		default:
			all = append(all, name+anyTag+"(?:@.*)?")
		}
		all = append(all, "sha256:[0-9a-f]*")
	}
	return `(?s)\A(?:` + strings.Join(all, "|") + `)\z`
}
