package subject

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
	"github.com/mcpaudit/mcpaudit/controllers/source"
)

// An MCPServer is read twice: its server by controllers/source, as in discovery, and the rest
// of its Pods here. Either may fail separately, which adds a container that says so, as the
// versions of these kinds change with their operators.

// nameServer names the server, whatever its operator names the container.
const nameServer = "server"

// maxUnclear bounds Unclear in bytes of JSON.
const maxUnclear = source.MaxNotAuditable

// server returns the subject of an MCPServer, including the rest of its Pods.
func server(group string, object []byte, besides func() (*pod, error)) (gate.Subject, error) {
	var own struct {
		Metadata metadata `json:"metadata"`
	}
	if err := source.Decode(object, &own); err != nil {
		return gate.Subject{}, err
	}
	subject := own.Metadata.subject(v1alpha1.TargetMCPServers)
	if c := source.Server(schema.GroupKind{Group: group, Kind: mcp}, object); c != nil {
		subject.Containers = []gate.Container{{
			Name: nameServer, Role: gate.RoleServer, Image: c.Image, Command: c.Command, Args: c.Args, Unclear: c.Unclear,
			Environment: environmentOf(c.Env, c.WorkingDir, c.Additions), Additions: additionsOf(c.Additions),
		}}
	}
	template, err := besides()
	if err != nil {
		subject.Containers = append(subject.Containers, unreadable(err.Error()))
		return subject, nil
	}
	subject.TemplateLabels = template.Metadata.Labels
	template.Spec.pin(&subject)
	subject.Containers = append(subject.Containers, template.Spec.images()...)
	return subject, nil
}

// unreadable returns a container in place of what cannot be read.
func unreadable(why string) gate.Container {
	return gate.Container{Name: nameServer, Role: gate.RoleServer, Unclear: excerpt.Line("It cannot be read: "+why+".", maxUnclear)}
}

// readToolHive reads the Pod template, a patch of the server's Pod.
func readToolHive(object []byte) (gate.Subject, error) {
	return server(source.GroupToolHive, object, func() (*pod, error) {
		var t struct {
			Spec struct {
				PodTemplateSpec json.RawMessage `json:"podTemplateSpec"`
			} `json:"spec"`
		}
		if err := source.Decode(object, &t); err != nil {
			return nil, err
		}
		return patch(t.Spec.PodTemplateSpec)
	})
}

// errCase is for a field in two spellings.
var errCase = errors.New("podTemplateSpec has a field whose name differs from its own in the case of a letter")

// patch reads a Pod template that the API server stores as it is and ToolHive decodes with
// encoding/json, which ignores the case of names.
func patch(template []byte) (*pod, error) {
	var strict, loose pod
	if len(template) == 0 {
		return &strict, nil
	}
	if err := source.Decode(template, &strict); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(template, &loose); err != nil {
		return nil, err
	}
	if !reflect.DeepEqual(strict, loose) {
		return nil, errCase
	}
	// The first container of this name is the server.
	if i := slices.IndexFunc(strict.Spec.Containers, func(c container) bool { return c.Name == source.ToolHiveContainer }); i >= 0 {
		strict.Spec.Containers = slices.Delete(strict.Spec.Containers, i, i+1)
	}
	return &strict, nil
}

// kmcpPod has the Pod fields of a kmcp MCPServer; older versions have separate overrides for
// placement.
type kmcpPod struct {
	placement
	Sidecars      []container `json:"sidecars"`
	Volumes       []volume    `json:"volumes"`
	InitContainer struct {
		Image string `json:"image"`
	} `json:"initContainer"`
	PodTemplate placement `json:"podTemplate"`
}

type placement struct {
	Labels       map[string]string `json:"labels"`
	NodeSelector map[string]string `json:"nodeSelector"`
	Affinity     affinity          `json:"affinity"`
	Tolerations  []toleration      `json:"tolerations"`
}

func (p placement) isEmpty() bool {
	return len(p.Labels)+len(p.NodeSelector)+len(p.Affinity.NodeAffinity.Required.Terms) == 0
}

// readKmcp reads the sidecars, the volumes, and the image of the adapter of a stdio server.
func readKmcp(object []byte) (gate.Subject, error) {
	return server(source.GroupKmcp, object, func() (*pod, error) {
		var k struct {
			Spec struct {
				Deployment kmcpPod `json:"deployment"`
			} `json:"spec"`
		}
		if err := source.Decode(object, &k); err != nil {
			return nil, err
		}
		deployment := k.Spec.Deployment
		at := deployment.placement
		if at.isEmpty() {
			at = deployment.PodTemplate
		}
		p := &pod{Metadata: metadata{Labels: at.Labels}, Spec: podSpec{
			Containers: deployment.Sidecars, Volumes: deployment.Volumes, NodeSelector: at.NodeSelector, Affinity: at.Affinity,
			Tolerations: slices.Concat(deployment.Tolerations, deployment.PodTemplate.Tolerations),
		}}
		if image := deployment.InitContainer.Image; image != "" { // the default is kmcp's own
			p.Spec.InitContainers = []container{{Name: "copy-binary", Image: image, Args: []string{"--copy-self", "/adapterbin/agentgateway"}}}
		}
		return p, nil
	})
}

// readLifecycle reads the Pod labels: these Pods run only the server.
func readLifecycle(object []byte) (gate.Subject, error) {
	return server(source.GroupLifecycle, object, func() (*pod, error) {
		var l struct {
			Spec struct {
				ExtraLabels map[string]string `json:"extraLabels"`
			} `json:"spec"`
		}
		err := source.Decode(object, &l)
		return &pod{Metadata: metadata{Labels: l.Spec.ExtraLabels}}, err
	})
}
