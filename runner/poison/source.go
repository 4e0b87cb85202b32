package poison

import "embed"

// Source is this package's own: a part of what rules.Digest is made of.
//
//go:embed *.go
var Source embed.FS
