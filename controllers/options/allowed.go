package options

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// Placement is Operator or Audit.
type Placement string

// Whether only the operator's configuration places audit Pods, or each audit may as well.
const (
	PlacementOperator Placement = "Operator"
	PlacementAudit    Placement = "Audit"
)

// NoLimit is the MaxImageBytes for images of any size.
const NoLimit = math.MaxInt64

// Allowed lists what the spec of an audit may use (section allowed of the configuration). The
// audit controller checks it before it builds a Pod, and reports errors in Ready with reason
// NotAllowed.
type Allowed struct {
	// Networks are the values of spec.sandbox.network.
	Networks []report.Network
	// URLs allows spec.server.url.
	URLs bool
	// Placement governs the fields of spec.sandbox.podTemplate.spec except priorityClassName.
	Placement Placement
	// PriorityClassNames and RuntimeClassNames are the values that a spec may use.
	PriorityClassNames, RuntimeClassNames []string
	// MaxTimeout bounds spec.timeout.
	MaxTimeout time.Duration
	// MaxImageBytes bounds an image by the sizes in its manifest.
	MaxImageBytes int64
	// NodeImages allows images that the manager could not resolve with the audit's credentials:
	// the kubelet uses what the node has or its own credentials can pull.
	NodeImages bool
}

// defaultAllowed returns the restrictive default.
func defaultAllowed() Allowed {
	const maxImage = 10 << 30
	return Allowed{
		Networks: []report.Network{report.NetworkSinkhole, report.NetworkDeny}, Placement: PlacementOperator,
		MaxTimeout: 15 * time.Minute, MaxImageBytes: maxImage,
	}
}

// Check returns everything in a spec that is not allowed, one line each with the field, its
// value and the configuration's key. operatorClass is the configured runtimeClassName, which
// every audit may use.
func (r Allowed) Check(spec v1alpha1.MCPServerAuditSpec, operatorClass string) error {
	var problems []error
	refuse := func(refused bool, field, value, key string) {
		if refused {
			problems = append(problems, fmt.Errorf("%s: %s is not allowed by %s of the operator's configuration", field, value, key))
		}
	}
	sandbox := spec.Sandbox
	if url := spec.Server.URL; url != "" {
		refuse(!r.URLs, "spec.server.url", quote(url), "allowed.urls")
	} else {
		network := cmp.Or(sandbox.Network, report.NetworkSinkhole)
		refuse(!slices.Contains(r.Networks, network), "spec.sandbox.network", string(network), "allowed.networks")
	}
	timeout := spec.Timeout.Duration
	refuse(timeout > r.MaxTimeout, "spec.timeout", timeout.String(), fmt.Sprintf("allowed.maxTimeout (%s)", r.MaxTimeout))
	class := sandbox.RuntimeClassName
	refuse(class != "" && class != operatorClass && !slices.Contains(r.RuntimeClassNames, class),
		"spec.sandbox.runtimeClassName", quote(class), "allowed.runtimeClassNames")
	if sandbox.PodTemplate != nil {
		template := sandbox.PodTemplate.Spec
		priority := template.PriorityClassName
		refuse(priority != "" && !slices.Contains(r.PriorityClassNames, priority),
			"spec.sandbox.podTemplate.spec.priorityClassName", quote(priority), "allowed.priorityClassNames")
		if fields := placing(template); r.Placement != PlacementAudit && len(fields) > 0 {
			refuse(true, "spec.sandbox.podTemplate.spec", strings.Join(fields, ", "), "allowed.placement (Operator)")
		}
	}
	return errors.Join(problems...)
}

// placing returns the fields of a template that affect scheduling.
func placing(template v1alpha1.PodTemplateSpec) []string {
	var fields []string
	for _, field := range []struct {
		name string
		set  bool
	}{
		{"nodeSelector", len(template.NodeSelector) > 0}, {"tolerations", len(template.Tolerations) > 0},
		{"affinity", template.Affinity != nil}, {"topologySpreadConstraints", len(template.TopologySpreadConstraints) > 0},
		{"schedulerName", template.SchedulerName != ""},
	} {
		if field.set {
			fields = append(fields, field.name)
		}
	}
	return fields
}

// CheckImage returns an error if an image is too large.
func (r Allowed) CheckImage(image string, size int64) error {
	if size <= r.MaxImageBytes {
		return nil
	}
	quantity := func(bytes int64) string { return resource.NewQuantity(bytes, resource.BinarySI).String() }
	return fmt.Errorf("spec.server.image: the layers of %s have %s, more than allowed.maxImageSize (%s) of the operator's configuration",
		quote(image), quantity(size), quantity(r.MaxImageBytes))
}

// quote quotes a spec value for a message and cuts long ones.
func quote(value string) string { return strconv.Quote(report.Cut(value, 128)) }
