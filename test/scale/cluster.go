package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/mcpaudit/mcpaudit/controllers/options"
	"github.com/mcpaudit/mcpaudit/test/controlplane"
)

// The names of config/.
const (
	runNamespace   = options.RunNamespace
	serviceAccount = "mcpaudit-manager"
	managerUser    = "system:serviceaccount:" + options.SystemNamespace + ":" + serviceAccount
)

// auditPolicy makes the API server log each of the manager's requests once, when it is answered.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- {level: Metadata, users: ["` + managerUser + `"]}
- {level: None}
`

// cluster is an API server with the operator's manifests.
type cluster struct {
	*controlplane.Cluster
	requests string // the API server's audit log
}

// startCluster starts a cluster that keeps its files in dir. The caller stops it.
func startCluster(ctx context.Context, root, dir string) (*cluster, error) {
	policy := filepath.Join(dir, "audit-policy.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return nil, err
	}
	environment := &envtest.Environment{CRDDirectoryPaths: []string{filepath.Join(root, "config", "crd", "bases")}, ErrorIfCRDPathMissing: true}
	requests := filepath.Join(dir, "requests.log")
	environment.ControlPlane.GetAPIServer().Configure().
		Set("audit-policy-file", policy).Set("audit-log-path", requests).
		Disable("disable-admission-plugins") // envtest disables ServiceAccount
	started, err := controlplane.Start(environment)
	if err != nil {
		return nil, err
	}
	c := &cluster{started, requests}
	if err := c.Install(ctx, root, "runs", "rbac"); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// kubeconfig writes a kubeconfig for the manager's service account.
func (c *cluster) kubeconfig(ctx context.Context, path string) error {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(12 * 60 * 60))}}
	token, err := c.Clients.CoreV1().ServiceAccounts(options.SystemNamespace).CreateToken(ctx, serviceAccount, request, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create token of the manager: %w", err)
	}
	const name = "scale"
	err = clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{name: {Server: c.Admin.Host, CertificateAuthorityData: c.Admin.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{name: {Token: token.Status.Token}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	}, path)
	if err != nil {
		return fmt.Errorf("write kubeconfig: %w", err)
	}
	return nil
}
