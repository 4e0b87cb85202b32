// Package controlplane starts etcd and an API server, for the envtest suites (controllers/testenv)
// and the programs that measure the operator (test/scale, test/gatebench).
package controlplane

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	certutil "k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/options"
	"github.com/mcpaudit/mcpaudit/test/command"
)

// startTimeout bounds the start and the stop on a busy machine.
const startTimeout = time.Minute

// Cluster is a running API server with etcd.
type Cluster struct {
	*envtest.Environment
	// Admin is an administrator's configuration, without client-side rate limits.
	Admin   *rest.Config
	Client  client.Client
	Clients kubernetes.Interface
}

// Start starts the environment. The caller stops it.
func Start(environment *envtest.Environment) (*Cluster, error) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		return nil, errors.New("KUBEBUILDER_ASSETS is not set: use make test-envtest, bench-scale or bench-gate")
	}
	environment.ControlPlaneStartTimeout, environment.ControlPlaneStopTimeout = startTimeout, startTimeout
	config, err := environment.Start()
	if err != nil {
		return nil, fmt.Errorf("start API server: %w", err)
	}
	c := &Cluster{Environment: environment, Admin: rest.CopyConfig(config)}
	c.Admin.QPS = -1
	if err := c.connect(); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

func (c *Cluster) connect() error {
	scheme := runtime.NewScheme()
	err := errors.Join(clientscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme))
	if err != nil {
		return fmt.Errorf("register kinds: %w", err)
	}
	if c.Client, err = client.New(c.Admin, client.Options{Scheme: scheme}); err == nil {
		c.Clients, err = kubernetes.NewForConfig(c.Admin)
	}
	if err != nil {
		return fmt.Errorf("create client: %w", err)
	}
	return nil
}

// Decode parses YAML documents.
func Decode(manifests []byte) (objects []*unstructured.Unstructured, err error) {
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifests), 4096); ; {
		object := &unstructured.Unstructured{}
		switch err := decoder.Decode(&object.Object); {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, err
		}
		objects = append(objects, object)
	}
}

// Kustomize returns the objects of a folder, built by kustomize.
func Kustomize(ctx context.Context, folder string) ([]*unstructured.Unstructured, error) {
	built, err := command.Output(ctx, "", filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl"), "kustomize", folder)
	if err != nil {
		return nil, err
	}
	return Decode([]byte(built))
}

// Install creates the operator's namespace and the objects of folders or files of config/, but no
// quota: without its controller, a quota admits nothing.
func (c *Cluster) Install(ctx context.Context, root string, paths ...string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: options.SystemNamespace}}
	if err := client.IgnoreAlreadyExists(c.Client.Create(ctx, namespace)); err != nil {
		return fmt.Errorf("create namespace: %w", err)
	}
	for _, path := range paths {
		objects, err := read(ctx, filepath.Join(root, "config", path))
		if err == nil {
			err = c.Apply(ctx, slices.DeleteFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == "ResourceQuota" }))
		}
		if err != nil {
			return fmt.Errorf("apply config/%s: %w", path, err)
		}
	}
	return nil
}

// read returns the objects of a file, or of a folder as kustomize builds it.
func read(ctx context.Context, path string) ([]*unstructured.Unstructured, error) {
	if filepath.Ext(path) != ".yaml" {
		return Kustomize(ctx, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Decode(text)
}

// Apply creates the objects that do not exist yet.
func (c *Cluster) Apply(ctx context.Context, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		if err := client.IgnoreAlreadyExists(c.Client.Create(ctx, object)); err != nil {
			return err
		}
	}
	return nil
}

// Certificate returns a self-signed certificate for 127.0.0.1, also as PEM for clients.
func Certificate() (pair tls.Certificate, authority []byte, err error) {
	authority, key, err := certutil.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err == nil {
		pair, err = tls.X509KeyPair(authority, key)
	}
	if err != nil {
		return pair, nil, fmt.Errorf("create certificate: %w", err)
	}
	return pair, authority, nil
}

// FreeAddress returns an address of the loopback interface on which nothing listens.
func FreeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}
