package discovery

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// maxName keeps the name of an audit short enough for a label.
const maxName = 63

// auditName is the name of the audit of a source: the prefix of its kind, and its
// own. Kind and name identify a source in its namespace, so that two sources have
// two names; a name that had to be cut ends in a part of the digest of the whole.
func auditName(r resource, source string) string {
	name := r.prefix + "-" + source
	if len(name) <= maxName {
		return name
	}
	const digits = 10
	digest := sha256.Sum256([]byte(name))
	return strings.TrimRight(name[:maxName-digits-1], "-.") + "-" + hex.EncodeToString(digest[:])[:digits]
}

// ours reports whether discovery made the audit: a copy that somebody made of one has
// the labels, and another name.
func ours(audit *v1alpha1.MCPServerAudit) bool {
	if audit.Labels[LabelDiscoveredBy] == "" {
		return false
	}
	r, known := resourceOf(audit.Labels[LabelSourceKind])
	return known && auditName(r, audit.Annotations[annotationSourceName]) == audit.Name
}
