package offline

import (
	"maps"
	"slices"
)

// maxShard bounds the bytes of keys and values in one ConfigMap, which may have 1 MiB including
// metadata.
const maxShard = 900_000

// shard is a range of a list's buckets, from From to the next shard. Shards cover all possible
// buckets without overlap.
type shard struct {
	from string
	keys []string
}

// shards splits a list at boundaries that depend on the possible buckets, not the existing
// ones, so a change affects few shards.
func shards(list map[string]string, room int) []shard {
	keys := slices.Sorted(maps.Keys(list))
	size := func(some []string) int {
		n := 0
		for _, key := range some {
			n += len(key) + len(list[key])
		}
		return n
	}
	var parts []shard
	// split splits the keys that start with prefix followed by a byte in [low, high).
	var split func(some []string, prefix string, low, high int)
	split = func(some []string, prefix string, low, high int) {
		from := prefix
		if low > 0 {
			from += string(rune(low))
		}
		switch {
		case len(some) == 0:
		case len(some) == 1 || size(some) <= room:
			parts = append(parts, shard{from, some})
		case high-low == 1:
			at := 0
			if some[0] == from { // the one that ends here
				parts, at = append(parts, shard{from, some[:1]}), 1
			}
			split(some[at:], from, 0, 128)
		default:
			middle := (low + high) / 2
			at, _ := slices.BinarySearch(some, prefix+string(rune(middle)))
			split(some[:at], prefix, low, middle)
			split(some[at:], prefix, middle, high)
		}
	}
	split(keys, "", 0, 128) // keys are ASCII
	if len(parts) == 0 {
		parts = []shard{{}}
	}
	parts[0].from = ""
	return parts
}

// split returns the data of each shard, including the header.
func split(header, list map[string]string, room int) []map[string]string {
	parts := shards(list, room)
	all := make([]map[string]string, len(parts))
	for i, part := range parts {
		all[i] = maps.Clone(header)
		for _, key := range part.keys {
			all[i][key] = list[key]
		}
		if part.from != "" {
			all[i]["from"] = part.from
		}
		if i+1 < len(parts) {
			all[i]["to"] = parts[i+1].from
		}
	}
	return all
}
