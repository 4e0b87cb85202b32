// Package dist holds a release to what docs/releases.md says of it: two builds of
// the same sources, in two folders, are the same byte for byte (make test-dist).
package dist
