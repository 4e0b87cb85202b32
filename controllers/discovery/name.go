package discovery

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// maxName keeps the name of an audit short enough for a label.
const maxName = 63

// auditName returns the name of a source's audit: the prefix of its kind and its own name. A
// truncated name ends in part of a digest, so distinct sources have distinct names.
func auditName(r resource, source string) string {
	name := r.prefix + "-" + source
	if len(name) <= maxName {
		return name
	}
	const digits = 10
	digest := sha256.Sum256([]byte(name))
	return strings.TrimRight(name[:maxName-digits-1], "-.") + "-" + hex.EncodeToString(digest[:])[:digits]
}

// ours reports whether discovery made the audit: a copy of one has the labels but another name.
func ours(audit *v1alpha1.MCPServerAudit) bool {
	if audit.Labels[LabelDiscoveredBy] == "" {
		return false
	}
	r, known := resourceOf(audit.Labels[LabelSourceKind])
	return known && auditName(r, audit.Annotations[annotationSourceName]) == audit.Name
}
