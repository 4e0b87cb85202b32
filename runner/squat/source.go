package squat

import "embed"

// Source is this package's own: a part of what rules.Digest is made of.
//
//go:embed *.go known.txt
var Source embed.FS
