package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

var runCommand = command{
	name: "run", takes: "--image IMAGE [-- COMMAND...]", about: "audit an image now, and wait for the verdict",
	examples: []string{
		"run --image registry.example/notes:1.4",
		"run --image registry.example/notes:1.4 --rm --timeout 10m -- node server.js --stdio",
		"run --image registry.example/search:2 --transport http --port 3000 --name search",
	},
	setUp: func(f *pflag.FlagSet) action {
		var r running
		f.StringVar(&r.image, "image", "", "image of the server (required)")
		f.StringVar(&r.name, "name", "", "name of the MCPServerAudit (default: that of the image, and some letters)")
		f.StringVar(&r.transport, "transport", "stdio", "how the server is talked to: stdio, http (streamable HTTP) or sse (HTTP+SSE)")
		f.Int32Var(&r.port, "port", 0, "where the server listens, with http and sse")
		f.StringVar(&r.path, "path", "", "path of its endpoint (default: /mcp, or /sse)")
		f.StringArrayVar(&r.env, "env", nil, "NAME=VALUE for the server; may be repeated; no place for a secret")
		f.StringArrayVar(&r.pullSecrets, "image-pull-secret", nil, "a Secret of the namespace to pull the image with; may be repeated")
		f.StringVar(&r.failOn, "fail-on", "high", "lowest severity that fails: never, info, low, medium, high or critical")
		f.DurationVar(&r.timeout, "timeout", 5*time.Minute, "longest time that the server is exercised, 10s to 1h")
		f.DurationVar(&r.wait, "wait", 30*time.Minute, "longest time until the verdict, with queue and pull; 0: do not wait")
		f.BoolVar(&r.remove, "rm", false, "delete the audit and its report when they have been shown")
		f.StringVarP(&r.output, "output", "o", "table", "table, wide, json or yaml, as of show")
		return r.run
	},
}

// running are the flags of run.
type running struct {
	image, name, transport, path, failOn, output string
	port                                         int32
	env, pullSecrets                             []string
	timeout, wait                                time.Duration
	remove                                       bool
}

// pause is how long is waited between two looks at an audit. To look is cheaper
// than to get a watch right across whatever happens to the connection.
const pause = time.Second

// farewell is the time for what is left to do after Ctrl-C.
const farewell = 10 * time.Second

func (r *running) run(ctx context.Context, s *session, command []string) (int, error) {
	audit, err := r.audit(s, command)
	if err != nil {
		return exitError, err
	}
	a, err := s.connection.open(s)
	if err != nil {
		return exitError, err
	}
	audit.Namespace = a.namespace
	created, err := a.create(ctx, audit)
	if err != nil {
		return exitError, err
	}
	if r.wait == 0 {
		_, err := fmt.Fprintf(s.Stdout, "mcpserveraudit.mcpaudit.dev/%s\n", created.Name)
		return status(err), err
	}
	code, err := r.follow(ctx, s, a, created)
	if !r.remove {
		return code, err
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell) // Ctrl-C does not keep it
	defer cancel()
	if gone := a.delete(last, created); gone != nil && !errors.Is(gone, errAbsent) {
		return exitError, errors.Join(err, fmt.Errorf("the audit is left: %w: kubectl delete mcpserveraudit %s -n %s", gone, created.Name, created.Namespace))
	}
	return code, err
}

// follow waits for the verdict and shows it.
func (r *running) follow(ctx context.Context, s *session, a *api, created *v1alpha1.MCPServerAudit) (int, error) {
	limited, cancel := context.WithTimeoutCause(ctx, r.wait, errWaited)
	defer cancel()
	audit, err := s.wait(limited, a, created)
	left := fmt.Sprintf("the audit %s goes on in the cluster: %s show %s -n %s shows it, kubectl delete mcpserveraudit %s -n %s ends it",
		place(created), s.Name, created.Name, created.Namespace, created.Name, created.Namespace)
	if r.remove {
		left = fmt.Sprintf("the audit %s is deleted, as --rm says", place(created))
	}
	switch {
	case errors.Is(context.Cause(limited), errWaited) && err != nil:
		return exitError, fmt.Errorf("no verdict within --wait %s: %s", r.wait, left)
	case errors.Is(err, context.Canceled):
		return exitError, fmt.Errorf("interrupted: %s", left)
	case err != nil:
		return exitError, err
	}
	if err := s.show(ctx, a, audit, r.output); err != nil {
		return exitError, err
	}
	return code(audit), nil
}

// code is the exit code of a verdict, or of a spec that cannot be audited.
func code(audit *v1alpha1.MCPServerAudit) int {
	switch audit.Status.Verdict {
	case v1alpha1.VerdictPass:
		return 0
	case v1alpha1.VerdictFail:
		return exitFail
	case v1alpha1.VerdictInconclusive:
		return exitInconclusive
	}
	return exitError
}

var errWaited = errors.New("waited long enough")

// audit is the object to create.
func (r *running) audit(s *session, command []string) (*v1alpha1.MCPServerAudit, error) {
	if err := r.check(s); err != nil {
		return nil, err
	}
	audit := &v1alpha1.MCPServerAudit{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: string(anAudit)},
		ObjectMeta: metav1.ObjectMeta{Name: r.name},
		Spec: v1alpha1.MCPServerAuditSpec{
			Server:  v1alpha1.Server{Image: r.image, Port: r.port, Path: r.path, Command: command},
			Timeout: metav1.Duration{Duration: r.timeout},
		},
	}
	if r.name == "" {
		audit.GenerateName = nameOf(r.image)
	}
	transport, known := plan.ByFlag(r.transport)
	if !known {
		return nil, fmt.Errorf("--transport %q: it is stdio, http or sse", r.transport)
	}
	audit.Spec.Server.Transport = v1alpha1.Transport(transport.Name)
	var err error
	if audit.Spec.FailOn, err = choice("fail-on", r.failOn, thresholds, "never, info, low, medium, high or critical"); err != nil {
		return nil, err
	}
	for _, entry := range r.env {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("--env %q: it is of the form NAME=VALUE", entry)
		}
		audit.Spec.Server.Env = append(audit.Spec.Server.Env, v1alpha1.EnvVar{Name: name, Value: value})
	}
	for _, name := range r.pullSecrets {
		audit.Spec.Server.ImagePullSecrets = append(audit.Spec.Server.ImagePullSecrets, v1alpha1.SecretReference{Name: name})
	}
	return audit, nil
}

func (r *running) check(s *session) error {
	transport, _ := plan.ByFlag(r.transport)
	listens := transport.Listens
	switch {
	case r.image == "":
		return fmt.Errorf("which image? %s run --image IMAGE; for a server on this machine: mcpaudit run -- COMMAND", s.Name)
	case r.timeout < 10*time.Second || r.timeout > time.Hour:
		return fmt.Errorf("--timeout %s: it is from 10s to 1h", r.timeout)
	case r.wait < 0:
		return fmt.Errorf("--wait %s: it is 0 or more", r.wait)
	case !listens && r.port != 0:
		return fmt.Errorf("--port %d: a stdio server has none: add --transport http or sse", r.port)
	case !listens && r.path != "":
		return fmt.Errorf("--path %q: a stdio server has none: add --transport http or sse", r.path)
	case listens && (r.port < 1 || r.port > 65535):
		return fmt.Errorf("--port %d: with --transport %s it is from 1 to 65535, where the server listens", r.port, r.transport)
	}
	return oneOf(r.output, "table", "wide", "json", "yaml")
}

var thresholds = map[string]v1alpha1.FailOn{
	"never": v1alpha1.FailOnNever, "info": "Info", "low": "Low", "medium": "Medium", "high": "High", "critical": "Critical",
}

// choice reads a flag that is one of some words.
func choice[T any](flag, value string, words map[string]T, are string) (T, error) {
	word, ok := words[value]
	if !ok {
		return word, fmt.Errorf("--%s %q: it is %s", flag, value, are)
	}
	return word, nil
}

var noName = regexp.MustCompile(`[^a-z0-9]+`)

// nameOf is the beginning of a name that tells the image: "notes-" for
// "registry.example/team/notes:1.4".
func nameOf(image string) string {
	image, _, _ = strings.Cut(image, "@")
	parts := strings.Split(image, "/")
	name, _, _ := strings.Cut(parts[len(parts)-1], ":")
	name = strings.Trim(noName.ReplaceAllString(strings.ToLower(name), "-"), "-")
	const most = 40 // which leaves room for what the API server adds, and for the name of a Pod
	name = strings.TrimRight(name[:min(len(name), most)], "-")
	return cmp.Or(name, "audit") + "-"
}
