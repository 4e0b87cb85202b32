package imageindex

import (
	"cmp"
	"slices"
)

// Entry is an image, or another index, that an index names.
type Entry struct {
	Digest  string
	IsIndex bool
}

// buildkit is the annotation of BuildKit's attestations, which are no images.
const buildkit = "vnd.docker.reference.type"

// Fitting returns what may be for linux on an architecture, each once. Of several that are for
// some nodes only, it returns those for any. Unlike Choose, it includes what has no platform: who
// asks has to compare the image's config.
func (d Document) Fitting(architecture string) []Entry {
	var all, plain []Entry
	for _, child := range d.children {
		entry := Entry{child.Digest, slices.Contains(indexTypes, child.MediaType)}
		p, known, _ := child.platform()
		switch {
		case !entry.IsIndex && !slices.Contains(imageTypes, child.MediaType), child.Annotations[buildkit] != "",
			known && (p.OS != "linux" || p.Architecture != architecture), slices.Contains(all, entry):
			continue
		}
		all = append(all, entry)
		if !known || p.isPlain() {
			plain = append(plain, entry)
		}
	}
	if len(plain) > 0 {
		return plain
	}
	return all
}

// Platforms returns up to most of the platforms that the index names, such as "linux/arm64/v8".
func (d Document) Platforms(most int) (names []string) {
	for _, child := range d.children[:min(len(d.children), most)] {
		if p, known, _ := child.platform(); known {
			name := cmp.Or(p.OS, "?") + "/" + cmp.Or(p.Architecture, "?")
			if p.Variant != "" {
				name += "/" + p.Variant
			}
			names = append(names, name)
		}
	}
	return names
}
