package offline

import "strings"

// Lists are the ConfigMaps of a list with a header, of lines by key.
func Lists(header, lines map[string]string) []map[string]string {
	list := map[string][]string{}
	for key, text := range lines {
		list[key] = strings.Split(text, "\n")
	}
	return split(header, fill(list), maxShard)
}

// BucketOf is the entry in which a key is.
var BucketOf = bucketOf
