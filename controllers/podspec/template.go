package podspec

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// ErrTemplate means that a Pod template uses what it may not.
var ErrTemplate = errors.New("the Pod template cannot be used")

// overlay applies Pod templates to a Pod in order, by strategic merge: maps are merged,
// affinity by its fields, topologySpreadConstraints by topologyKey, and tolerations are
// replaced. Only the fields of a PodTemplate are copied, so no template can change anything
// else.
func overlay(pod *corev1.Pod, templates ...*v1alpha1.PodTemplate) error {
	selected := pod.Spec.NodeSelector
	merged, err := json.Marshal(v1alpha1.PodTemplate{
		Metadata: v1alpha1.PodTemplateMetadata{Labels: pod.Labels, Annotations: pod.Annotations},
		Spec:     v1alpha1.PodTemplateSpec{NodeSelector: selected},
	})
	if err != nil {
		return fmt.Errorf("encode pod: %w", err)
	}
	for _, template := range templates {
		if template == nil {
			continue
		}
		patch, err := json.Marshal(template)
		if err != nil {
			return fmt.Errorf("encode pod template: %w", err)
		}
		if merged, err = strategicpatch.StrategicMergePatch(merged, patch, corev1.Pod{}); err != nil {
			return fmt.Errorf("%w: %w", ErrTemplate, err)
		}
	}
	var result v1alpha1.PodTemplate
	if err := json.Unmarshal(merged, &result); err != nil {
		return fmt.Errorf("decode merged pod: %w", err)
	}
	for key, value := range selected {
		if got := result.Spec.NodeSelector[key]; got != value {
			return fmt.Errorf("%w: nodeSelector %s is %q, and the image is run as %q: leave it out, or set platform in the operator's configuration",
				ErrTemplate, key, got, value)
		}
	}
	pod.Labels, pod.Annotations = result.Metadata.Labels, result.Metadata.Annotations
	pod.Spec.NodeSelector, pod.Spec.Tolerations = result.Spec.NodeSelector, withNodeLoss(result.Spec.Tolerations)
	pod.Spec.Affinity, pod.Spec.TopologySpreadConstraints = result.Spec.Affinity, result.Spec.TopologySpreadConstraints
	pod.Spec.PriorityClassName, pod.Spec.SchedulerName = result.Spec.PriorityClassName, result.Spec.SchedulerName
	return nil
}

// nodeLossSeconds is the toleration of an audit Pod for an unreachable node. With the cluster's
// default of 300, it would hold a slot that another audit could use.
const nodeLossSeconds = 60

// withNodeLoss adds the tolerations that the API server would otherwise add with its default,
// unless a template has them.
func withNodeLoss(tolerations []corev1.Toleration) []corev1.Toleration {
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		if !slices.ContainsFunc(tolerations, func(t corev1.Toleration) bool {
			return (t.Key == key || t.Key == "") && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "")
		}) {
			tolerations = append(tolerations, corev1.Toleration{
				Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(nodeLossSeconds)),
			})
		}
	}
	return tolerations
}

// CheckTemplate reports every problem with a template. A key that is no qualified name may be a
// merge directive ($patch). Prefixed labels and annotations must be in allowed, see KeyAllowed:
// runtimes, network plugins and injectors act on them, such as to attach a device or add a
// container.
func CheckTemplate(template *v1alpha1.PodTemplate, allowed []string) error {
	if template == nil {
		return nil
	}
	var problems []error
	complain := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("%w: "+format, append([]any{ErrTemplate}, args...)...))
	}
	labels, annotations := template.Metadata.Labels, template.Metadata.Annotations
	for field, keys := range map[string]map[string]string{
		"metadata.labels": labels, "metadata.annotations": annotations, "spec.nodeSelector": template.Spec.NodeSelector,
	} {
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			switch isMetadata := field != "spec.nodeSelector"; {
			case len(validation.IsQualifiedName(strings.ToLower(key))) > 0:
				complain("%s: %q is no name of a label", field, key)
			case isMetadata && isOwn(key):
				complain("%s: %s is the operator's own, remove it", field, key)
			case isMetadata && !KeyAllowed(key, allowed):
				complain("%s: %s is not among the allowedMetadata of the operator's configuration, remove it or have it added there", field, key)
			}
		}
	}
	for field, values := range map[string]map[string]string{"metadata.labels": labels, "spec.nodeSelector": template.Spec.NodeSelector} {
		for _, key := range slices.Sorted(maps.Keys(values)) {
			if len(validation.IsValidLabelValue(values[key])) > 0 {
				complain("%s: %q is no value for %s", field, values[key], key)
			}
		}
	}
	slices.SortFunc(problems, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(problems...)
}

// AllKeys in allowed permits all keys except the operator's own.
const AllKeys = "*"

// KeyAllowed reports whether a label or annotation is in a list of keys or prefixes
// ("kueue.x-k8s.io/*"). Keys without a prefix are always allowed: by convention they are
// private to the user.
func KeyAllowed(key string, allowed []string) bool {
	prefix, _, hasPrefix := strings.Cut(key, "/")
	return !hasPrefix || slices.Contains(allowed, AllKeys) || slices.Contains(allowed, key) || slices.Contains(allowed, prefix+"/*")
}

// isOwn reports whether a key identifies the operator's Pods, selects their network policy, or
// keeps injectors away.
func isOwn(key string) bool {
	prefix, _, hasPrefix := strings.Cut(key, "/")
	if hasPrefix && (prefix == v1alpha1.GroupVersion.Group || strings.HasSuffix(prefix, "."+v1alpha1.GroupVersion.Group)) {
		return true
	}
	_, label := meshLabels[key]
	_, annotation := meshAnnotations[key]
	return label || annotation || key == LabelManagedBy
}
