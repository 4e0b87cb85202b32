package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/cmd/cli"
)

func (s *session) runCommand() *cobra.Command {
	var r running
	c := &cobra.Command{
		Use: "run --image IMAGE [flags] [-- COMMAND...]", Short: "Audit an image now, and wait for the verdict",
		Long: "Audit an image now, and wait for the verdict. mcpaudit run audits a server on this machine.",
		Example: s.examples(
			"run --image registry.example/notes:1.4",
			"run --image registry.example/notes:1.4 --rm --timeout 10m -- node server.js --stdio",
			"run --image registry.example/search:2 --transport http --port 3000 --name search"),
		Args: func(c *cobra.Command, args []string) error {
			if c.ArgsLenAtDash() > 0 {
				return fmt.Errorf("unexpected argument %q before \"--\"", args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, command []string) error { return r.run(c.Context(), s, command) },
	}
	f := c.Flags()
	f.StringVar(&r.image, "image", "", "image of the server (required)")
	f.StringVar(&r.name, "name", "", "name of the MCPServerAudit (default: that of the image, with a random suffix)")
	cli.Transport(c, &r.transport)
	f.Int32Var(&r.port, "port", 0, "port that the server listens on, with http and sse")
	f.StringVar(&r.path, "path", "", "path of the endpoint (default /mcp, with sse /sse)")
	f.StringArrayVar(&r.env, "env", nil, "NAME=VALUE for the environment of the server, not for secrets; may be repeated")
	f.StringArrayVar(&r.pullSecrets, "image-pull-secret", nil, "Secret of the namespace to pull the image with; may be repeated")
	cli.FailOn(c, &r.failOn)
	cli.MinAssurance(c, &r.minAssurance)
	f.DurationVar(&r.timeout, "timeout", 5*time.Minute, "longest duration of the audit itself, 10s to 1h")
	f.DurationVar(&r.wait, "wait", 30*time.Minute, "longest wait for the verdict, including queue and pull; 0: do not wait")
	f.BoolVar(&r.remove, "rm", false, "delete the audit and its report after showing them")
	cli.Output(c, &r.output, "table", "wide", "json", "yaml")
	cli.Require(c, "image")
	return c
}

// running holds the flags of run.
type running struct {
	image, name, path, output string
	transport                 plan.Transport
	failOn                    report.Severity
	minAssurance              report.AssuranceLevel
	port                      int32
	env, pullSecrets          []string
	timeout, wait             time.Duration
	remove                    bool
}

// pollInterval is the polling interval. Polling is simpler than a watch that survives
// connection failures.
const pollInterval = time.Second

// deleteTimeout bounds the deletion by --rm after Ctrl-C.
const deleteTimeout = 10 * time.Second

func (r *running) run(ctx context.Context, s *session, command []string) error {
	audit, err := r.audit(command)
	if err != nil {
		return err
	}
	a, err := s.connection.open(s)
	if err != nil {
		return err
	}
	audit.Namespace = a.namespace
	created, err := a.create(ctx, audit)
	if err != nil {
		return err
	}
	if r.wait == 0 {
		_, err := fmt.Fprintf(s.stdout(), "mcpserveraudit.mcpaudit.dev/%s\n", created.Name)
		return err
	}
	err = r.follow(ctx, s, a, created)
	if !r.remove {
		return err
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteTimeout) // even after Ctrl-C
	defer cancel()
	if failed := a.delete(last, created); failed != nil && !errors.Is(failed, errAbsent) {
		if exit, ok := errors.AsType[cli.ExitError](err); ok {
			err = exit.Err // the exit code of the failed deletion takes precedence
		}
		return errors.Join(err, fmt.Errorf("audit %s was not deleted: %w; delete it with kubectl delete mcpserveraudit %s -n %s",
			place(created), failed, created.Name, created.Namespace))
	}
	return err
}

// follow waits for the verdict and shows it.
func (r *running) follow(ctx context.Context, s *session, a *api, created *v1alpha1.MCPServerAudit) error {
	limited, cancel := context.WithTimeoutCause(ctx, r.wait, errWaited)
	defer cancel()
	audit, err := s.wait(limited, a, created)
	rest := fmt.Sprintf("audit %s continues in the cluster: see %s show %s -n %s, or stop it with kubectl delete mcpserveraudit %s -n %s",
		place(created), s.name, created.Name, created.Namespace, created.Name, created.Namespace)
	if r.remove {
		rest = fmt.Sprintf("audit %s is deleted (--rm)", place(created))
	}
	switch {
	case errors.Is(context.Cause(limited), errWaited) && err != nil:
		return fmt.Errorf("no verdict within --wait %s: %s", r.wait, rest)
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("interrupted: %s", rest)
	case err != nil:
		return err
	}
	if err := s.show(ctx, a, audit, r.output); err != nil {
		return err
	}
	return exit(audit)
}

// exit returns an error with the exit code of a verdict, or of a spec that cannot be audited.
func exit(audit *v1alpha1.MCPServerAudit) error {
	switch audit.Status.Verdict {
	case v1alpha1.VerdictPass:
		return nil
	case v1alpha1.VerdictFail:
		return cli.Exit(exitFail, nil)
	case v1alpha1.VerdictInconclusive:
		return cli.Exit(exitInconclusive, nil)
	}
	return cli.Exit(1, nil)
}

var errWaited = errors.New("waited long enough")

// audit returns the object to create.
func (r *running) audit(command []string) (*v1alpha1.MCPServerAudit, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	audit := &v1alpha1.MCPServerAudit{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: string(anAudit)},
		ObjectMeta: metav1.ObjectMeta{Name: r.name},
		Spec: v1alpha1.MCPServerAuditSpec{
			Server: v1alpha1.Server{
				Image: r.image, Transport: r.transport.Name, Port: r.port, Path: r.path, Command: command,
			},
			FailOn:       cmp.Or(v1alpha1.FailOn(r.failOn), v1alpha1.FailOnNever),
			MinAssurance: r.minAssurance,
			Timeout:      metav1.Duration{Duration: r.timeout},
		},
	}
	if r.name == "" {
		audit.GenerateName = nameOf(r.image)
	}
	for _, entry := range r.env {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("--env: invalid value %q (want NAME=VALUE)", entry)
		}
		audit.Spec.Server.Env = append(audit.Spec.Server.Env, v1alpha1.EnvVar{Name: name, Value: value})
	}
	for _, name := range r.pullSecrets {
		audit.Spec.Server.ImagePullSecrets = append(audit.Spec.Server.ImagePullSecrets, v1alpha1.SecretReference{Name: name})
	}
	return audit, nil
}

func (r *running) check() error {
	if err := plan.Within("--timeout", r.timeout, plan.MinTimeout, plan.MaxTimeout); err != nil {
		return err
	}
	if r.wait < 0 {
		return fmt.Errorf("--wait: invalid value %s (want at least 0s)", r.wait)
	}
	if r.transport.Listens && r.port == 0 {
		return fmt.Errorf("--transport %s needs the --port that the server listens on", r.transport.Flag)
	}
	return cli.CheckListening(r.transport, int(r.port), r.path)
}

var notInName = regexp.MustCompile(`[^a-z0-9]+`)

// nameOf derives a name prefix from the image: "notes-" for "registry.example/team/notes:1.4".
func nameOf(image string) string {
	image, _, _ = strings.Cut(image, "@")
	parts := strings.Split(image, "/")
	name, _, _ := strings.Cut(parts[len(parts)-1], ":")
	name = strings.Trim(notInName.ReplaceAllString(strings.ToLower(name), "-"), "-")
	const most = 40 // leaves room for the API server's suffix and for Pod names
	name = strings.TrimRight(name[:min(len(name), most)], "-")
	return cmp.Or(name, "audit") + "-"
}
