package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// The names of config/.
const (
	systemNamespace = "mcpaudit-system"
	runNamespace    = "mcpaudit-runs"
	serviceAccount  = "mcpaudit-manager"
	managerUser     = "system:serviceaccount:" + systemNamespace + ":" + serviceAccount
)

// auditPolicy has the API server write down what the manager asks for, each request
// once, when it is answered.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- {level: Metadata, users: ["` + managerUser + `"]}
- {level: None}
`

// cluster is an API server with etcd, and the operator's manifests in it.
type cluster struct {
	environment *envtest.Environment
	config      *rest.Config // of an administrator, without limits
	clients     kubernetes.Interface
	client      client.Client
	requests    string // file of the API server's audit log
}

// startCluster starts it; files of its own go to dir. The caller stops it.
func startCluster(ctx context.Context, root, dir string) (*cluster, error) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		return nil, errors.New("KUBEBUILDER_ASSETS is not set: run `make bench-scale`")
	}
	policy := filepath.Join(dir, "audit-policy.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return nil, err
	}
	c := &cluster{requests: filepath.Join(dir, "requests.log")}
	c.environment = &envtest.Environment{
		CRDDirectoryPaths:     []string{filepath.Join(root, "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
		// A busy machine takes its time.
		ControlPlaneStartTimeout: time.Minute, ControlPlaneStopTimeout: time.Minute,
	}
	c.environment.ControlPlane.GetAPIServer().Configure().
		Set("audit-policy-file", policy).Set("audit-log-path", c.requests).
		// envtest leaves out ServiceAccount, which config/runs is ready for.
		Disable("disable-admission-plugins")
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

// install makes the clients, and applies what a cluster's administrator would.
func (c *cluster) install(ctx context.Context, config *rest.Config, root string) error {
	c.config = rest.CopyConfig(config)
	c.config.QPS = -1 // only the manager is to be slowed down
	scheme := runtime.NewScheme()
	err := errors.Join(clientscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme))
	if err != nil {
		return fmt.Errorf("register kinds: %w", err)
	}
	if c.client, err = client.New(c.config, client.Options{Scheme: scheme}); err != nil {
		return fmt.Errorf("create client: %w", err)
	}
	if c.clients, err = kubernetes.NewForConfig(c.config); err != nil {
		return fmt.Errorf("create client: %w", err)
	}
	for _, pattern := range []string{"manager/namespace.yaml", "runs/namespace.yaml", "runs/*.yaml", "rbac/*.yaml"} {
		files, err := filepath.Glob(filepath.Join(root, "config", pattern))
		if err != nil {
			return err
		}
		for _, file := range files {
			if err := c.apply(ctx, file); err != nil {
				return fmt.Errorf("apply %s: %w", file, err)
			}
		}
	}
	return nil
}

// apply creates what a file of the manifests holds, but for what needs a controller
// that is not there: a quota without its controller lets nothing in.
func (c *cluster) apply(ctx context.Context, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	decoder := yaml.NewYAMLOrJSONDecoder(file, 4096)
	for {
		object := &unstructured.Unstructured{}
		switch err := decoder.Decode(&object.Object); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case object.GetKind() == "Kustomization", object.GetKind() == "ResourceQuota":
			continue
		}
		if err := client.IgnoreAlreadyExists(c.client.Create(ctx, object)); err != nil {
			return err
		}
	}
}

// kubeconfig writes one for the manager's service account.
func (c *cluster) kubeconfig(ctx context.Context, path string) error {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(12 * 60 * 60))}}
	token, err := c.clients.CoreV1().ServiceAccounts(systemNamespace).CreateToken(ctx, serviceAccount, request, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create token of the manager: %w", err)
	}
	const name = "scale"
	err = clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{name: {Server: c.config.Host, CertificateAuthorityData: c.config.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{name: {Token: token.Status.Token}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	}, path)
	if err != nil {
		return fmt.Errorf("write kubeconfig: %w", err)
	}
	return nil
}
