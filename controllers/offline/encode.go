package offline

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

// What is written here is read by the CEL of config/policy/lookup, which says the same
// in its own words: a test holds the two together.

// spaces makes one word of a text: what separates words, fields, commands and lines is
// in none.
var spaces = strings.NewReplacer("%", "%25", " ", "%20", "\t", "%09", "\n", "%0A", "\r", "%0D")

// sentences have spaces, and nothing else that separates.
var sentences = strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")

// idPrefix is how the key of an image's ID begins, which is the digest of its config: a
// manifest may have been made to have the same one.
const idPrefix = "id:"

// keyOf returns how the line about an image begins: its digest, idPrefix and its ID, or its
// name in full, which has a slash. No two images have one. prefix is the namespace and a
// dot where each namespace has lists of its own.
func keyOf(prefix, image string) string { return prefix + spaces.Replace(image) }

// buckets is how many there are of a list: for each request the API server converts all
// that ConfigMaps have, which it takes time for by the entry, and little by the byte.
const buckets = 256

// placed is how many of the last letters of a key say in which bucket it is.
const placed = 32

// alphabet holds the characters of keys, shuffled so that names that differ in a number spread over all buckets.
const alphabet = "2QG@Rxaqvy64VIHkn5MbCNwrEF[uDS+l%]-7si3.XTz/Z1LWOo:K0d8J9peA_fcBhUmjgYtP"

// bucketOf is the entry of a ConfigMap in which the line about a key is. It says nothing
// about who the key is of: names that somebody chose may all be in one.
func bucketOf(key string) string {
	sum, letters := 0, []rune(key)
	for _, letter := range letters[max(len(letters)-placed, 0):] {
		sum += strings.IndexRune(alphabet, letter)
	}
	return "b" + strconv.Itoa(sum%buckets)
}

// fill puts a list into buckets: a line for each key, of what is said about each of its
// commands. Lines begin with what ends others, so that a key is found by what is around it.
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
	for _, key := range slices.Sorted(maps.Keys(selector.MatchLabels)) {
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
