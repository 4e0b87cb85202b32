package sinkhole

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// resource is a resource of the Kubernetes API.
type resource struct {
	groupVersion, plural, kind string
	namespaced                 bool
}

// resources are those of every cluster that clients commonly use ("Kubernetes API
// Reference").
var resources = []resource{
	{"v1", "pods", "Pod", true}, {"v1", "services", "Service", true}, {"v1", "configmaps", "ConfigMap", true}, {"v1", "secrets", "Secret", true},
	{"v1", "serviceaccounts", "ServiceAccount", true}, {"v1", "persistentvolumeclaims", "PersistentVolumeClaim", true}, {"v1", "events", "Event", true},
	{"v1", "replicationcontrollers", "ReplicationController", true}, {"v1", "endpoints", "Endpoints", true},
	{"v1", "namespaces", "Namespace", false}, {"v1", "nodes", "Node", false}, {"v1", "persistentvolumes", "PersistentVolume", false},
	{"apps/v1", "deployments", "Deployment", true}, {"apps/v1", "statefulsets", "StatefulSet", true}, {"apps/v1", "daemonsets", "DaemonSet", true},
	{"apps/v1", "replicasets", "ReplicaSet", true}, {"batch/v1", "jobs", "Job", true}, {"batch/v1", "cronjobs", "CronJob", true},
	{"networking.k8s.io/v1", "ingresses", "Ingress", true}, {"networking.k8s.io/v1", "networkpolicies", "NetworkPolicy", true},
	{"rbac.authorization.k8s.io/v1", "roles", "Role", true}, {"rbac.authorization.k8s.io/v1", "rolebindings", "RoleBinding", true},
	{"rbac.authorization.k8s.io/v1", "clusterroles", "ClusterRole", false}, {"storage.k8s.io/v1", "storageclasses", "StorageClass", false},
	{"metrics.k8s.io/v1beta1", "pods", "PodMetrics", true}, {"metrics.k8s.io/v1beta1", "nodes", "NodeMetrics", false},
}

// The paths of the Kubernetes API ("API Concepts"): of a group version, of its resources
// with name and subresource, and of its OpenAPI document.
var (
	groupVersion = lazyregexp.New(`^/(?:api/(v\d\w*)|apis/([a-z][\w.-]*/v\d\w*))/?$`)
	resourcePath = lazyregexp.New(`^/(?:api/(v\d\w*)|apis/([a-z][\w.-]*/v\d\w*))/(?:namespaces/([^/]+)/([a-z]+)|([a-z]+))(?:/([^/]+)(?:/([a-z]+))?)?$`)
	openAPIPath  = lazyregexp.New(`^/openapi/v3/(?:api/(v\d\w*)|apis/([a-z][\w.-]*/v\d\w*))$`)
)

// kubernetes answers as a cluster with one object of each kind would, and returns created
// objects as they were sent; nil for other requests.
func kubernetes(r *http.Request, sent []byte) any {
	client := strings.Contains(r.Header.Get("Accept"), "k8s.io") || strings.Contains(strings.ToLower(r.UserAgent()), "kube") ||
		strings.HasSuffix(r.Host, ":6443") || strings.HasPrefix(r.Host, "kubernetes")
	if !client {
		return nil
	}
	version, schema, of := groupVersion.FindStringSubmatch(r.URL.Path), openAPIPath.FindStringSubmatch(r.URL.Path), resourcePath.FindStringSubmatch(r.URL.Path)
	switch {
	case r.URL.Path == "/version":
		return map[string]any{"major": "1", "minor": "30", "gitVersion": "v1.30.0", "platform": "linux/amd64"}
	case r.URL.Path == "/api":
		return map[string]any{"kind": "APIVersions", "versions": []string{"v1"}}
	case r.URL.Path == "/apis":
		return map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": apiGroups()}
	case r.URL.Path == "/openapi/v3":
		return map[string]any{"paths": openAPIPaths()}
	case schema != nil:
		return openAPI(schema[1] + schema[2])
	case version != nil:
		return apiResources(version[1] + version[2])
	case of != nil:
		return ofResource(r.Method, of, sent)
	default:
		return nil
	}
}

// groupVersions returns all group versions, the core's first.
func groupVersions() (all []string) {
	for _, one := range resources {
		if !slices.Contains(all, one.groupVersion) {
			all = append(all, one.groupVersion)
		}
	}
	return all
}

func apiGroups() (all []any) {
	for _, of := range groupVersions()[1:] {
		group, version, _ := strings.Cut(of, "/")
		one := map[string]any{"groupVersion": of, "version": version}
		all = append(all, map[string]any{"name": group, "versions": []any{one}, "preferredVersion": one})
	}
	return all
}

func apiResources(of string) any {
	list := []any{}
	for _, one := range resources {
		if one.groupVersion == of {
			list = append(list, map[string]any{
				"name": one.plural, "singularName": strings.ToLower(one.kind), "kind": one.kind, "namespaced": one.namespaced,
				"verbs": []string{"create", "delete", "get", "list", "patch", "update", "watch"},
			})
		}
	}
	return map[string]any{"kind": "APIResourceList", "groupVersion": of, "resources": list}
}

func openAPIPaths() map[string]any {
	paths := map[string]any{}
	for _, of := range groupVersions() {
		at := "apis/" + of
		if !strings.Contains(of, "/") {
			at = "api/" + of
		}
		paths[at] = map[string]any{"serverRelativeURL": "/openapi/v3/" + at}
	}
	return paths
}

// openAPI declares that the server validates the fields of each resource: otherwise
// kubectl would need schemas to validate them itself. It has what kubectl explains.
func openAPI(of string) any {
	group, version, _ := strings.Cut(of, "/")
	if version == "" {
		group, version = "", of
	}
	at, paths, schemas := "/apis/"+of+"/", map[string]any{}, map[string]any{}
	if group == "" {
		at = "/api/" + of + "/"
	}
	for _, one := range resources {
		if one.groupVersion == of {
			kind := map[string]any{"group": group, "version": version, "kind": one.kind}
			schemas[one.kind] = map[string]any{
				"type": "object", "description": pageText, "x-kubernetes-group-version-kind": []any{kind},
				"properties": map[string]any{"apiVersion": map[string]any{"type": "string"}, "kind": map[string]any{"type": "string"}, "metadata": map[string]any{"type": "object"}},
			}
			paths[at+one.plural+"/{name}"] = map[string]any{"patch": map[string]any{
				"parameters":                      []any{map[string]any{"name": "fieldValidation", "in": "query", "schema": map[string]any{"type": "string"}}},
				"x-kubernetes-group-version-kind": kind,
				"responses":                       map[string]any{},
			}}
		}
	}
	return map[string]any{"openapi": "3.0.0", "info": map[string]any{"title": "Kubernetes", "version": "v1.30.0"}, "paths": paths, "components": map[string]any{"schemas": schemas}}
}

// ofResource answers a request for a resource; part is the match of resourcePath.
func ofResource(method string, part []string, sent []byte) any {
	apiVersion, namespace, plural, name, sub := part[1]+part[2], part[3], part[4]+part[5], part[6], part[7]
	kind := strings.ToUpper(plural[:1]) + strings.TrimSuffix(plural[1:], "s")
	if i := slices.IndexFunc(resources, func(one resource) bool { return one.groupVersion == apiVersion && one.plural == plural }); i >= 0 {
		kind = resources[i].kind
	}
	object := clusterObject(apiVersion, kind, cmp.Or(namespace, "default"), cmp.Or(name, "notes"))
	switch {
	case sub == "log":
		return "note"
	case method == http.MethodDelete:
		return map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Success"}
	case method == http.MethodGet && name == "":
		return map[string]any{"kind": kind + "List", "apiVersion": apiVersion, "metadata": map[string]any{"resourceVersion": "1"}, "items": []any{object}}
	case method == http.MethodPost || method == http.MethodPut:
		return made(object, sent)
	default:
		return object
	}
}

// clusterObject returns a healthy object.
func clusterObject(apiVersion, kind, namespace, name string) map[string]any {
	ready := map[string]any{"type": "Ready", "status": "True", "reason": "Note", "message": "note", "lastTransitionTime": moment}
	object := map[string]any{
		"apiVersion": apiVersion, "kind": kind,
		"metadata": map[string]any{
			"name": name, "namespace": namespace, "uid": "00000000-0000-4000-8000-000000000001", "resourceVersion": "1", "generation": 1,
			"creationTimestamp": moment, "labels": map[string]any{"app": "notes"},
		},
		"status": map[string]any{
			"phase": "Running", "observedGeneration": 1, "replicas": 1, "readyReplicas": 1, "updatedReplicas": 1, "availableReplicas": 1, "conditions": []any{ready},
		},
	}
	switch kind {
	case "Pod":
		object["spec"] = map[string]any{"nodeName": "node", "containers": []any{map[string]any{"name": "note", "image": "note:1"}}}
	case "PodMetrics", "NodeMetrics":
		usage := map[string]any{"cpu": "10m", "memory": "10Mi"}
		object["timestamp"], object["window"], object["usage"], object["containers"] = moment, "30s", usage, []any{map[string]any{"name": "note", "usage": usage}}
	case "ConfigMap", "Secret":
		object["data"] = map[string]any{"note": "bWlsaw=="}
	case "Deployment", "StatefulSet", "ReplicaSet", "DaemonSet", "Job":
		labels := map[string]any{"app": "notes"}
		object["spec"] = map[string]any{"replicas": 1, "selector": map[string]any{"matchLabels": labels}, "template": map[string]any{
			"metadata": map[string]any{"labels": labels}, "spec": map[string]any{"containers": []any{map[string]any{"name": "note", "image": "note:1"}}},
		}}
	default:
		object["spec"] = map[string]any{}
	}
	return object
}

// made returns an object as it was sent, with what the cluster adds.
func made(object map[string]any, sent []byte) any {
	var body map[string]any
	if json.Unmarshal(sent, &body) != nil {
		return object
	}
	for name, value := range body {
		own, both := object[name].(map[string]any)
		if more, is := value.(map[string]any); is && both {
			maps.Copy(own, more)
			continue
		}
		object[name] = value
	}
	return object
}
