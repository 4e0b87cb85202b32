package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

const systemNamespace = "mcpaudit-system"

// labelTeam says which of the teams a namespace is.
const labelTeam = "gatebench"

// cluster is an API server with etcd, and what config/ has of the gate.
type cluster struct {
	environment *envtest.Environment
	config      *rest.Config // of an administrator, without limits
	client      client.Client
	clients     kubernetes.Interface
	// asks is the ValidatingWebhookConfiguration.
	asks *admissionv1.ValidatingWebhookConfiguration
	// kept holds what was made of the lists.
	kept []client.Object
}

// startCluster starts it. The caller stops it.
func startCluster(ctx context.Context, root string) (*cluster, error) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		return nil, errors.New("KUBEBUILDER_ASSETS is not set: run `make bench-gate`")
	}
	c := &cluster{environment: &envtest.Environment{ // a busy machine takes its time
		ControlPlaneStartTimeout: time.Minute, ControlPlaneStopTimeout: time.Minute,
	}}
	config, err := c.environment.Start()
	if err != nil {
		return nil, fmt.Errorf("start API server: %w", err)
	}
	if err := c.install(ctx, config, root); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return c, nil
}

func (c *cluster) stop() error { return c.environment.Stop() }

// install makes the clients, the namespaces and the policies, and reads how the webhook
// is asked.
func (c *cluster) install(ctx context.Context, config *rest.Config, root string) (err error) {
	c.config = rest.CopyConfig(config)
	c.config.QPS = -1
	if c.client, err = client.New(c.config, client.Options{}); err != nil {
		return fmt.Errorf("create client: %w", err)
	}
	if c.clients, err = kubernetes.NewForConfig(c.config); err != nil {
		return fmt.Errorf("create client: %w", err)
	}
	namespaces := []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: systemNamespace}}}
	for _, team := range teamLabels() {
		namespaces = append(namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: team.Name, Labels: team.Labels}})
	}
	for _, namespace := range namespaces {
		if err := c.client.Create(ctx, namespace); err != nil {
			return fmt.Errorf("create namespace: %w", err)
		}
	}
	// All of them: without a binding that stays, the API server would watch no ConfigMap
	// any more when the lists of one count are deleted and those of the next not there yet.
	if err := c.apply(ctx, filepath.Join(root, "config", "policy")); err != nil {
		return fmt.Errorf("apply policies: %w", err)
	}
	asks, err := os.ReadFile(filepath.Join(root, "config", "webhook", "configuration.yaml"))
	if err != nil {
		return err
	}
	c.asks = &admissionv1.ValidatingWebhookConfiguration{}
	if err := yaml.Unmarshal(asks, c.asks); err != nil {
		return fmt.Errorf("read configuration of the webhook: %w", err)
	}
	return nil
}

// apply creates what a kustomization has.
func (c *cluster) apply(ctx context.Context, path string) error {
	built, err := exec.CommandContext(ctx, kubectl(), "kustomize", path).Output()
	if err != nil {
		return fmt.Errorf("build manifests: %w", err)
	}
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(string(built)), 4096)
	for {
		object := &unstructured.Unstructured{}
		switch err := decoder.Decode(&object.Object); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := c.client.Create(ctx, object); err != nil {
			return err
		}
	}
}

// teamLabels are the namespaces in which workloads are created.
func teamLabels() []*metav1.PartialObjectMetadata {
	var all []*metav1.PartialObjectMetadata
	for _, team := range teams {
		namespace := metadataOf("Namespace")
		namespace.Name, namespace.Labels = team, map[string]string{labelTeam: team}
		if team != plain {
			namespace.Labels[v1alpha1.GateLabel] = v1alpha1.GateEnabled
		}
		all = append(all, namespace)
	}
	return all
}

// clusterPolicies are one for each way in which the API server enforces it as well.
func clusterPolicies() []*v1alpha1.ClusterMCPAuditPolicy {
	policy := func(name string, offline v1alpha1.OfflineGate, teams ...string) *v1alpha1.ClusterMCPAuditPolicy {
		return &v1alpha1.ClusterMCPAuditPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1},
			Spec: v1alpha1.ClusterMCPAuditPolicySpec{
				Match: &v1alpha1.ClusterMatch{NamespaceSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
					{Key: labelTeam, Operator: metav1.LabelSelectorOpIn, Values: teams},
				}}},
				Gate: &v1alpha1.Gate{Offline: offline}, Trust: &v1alpha1.Trust{AuditNamespaces: v1alpha1.AuditsAll},
			},
		}
	}
	return []*v1alpha1.ClusterMCPAuditPolicy{
		policy("online", v1alpha1.OfflineNone, webhook), policy("denied", v1alpha1.OfflineDenyFailed, lists, both),
		policy("passed", v1alpha1.OfflineRequirePassed, strict),
	}
}

// ask has the API server ask the gate at a URL, but for lists. A question that is not
// answered fails: else it would count as an answer.
func (c *cluster) ask(ctx context.Context, url string, authority []byte) error {
	asks := c.asks.DeepCopy()
	hook := &asks.Webhooks[0]
	hook.ClientConfig = admissionv1.WebhookClientConfig{URL: &url, CABundle: authority}
	hook.FailurePolicy = new(admissionv1.Fail)
	hook.NamespaceSelector.MatchExpressions = append(hook.NamespaceSelector.MatchExpressions,
		metav1.LabelSelectorRequirement{Key: labelTeam, Operator: metav1.LabelSelectorOpNotIn, Values: []string{lists}})
	if err := client.IgnoreNotFound(c.client.Delete(ctx, c.asks.DeepCopy())); err != nil {
		return fmt.Errorf("configure the webhook: %w", err)
	}
	if err := c.client.Create(ctx, asks); err != nil {
		return fmt.Errorf("configure the webhook: %w", err)
	}
	return nil
}
