package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/test/controlplane"
)

// labelTeam is the label with a namespace's team.
const labelTeam = "gatebench"

// cluster is an API server with the gate's part of config/.
type cluster struct {
	*controlplane.Cluster
	// webhooks is the deployed configuration.
	webhooks *admissionv1.ValidatingWebhookConfiguration
	// kept holds the compiled lists and their bindings.
	kept []client.Object
}

// startCluster starts a cluster. The caller stops it.
func startCluster(ctx context.Context, root string) (*cluster, error) {
	started, err := controlplane.Start(&envtest.Environment{})
	if err != nil {
		return nil, err
	}
	c := &cluster{Cluster: started, webhooks: &admissionv1.ValidatingWebhookConfiguration{}}
	if err := c.install(ctx, root); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// install creates the namespaces and the policies, and reads the webhook's configuration.
func (c *cluster) install(ctx context.Context, root string) error {
	for _, team := range teamLabels() {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: team.Name, Labels: team.Labels}}
		if err := c.Client.Create(ctx, namespace); err != nil {
			return fmt.Errorf("create namespace: %w", err)
		}
	}
	// All policies: with no binding left, the API server would stop watching ConfigMaps between
	// two sets of lists.
	if err := c.Install(ctx, root, "policy"); err != nil {
		return err
	}
	webhooks, err := os.ReadFile(filepath.Join(root, "config", "webhook", "configuration.yaml"))
	if err == nil {
		err = yaml.Unmarshal(webhooks, c.webhooks)
	}
	if err != nil {
		return fmt.Errorf("read configuration of the webhook: %w", err)
	}
	return nil
}

// teamLabels returns the namespaces in which workloads are created.
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

// clusterPolicies returns a policy for each way of enforcement by the API server.
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

// useGate configures the webhook at a URL for all teams but lists. Calls that fail deny the
// object, so they cannot count as an answer.
func (c *cluster) useGate(ctx context.Context, url string, authority []byte) error {
	webhooks := c.webhooks.DeepCopy()
	hook := &webhooks.Webhooks[0]
	hook.ClientConfig = admissionv1.WebhookClientConfig{URL: &url, CABundle: authority}
	hook.FailurePolicy = new(admissionv1.Fail)
	hook.NamespaceSelector.MatchExpressions = append(hook.NamespaceSelector.MatchExpressions,
		metav1.LabelSelectorRequirement{Key: labelTeam, Operator: metav1.LabelSelectorOpNotIn, Values: []string{lists}})
	err := client.IgnoreNotFound(c.Client.Delete(ctx, c.webhooks.DeepCopy()))
	if err == nil {
		err = c.Client.Create(ctx, webhooks)
	}
	if err != nil {
		return fmt.Errorf("configure the webhook: %w", err)
	}
	return nil
}
