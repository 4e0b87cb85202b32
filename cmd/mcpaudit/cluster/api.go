package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
)

// The resources in API paths.
const (
	auditResource  = "mcpserveraudits"
	reportResource = "mcpauditreports"
)

// fieldManager is this program's field manager.
const fieldManager = "kubectl-mcpaudit"

// pageSize is the page size of the audit list: a status may have 80 KB.
const pageSize = 100

// api is a client of the API server. Its errors are written for users.
type api struct {
	name      string // what a user types before a command
	namespace string
	host      string
	audits    *rest.RESTClient // of the group mcpaudit.dev
	core      *rest.RESTClient
}

func (a *api) audit(ctx context.Context, name string) (*v1alpha1.MCPServerAudit, error) {
	var audit v1alpha1.MCPServerAudit
	err := decode(ctx, a.audits.Get().Namespace(a.namespace).Resource(auditResource).Name(name), &audit)
	return &audit, a.explain(err, anAudit, name)
}

// report reads a report; nil if it does not exist.
func (a *api) report(ctx context.Context, name string) (*v1alpha1.MCPAuditReport, error) {
	var r v1alpha1.MCPAuditReport
	err := a.explain(decode(ctx, a.audits.Get().Namespace(a.namespace).Resource(reportResource).Name(name), &r), aReport, name)
	if errors.Is(err, errAbsent) {
		return nil, nil
	}
	return &r, err
}

// reports lists the metadata of an audit's reports, latest first.
func (a *api) reports(ctx context.Context, audit *v1alpha1.MCPServerAudit) ([]metav1.PartialObjectMetadata, error) {
	all, err := a.metadata(ctx, reportResource, podspec.LabelUID+"="+string(audit.UID))
	slices.SortStableFunc(all, func(x, y metav1.PartialObjectMetadata) int {
		return y.CreationTimestamp.Compare(x.CreationTimestamp.Time)
	})
	return all, a.explain(err, aReport, "")
}

// metadata lists the metadata of objects.
func (a *api) metadata(ctx context.Context, resource, selector string) ([]metav1.PartialObjectMetadata, error) {
	var list metav1.PartialObjectMetadataList
	err := decode(ctx, a.audits.Get().Namespace(a.namespace).Resource(resource).Param("labelSelector", selector).
		SetHeader("Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"), &list)
	return list.Items, err
}

// each calls f with each audit of a namespace as JSON, or of all namespaces for "".
func (a *api) each(ctx context.Context, namespace, selector string, f func(json.RawMessage) error) error {
	next := ""
	for {
		var page struct {
			metav1.ListMeta `json:"metadata"`
			Items           []json.RawMessage `json:"items"`
		}
		request := a.audits.Get().Namespace(namespace).Resource(auditResource).
			Param("limit", fmt.Sprint(pageSize)).Param("continue", next).Param("labelSelector", selector)
		if err := decode(ctx, request, &page); err != nil {
			return a.explain(err, anAudit, "")
		}
		for _, item := range page.Items {
			if err := f(item); err != nil {
				return err
			}
		}
		if next = page.Continue; next == "" {
			return nil
		}
	}
}

func (a *api) create(ctx context.Context, audit *v1alpha1.MCPServerAudit) (*v1alpha1.MCPServerAudit, error) {
	body, err := json.Marshal(audit)
	if err != nil {
		return nil, fmt.Errorf("encode audit: %w", err)
	}
	var created v1alpha1.MCPServerAudit
	err = decode(ctx, a.audits.Post().Namespace(a.namespace).Resource(auditResource).
		Param("fieldManager", fieldManager).Param("fieldValidation", "Strict").Body(body), &created)
	return &created, a.explain(err, anAudit, audit.Name)
}

// patch applies a JSON merge patch to an audit.
func (a *api) patch(ctx context.Context, name string, patch []byte) error {
	err := a.audits.Patch(types.MergePatchType).Namespace(a.namespace).Resource(auditResource).Name(name).
		Param("fieldManager", fieldManager).Body(patch).Do(ctx).Error()
	return a.explain(err, anAudit, name)
}

// delete deletes an audit unless it was recreated meanwhile.
func (a *api) delete(ctx context.Context, audit *v1alpha1.MCPServerAudit) error {
	body, err := json.Marshal(metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &audit.UID}})
	if err != nil {
		return fmt.Errorf("encode options: %w", err)
	}
	err = a.audits.Delete().Namespace(a.namespace).Resource(auditResource).Name(audit.Name).Body(body).Do(ctx).Error()
	return a.explain(err, anAudit, audit.Name)
}

// pod finds the Pod of the audit in progress; nil if there is none.
func (a *api) pod(ctx context.Context, runs string, audit *v1alpha1.MCPServerAudit) (*corev1.Pod, error) {
	var list corev1.PodList
	err := decode(ctx, a.core.Get().Namespace(runs).Resource("pods").Param("labelSelector", podspec.LabelUID+"="+string(audit.UID)), &list)
	if err != nil {
		return nil, a.explain(err, aPod, "")
	}
	if len(list.Items) == 0 {
		return nil, nil
	}
	newest := slices.MaxFunc(list.Items, func(x, y corev1.Pod) int { return x.CreationTimestamp.Compare(y.CreationTimestamp.Time) })
	return &newest, nil
}

func (a *api) log(ctx context.Context, pod *corev1.Pod, container string, follow bool) (io.ReadCloser, error) {
	stream, err := a.core.Get().Namespace(pod.Namespace).Resource("pods").Name(pod.Name).SubResource("log").
		Param("container", container).Param("follow", fmt.Sprint(follow)).Stream(ctx)
	return stream, a.explain(err, aLog, pod.Name)
}

// decode sends a request and decodes the JSON of the response.
func decode(ctx context.Context, request *rest.Request, into any) error {
	result := request.Do(ctx)
	if err := result.Error(); err != nil { // the error of Raw lacks the Status
		return err
	}
	raw, err := result.Raw()
	if err != nil {
		return err
	}
	if err := json.NewDecoder(bytes.NewReader(raw)).Decode(into); err != nil {
		return fmt.Errorf("read response of the API server: %w", err)
	}
	return nil
}

// place returns "namespace/name" for messages.
func place(audit *v1alpha1.MCPServerAudit) string {
	return strings.TrimPrefix(audit.Namespace+"/"+audit.Name, "/")
}
