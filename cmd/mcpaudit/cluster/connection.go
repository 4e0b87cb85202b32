package cluster

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // the login methods of kubeconfigs, as in kubectl
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// connection holds kubectl's connection flags.
type connection struct {
	kubeconfig string
	overrides  clientcmd.ConfigOverrides
}

// shown describes the flags in the help; the others are hidden.
var shown = map[string]string{
	"namespace": "namespace of the audit (default: the namespace of the context)",
	"context":   "context of the kubeconfig",
}

func (c *connection) flags(f *pflag.FlagSet) {
	theirs := clientcmd.RecommendedConfigOverrideFlags("")
	theirs.ContextOverrideFlags.Namespace.ShortName = "n"
	kubectl := pflag.NewFlagSet("", pflag.ContinueOnError)
	kubectl.SortFlags = false
	clientcmd.BindOverrideFlags(&c.overrides, kubectl, theirs)
	kubectl.VisitAll(func(flag *pflag.Flag) {
		flag.Usage = shown[flag.Name]
		flag.Hidden = flag.Usage == ""
		f.AddFlag(flag)
	})
	f.StringVar(&c.kubeconfig, "kubeconfig", c.kubeconfig, "path of the kubeconfig (default: $KUBECONFIG, or ~/.kube/config)")
}

// open reads the kubeconfig. It sends nothing.
func (c *connection) open(s *session) (*api, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.kubeconfig
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &c.overrides)
	config, err := loader.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, fmt.Errorf("no cluster: set KUBECONFIG or --kubeconfig")
	}
	if err != nil {
		return nil, fmt.Errorf("%w; kubectl config get-contexts lists the contexts", err)
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, fmt.Errorf("find the namespace: %w", err)
	}
	config.UserAgent = "kubectl-mcpaudit"
	config.QPS, config.Burst = 50, 100 // one person, and pages of a list
	config.WarningHandlerWithContext = warnings{s}
	a := &api{name: s.name, namespace: namespace, host: config.Host}
	for group, client := range map[schema.GroupVersion]**rest.RESTClient{v1alpha1.GroupVersion: &a.audits, {Version: "v1"}: &a.core} {
		if *client, err = restClient(config, group); err != nil {
			return nil, fmt.Errorf("connect: %w", err)
		}
	}
	return a, nil
}

func restClient(config *rest.Config, group schema.GroupVersion) (*rest.RESTClient, error) {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"}) // API errors are a v1.Status
	config = rest.CopyConfig(config)
	config.GroupVersion = &group
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	config.APIPath = "/apis"
	if group.Group == "" {
		config.APIPath = "/api"
	}
	return rest.RESTClientFor(config)
}

// warnings prints the warnings of the API server.
type warnings struct{ *session }

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (w warnings) HandleWarningHeaderWithContext(_ context.Context, code int, _, text string) {
	const warning = 299 // RFC 7234: miscellaneous persistent warning
	if code == warning && text != "" {
		w.note("Warning: %s", text)
	}
}
