// Package containerd holds api/imageindex to the code by which containerd
// chooses the manifest of an index: where we say that every runtime runs one manifest,
// containerd has to run it, too.
package containerd
