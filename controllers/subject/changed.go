package subject

import (
	"fmt"
	"slices"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

// Changed returns new with only the containers that old lacks: what an update introduces. Other
// updates introduce nothing, so no later verdict blocks scaling, labelling or deleting what
// exists.
//
// Container names and object labels do not count, although policies may select by them: the
// same things run as before. Pods made from the object are checked with their final state when
// they are created.
func Changed(old, new gate.Subject) gate.Subject {
	if old.Architecture != new.Architecture || old.OS != new.OS || new.NodesByLabel && !old.NodesByLabel {
		return new // the name means another image on each platform
	}
	was := make(map[run]bool, len(old.Containers))
	for _, c := range old.Containers {
		was[runOf(c)] = true
	}
	changed := new
	changed.Containers = slices.DeleteFunc(slices.Clone(new.Containers), func(c gate.Container) bool {
		isKnown := c.Image != "" && c.Unclear != noText
		return isKnown && was[runOf(c)]
	})
	return changed
}

// run identifies what a container runs. Its order and role do not matter, except that running
// an image differs from mounting it. It is a map key because hostile objects have thousands of
// containers, to make the webhook exceed the API server's timeout.
type run struct {
	image   string
	mounted bool
	command v1alpha1.Digest
	// added is the text of variables and additions; fmt sorts maps.
	added string
}

func runOf(c gate.Container) run {
	return run{c.Image, c.Role == gate.RoleImageVolume, v1alpha1.CommandDigest(c.Command, c.Args), fmt.Sprintf("%#v %#v", c.Environment, c.Additions)}
}
