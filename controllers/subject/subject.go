// Package subject reads what an object runs: the images of Pods, of workloads, and of the
// MCPServer objects of ToolHive, kmcp and mcp.x-k8s.io. It is pure. The webhook
// (controllers/admission) uses it for what is to be admitted, the drift controller
// (controllers/drift) for what runs; controllers/gate decides.
//
// The input is hostile. Only relevant fields are decoded, with case-sensitive names as in the
// API server. What cannot be read is an error, or a container that says so: never an object
// that runs nothing.
package subject

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
	"github.com/mcpaudit/mcpaudit/controllers/source"
)

// ErrUnknown is for kinds and subresources whose images are unknown.
var ErrUnknown = errors.New("it is not known which images this runs")

// kinds has the supported kinds. All versions of a kind are read alike.
var kinds = map[schema.GroupKind]func(object []byte) (gate.Subject, error){
	{Kind: "Pod"}:                             readPod,
	{Kind: "PodTemplate"}:                     readPodTemplate,
	{Kind: "ReplicationController"}:           readWorkload,
	{Group: "apps", Kind: "Deployment"}:       readWorkload,
	{Group: "apps", Kind: "ReplicaSet"}:       readWorkload,
	{Group: "apps", Kind: "StatefulSet"}:      readWorkload,
	{Group: "apps", Kind: "DaemonSet"}:        readWorkload,
	{Group: "batch", Kind: "Job"}:             readWorkload,
	{Group: "batch", Kind: "CronJob"}:         readCronJob,
	{Group: source.GroupToolHive, Kind: mcp}:  readToolHive,
	{Group: source.GroupKmcp, Kind: mcp}:      readKmcp,
	{Group: source.GroupLifecycle, Kind: mcp}: readLifecycle,
}

const mcp = source.KindServer

// Read reads an object as JSON from an AdmissionReview, of a kind and an optional subresource.
// For generateName, the name is the prefix. Errors are ErrUnknown or about invalid JSON.
func Read(object []byte, kind schema.GroupVersionKind, subresource string) (gate.Subject, error) {
	read, known := kinds[kind.GroupKind()]
	if !known || subresource != "" && (kind.Kind != "Pod" || subresource != "ephemeralcontainers") {
		return gate.Subject{}, fmt.Errorf("read %s %s: %w", kind.GroupKind(), subresource, ErrUnknown)
	}
	if !bytes.HasPrefix(bytes.TrimSpace(object), []byte("{")) { // null would be an object without fields
		return gate.Subject{}, fmt.Errorf("read %s: it is no object", kind.Kind)
	}
	subject, err := read(object)
	if err != nil {
		return gate.Subject{}, fmt.Errorf("read %s: %w", kind.Kind, err)
	}
	subject.Kind = kind.Kind
	return subject, nil
}

// subject returns the common fields.
func (m metadata) subject(target v1alpha1.GateTarget) gate.Subject {
	return gate.Subject{Namespace: m.Namespace, Name: cmp.Or(m.Name, m.GenerateName), Labels: m.Labels, Target: target}
}

func readPod(object []byte) (gate.Subject, error) {
	var p pod
	err := source.Decode(object, &p)
	return p.subject(), err
}

func (p *pod) subject() gate.Subject {
	subject := p.Metadata.subject(v1alpha1.TargetPods)
	subject.Containers = p.Spec.images()
	p.Spec.pin(&subject)
	return subject
}

func readPodTemplate(object []byte) (gate.Subject, error) {
	var t struct {
		Metadata metadata `json:"metadata"`
		Template pod      `json:"template"`
	}
	err := source.Decode(object, &t)
	return workload(t.Metadata, &t.Template), err
}

func readWorkload(object []byte) (gate.Subject, error) {
	var w struct {
		Metadata metadata `json:"metadata"`
		Spec     struct {
			Template pod `json:"template"`
		} `json:"spec"`
	}
	err := source.Decode(object, &w)
	return workload(w.Metadata, &w.Spec.Template), err
}

func readCronJob(object []byte) (gate.Subject, error) {
	var c struct {
		Metadata metadata `json:"metadata"`
		Spec     struct {
			JobTemplate struct {
				Spec struct {
					Template pod `json:"template"`
				} `json:"spec"`
			} `json:"jobTemplate"`
		} `json:"spec"`
	}
	err := source.Decode(object, &c)
	return workload(c.Metadata, &c.Spec.JobTemplate.Spec.Template), err
}

func workload(m metadata, template *pod) gate.Subject {
	subject := m.subject(v1alpha1.TargetWorkloads)
	subject.TemplateLabels, subject.Containers = template.Metadata.Labels, template.Spec.images()
	template.Spec.pin(&subject)
	return subject
}
