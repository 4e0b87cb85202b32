package subject

import (
	"fmt"
	"slices"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

// Changed is new with those of its containers that old does not have: what an update
// brings in. An update of anything else brings in nothing, so that whoever scales or
// labels what is there, or lets go of it, is never in the way of a verdict that came
// later.
//
// The name of a container does not count, nor the labels of the object, although a
// policy may select by them: what runs is what ran. Pods that are made of the object
// anew are asked about when they are created, with what they are then.
func Changed(old, new gate.Subject) gate.Subject {
	if old.Architecture != new.Architecture || old.OS != new.OS {
		return new // by one name an image is another one on each platform
	}
	was := make(map[run]bool, len(old.Containers))
	for _, c := range old.Containers {
		was[runOf(c)] = true
	}
	changed := new
	changed.Containers = slices.DeleteFunc(slices.Clone(new.Containers), func(c gate.Container) bool {
		return c.Image != "" && was[runOf(c)] // of what has no image it is not known
	})
	return changed
}

// run describes what a container runs: those that have the same run the same. Whether they do
// so before, beside or after others does not matter; that an image is run which was
// only mounted does. It is a key of a map because an object has thousands of containers,
// if somebody wants the webhook to take longer than the API server waits.
type run struct {
	image   string
	mounted bool
	command v1alpha1.Digest
	// added is the text of what the container sets and adds, in which fmt sorts the variables.
	added string
}

func runOf(c gate.Container) run {
	return run{c.Image, c.Role == gate.RoleImageVolume, v1alpha1.CommandDigest(c.Command, c.Args), fmt.Sprintf("%#v %#v", c.Environment, c.Additions)}
}
