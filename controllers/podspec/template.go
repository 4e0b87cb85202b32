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

// ErrTemplate says that a Pod template asks for what it may not choose.
var ErrTemplate = errors.New("the Pod template cannot be used")

// overlay lays Pod templates over a Pod, each over those before, by strategic merge:
// maps are merged, affinity by its fields, topologySpreadConstraints by topologyKey,
// and tolerations are replaced. Only the fields of a PodTemplate go in and come out, so
// that whatever a template says the rest of the Pod is as it was.
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

// nodeLossSeconds is how long a node may be silent, once the node controller has said
// so, before its audit is given up. The cluster's default is 300, in which a lost node
// would hold a slot for an audit that another one could make.
const nodeLossSeconds = 60

// withNodeLoss adds what the API server would add with its own default, unless a
// template says it.
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

// CheckTemplate tells what is wrong with a template, all of it at once. A key that is
// no qualified name may be a directive of the merge ($patch). Of labels and annotations
// with a prefix only those in allowed are accepted, see KeyAllowed: runtimes, network
// plugins and injectors take orders by them, such as to attach a device or to add a
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

// AllKeys as an entry of allowed lets every key in that is not the operator's own.
const AllKeys = "*"

// KeyAllowed reports whether a label or annotation is in a list, whose entries are keys,
// or prefixes as "kueue.x-k8s.io/*". A key without a prefix always is: by the
// conventions of Kubernetes it is private to its user, and no program's.
func KeyAllowed(key string, allowed []string) bool {
	prefix, _, hasPrefix := strings.Cut(key, "/")
	return !hasPrefix || slices.Contains(allowed, AllKeys) || slices.Contains(allowed, key) || slices.Contains(allowed, prefix+"/*")
}

// isOwn is about what the operator finds its Pods by, what decides on their network,
// and what keeps others from adding to them.
func isOwn(key string) bool {
	prefix, _, hasPrefix := strings.Cut(key, "/")
	if hasPrefix && (prefix == v1alpha1.GroupVersion.Group || strings.HasSuffix(prefix, "."+v1alpha1.GroupVersion.Group)) {
		return true
	}
	_, label := meshLabels[key]
	_, annotation := meshAnnotations[key]
	return label || annotation || key == LabelManagedBy
}
