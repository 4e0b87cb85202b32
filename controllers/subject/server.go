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

// An MCPServer is read twice: its server by controllers/source, as discovery does, and
// here what its Pods run besides. Either may fail by itself: then there is a container
// that says so, because the versions of these kinds come and go with their operators.

// nameServer names a server here, whatever its operator calls its container.
const nameServer = "server"

// maxUnclear is the most bytes of JSON of what is said about a container.
const maxUnclear = source.MaxNotAuditable

// server is the subject of an MCPServer, with what its Pods run besides the server.
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

// unreadable stands for what may be run and cannot be read.
func unreadable(why string) gate.Container {
	return gate.Container{Name: nameServer, Role: gate.RoleServer, Unclear: excerpt.Line("It cannot be read: "+why+".", maxUnclear)}
}

// readToolHive reads the Pod template, which is a patch of the Pod of the server.
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

// errCase is about a field that has two names.
var errCase = errors.New("podTemplateSpec has a field whose name differs from its own in the case of a letter")

// patch reads a Pod template that the API server stores as it is, and ToolHive decodes
// by encoding/json, for which the case of names does not count.
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
	// The first of this name is the server itself.
	if i := slices.IndexFunc(strict.Spec.Containers, func(c container) bool { return c.Name == source.ToolHiveContainer }); i >= 0 {
		strict.Spec.Containers = slices.Delete(strict.Spec.Containers, i, i+1)
	}
	return &strict, nil
}

// kmcpPod has what an MCPServer of kmcp says of its Pods: in older versions where they
// are run is an override of its own.
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
}

func (p placement) isEmpty() bool {
	return len(p.Labels)+len(p.NodeSelector)+len(p.Affinity.NodeAffinity.Required.Terms) == 0
}

// readKmcp reads the sidecars, the volumes, and the image of the adapter that a server
// by stdio is run behind.
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
		}}
		if image := deployment.InitContainer.Image; image != "" { // by default it is kmcp's own
			p.Spec.InitContainers = []container{{Name: "copy-binary", Image: image, Args: []string{"--copy-self", "/adapterbin/agentgateway"}}}
		}
		return p, nil
	})
}

// readLifecycle reads the labels of the Pods: they run nothing but the server.
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
