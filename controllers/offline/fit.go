package offline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

// A policy's lists cover audits and exceptions of many namespaces. Authors in one of them must
// not be able to make a ConfigMap that the API server rejects, which would freeze the lists for
// all. What does not fit is denied, and the policy's condition says so.
const (
	// maxBucket bounds an entry, and maxTold the encoded words of a command line, in bytes:
	// longer ones are known only by digest.
	maxBucket = maxShard / 4
	maxTold   = 2 << 10
	// maxExceptions bounds all exceptions of a policy and maxException one of them, in bytes;
	// maxOfNamespace bounds the entries per namespace, as each is named beside its images.
	maxExceptions  = maxShard / 2
	maxException   = 8 << 10
	maxOfNamespace = 64
)

// fit replaces the longest lines by a short one, or removes them if that is empty, until every
// entry fits. It returns how many were replaced.
func fit(list map[string][]string, short string) (replaced int) {
	sizes, of := map[string]int{}, map[string][]string{}
	size := func(key string) int { return len(key) + len(strings.Join(list[key], "\r")) + 2 }
	for key := range list {
		bucket := bucketOf(key)
		sizes[bucket] += size(key)
		of[bucket] = append(of[bucket], key)
	}
	for bucket, keys := range of {
		if sizes[bucket] <= maxBucket {
			continue
		}
		slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(size(b), size(a)), strings.Compare(a, b)) })
		for _, key := range keys {
			if sizes[bucket] <= maxBucket {
				break
			}
			sizes[bucket] -= size(key)
			delete(list, key)
			if short != "" {
				list[key] = []string{short}
				sizes[bucket] += size(key)
			}
			replaced++
		}
	}
	return replaced
}

// listed chooses the exceptions that fit, taking turns between namespaces.
func listed(all []*v1alpha1.MCPAuditException) (some []*v1alpha1.MCPAuditException, leftOut int) {
	type turn struct {
		place int
		*v1alpha1.MCPAuditException
	}
	of, turns := map[string]int{}, make([]turn, len(all))
	for i, e := range all {
		of[e.Namespace]++
		turns[i] = turn{of[e.Namespace], e}
	}
	slices.SortStableFunc(turns, func(a, b turn) int { return cmp.Compare(a.place, b.place) })
	room := maxExceptions
	for _, t := range turns {
		size := len(hash("")) + len(t.Namespace) + len(requirements(t.Spec.ObjectSelector)) + 64
		if t.place > maxOfNamespace || size > maxException || size > room {
			leftOut++
			continue
		}
		room -= size
		some = append(some, t.MCPAuditException)
	}
	slices.SortFunc(some, byName)
	return some, leftOut
}

func byName(a, b *v1alpha1.MCPAuditException) int {
	return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
}

// excepts reports whether an exception counts for the policy now.
func (r *rule) excepts(e *v1alpha1.MCPAuditException, w World) bool {
	read, err := gate.ReadException(e)
	return err == nil && e.Spec.PolicyRef == (v1alpha1.PolicyReference{Kind: r.kind, Name: r.name}) &&
		(r.namespace == "" || e.Namespace == r.namespace) && w.Facts.Now.Before(read.Expires)
}

// note adds a note to the policy's condition that its lists are incomplete.
func (o *Objects) note(r *rule, format string, args ...any) {
	if o.Notes == nil {
		o.Notes = map[Policy]string{}
	}
	o.Notes[r.policy()] = fmt.Sprintf(format, args...)
}
