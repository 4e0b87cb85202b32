//go:build envtest

package v1alpha1_test

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

var digest = v1alpha1.Digest("sha256:" + strings.Repeat("0a", 32))

func newAudit() *v1alpha1.MCPServerAudit {
	return &v1alpha1.MCPServerAudit{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "audit-", Namespace: "default"},
		Spec:       v1alpha1.MCPServerAuditSpec{Server: v1alpha1.Server{Image: "registry.example/server:v1"}},
	}
}

func elsewhere(url string) func(*v1alpha1.MCPServerAuditSpec) {
	return func(s *v1alpha1.MCPServerAuditSpec) { s.Server = v1alpha1.Server{URL: url} }
}

func scheduled(schedule v1alpha1.Schedule) func(*v1alpha1.MCPServerAuditSpec) {
	return func(s *v1alpha1.MCPServerAuditSpec) { s.Schedule = &schedule }
}

func suppresses(change func(*report.Suppression)) func(*v1alpha1.MCPServerAuditSpec) {
	one := report.Suppression{Rule: "MCPA-EGRESS-001", Match: "api.example.com", Reason: "Its own telemetry.", Until: report.At(time.Now())}
	change(&one)
	return func(s *v1alpha1.MCPServerAuditSpec) { s.Suppressions = []report.Suppression{one} }
}

var _ = Describe("MCPServerAudit", func() {
	It("fills in the defaults", func(ctx SpecContext) {
		audit := newAudit()
		Expect(api.Create(ctx, audit)).To(Succeed())
		Expect(audit.Spec.FailOn).To(Equal(v1alpha1.FailOn("High")))
		Expect(audit.Spec.Timeout.Duration).To(Equal(5 * time.Minute))
		Expect(audit.Spec.HistoryLimit).To(HaveValue(BeEquivalentTo(3)))
		Expect(audit.Spec.Baseline.Mode).To(Equal(v1alpha1.BaselineTrustOnFirstUse))
		Expect(audit.Spec.Suspend).To(BeFalse())
		Expect(audit.Spec.Probe).To(BeZero(), "an audit from before there was a probe must not seem to have changed")
		Expect(audit.Status.ObservedGeneration).To(BeEquivalentTo(-1))
	})

	It("fills in the defaults of a probe", func(ctx SpecContext) {
		audit := newAudit()
		audit.Spec.Probe.Seed = 1
		Expect(api.Create(ctx, audit)).To(Succeed())
		Expect(audit.Spec.Probe).To(Equal(v1alpha1.Probe{
			Rounds: 3, MaxCallsPerTool: 24, CallTimeout: metav1.Duration{Duration: 30 * time.Second}, Seed: 1, Depth: report.DepthStandard, Attack: plan.AttackOn,
		}))
	})

	It("keeps the arguments of a tool as they are", func(ctx SpecContext) {
		audit := newAudit()
		const arguments = `{"deep":{"list":[1,true,null,"x"]}}`
		audit.Spec.Probe.Inputs = []v1alpha1.ToolInput{{Tool: "open", Arguments: runtime.RawExtension{Raw: []byte(arguments)}}}
		Expect(api.Create(ctx, audit)).To(Succeed())
		Expect(api.Get(ctx, client.ObjectKeyFromObject(audit), audit)).To(Succeed())
		Expect(string(audit.Spec.Probe.Inputs[0].Arguments.Raw)).To(MatchJSON(arguments))
	})

	It("can be found by image digest and by verdict", func(ctx SpecContext) {
		audit := newAudit()
		Expect(api.Create(ctx, audit)).To(Succeed())
		audit.Status.ImageDigest, audit.Status.Verdict = digest, v1alpha1.VerdictFail
		Expect(api.Status().Update(ctx, audit)).To(Succeed())
		for field, value := range map[string]string{"status.imageDigest": string(digest), "status.verdict": "Fail"} {
			var list v1alpha1.MCPServerAuditList
			Expect(api.List(ctx, &list, client.MatchingFields{field: value})).To(Succeed())
			Expect(list.Items).To(HaveLen(1), field)
			Expect(list.Items[0].Name).To(Equal(audit.Name))
		}
	})

	DescribeTable("accepts", func(ctx SpecContext, change func(*v1alpha1.MCPServerAuditSpec)) {
		audit := newAudit()
		change(&audit.Spec)
		Expect(api.Create(ctx, audit)).To(Succeed())
	},
		Entry("a schedule by cron", scheduled(v1alpha1.Schedule{Cron: "0 3 * * *", TimeZone: "Europe/Berlin"})),
		Entry("a schedule by interval", scheduled(v1alpha1.Schedule{Interval: &metav1.Duration{Duration: 5 * time.Minute}})),
		Entry("the shortest timeout", func(s *v1alpha1.MCPServerAuditSpec) { s.Timeout.Duration = 10 * time.Second }),
		Entry("the longest timeout", func(s *v1alpha1.MCPServerAuditSpec) { s.Timeout.Duration = time.Hour }),
		Entry("no history", func(s *v1alpha1.MCPServerAuditSpec) { s.HistoryLimit = new(int32(0)) }),
		Entry("a pinned manifest", func(s *v1alpha1.MCPServerAuditSpec) {
			s.Baseline = v1alpha1.Baseline{Mode: v1alpha1.BaselinePinned, ManifestDigest: digest}
		}),
		Entry("no baseline", func(s *v1alpha1.MCPServerAuditSpec) { s.Baseline.Mode = v1alpha1.BaselineNone }),
		Entry("no threshold", func(s *v1alpha1.MCPServerAuditSpec) { s.FailOn = v1alpha1.FailOnNever }),
		Entry("everything about the server", func(s *v1alpha1.MCPServerAuditSpec) {
			s.Server = v1alpha1.Server{
				Image: "registry.example:5000/a/b@" + string(digest), Command: []string{"node"}, Args: []string{"server.js"},
				Env: []v1alpha1.EnvVar{{Name: "LOG_LEVEL", Value: "debug"}}, WorkingDir: "/srv",
				ImagePullSecrets: []v1alpha1.SecretReference{{Name: "registry"}},
			}
		}),
		Entry("streamable HTTP", func(s *v1alpha1.MCPServerAuditSpec) {
			s.Server.Transport, s.Server.Port = report.TransportStreamableHTTP, 8080
		}),
		Entry("a port without a transport", func(s *v1alpha1.MCPServerAuditSpec) { s.Server.Port = 80 }),
		Entry("Auto at a path", func(s *v1alpha1.MCPServerAuditSpec) {
			s.Server.Transport, s.Server.Path = plan.TransportAuto, "/v1"
		}),
		Entry("Auto with a URL", func(s *v1alpha1.MCPServerAuditSpec) {
			s.Server = v1alpha1.Server{URL: "https://mcp.example.com/mcp", Transport: plan.TransportAuto}
		}),
		Entry("SSE at a path", func(s *v1alpha1.MCPServerAuditSpec) {
			s.Server.Transport, s.Server.Port, s.Server.Path = report.TransportSSE, 65535, "/v1/sse?a=b"
		}),
		Entry("a URL", elsewhere("https://mcp.example.com/mcp")),
		Entry("a URL of the cluster", elsewhere("http://notes.team-a.svc:8080")),
		Entry("a URL with an address", elsewhere("http://[fd00::1]:8080/mcp?tenant=a@b")),
		Entry("a URL over SSE", func(s *v1alpha1.MCPServerAuditSpec) {
			s.Server = v1alpha1.Server{URL: "https://mcp.example.com/sse", Transport: report.TransportSSE}
		}),
		Entry("everything about the probe", func(s *v1alpha1.MCPServerAuditSpec) {
			s.Probe = v1alpha1.Probe{
				Calls: report.CallsNever, Rounds: 10, MaxCallsPerTool: 1000, CallTimeout: metav1.Duration{Duration: 10 * time.Minute},
				Inputs:    []v1alpha1.ToolInput{{Tool: "open", Arguments: runtime.RawExtension{Raw: []byte(`{}`)}}},
				SkipTools: []string{"reset"}, Seed: -1,
			}
		}),
		Entry("a scope", func(s *v1alpha1.MCPServerAuditSpec) {
			s.DeclaredScope = &report.DeclaredScope{Egress: []string{"*.example.com:443"}, Exec: []string{}}
		}),
		Entry("a suppression", suppresses(func(*report.Suppression) {})),
		Entry("a suppression of all of a rule", suppresses(func(s *report.Suppression) { s.Match = "*" })),
		Entry("limits", func(s *v1alpha1.MCPServerAuditSpec) {
			s.Sandbox.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
		}),
	)

	DescribeTable("refuses", func(ctx SpecContext, change func(*v1alpha1.MCPServerAuditSpec), message string) {
		audit := newAudit()
		change(&audit.Spec)
		err := api.Create(ctx, audit)
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(ContainSubstring(message)))
	},
		Entry("a schedule without a time", scheduled(v1alpha1.Schedule{}), "schedule needs either cron or interval"),
		Entry("a schedule with two times", scheduled(v1alpha1.Schedule{Cron: "@daily", Interval: &metav1.Duration{Duration: time.Hour}}), "schedule needs either cron or interval"),
		Entry("a zone of an interval", scheduled(v1alpha1.Schedule{TimeZone: "UTC", Interval: &metav1.Duration{Duration: time.Hour}}), "timeZone is only used with cron"),
		Entry("audits all the time", scheduled(v1alpha1.Schedule{Interval: &metav1.Duration{Duration: 4 * time.Minute}}), "interval must be between 5m and 8760h"),
		Entry("more retries than a history has", func(s *v1alpha1.MCPServerAuditSpec) { s.RetryLimit = new(int32(11)) }, "spec.retryLimit"),
		Entry("a suppression of what is no rule", suppresses(func(s *report.Suppression) { s.Rule = "MCPA-*" }), "spec.suppressions[0].rule"),
		Entry("a suppression of another manifest", suppresses(func(s *report.Suppression) { s.Rule = "MCPA-MANIFEST-001" }), "approved by spec.baseline"),
		Entry("a suppression without a reason", suppresses(func(s *report.Suppression) { s.Reason = "" }), "spec.suppressions[0].reason"),
		Entry("a suppression of nearly everything", suppresses(func(s *report.Suppression) { s.Match = "a" }), "at least 3 characters"),
		Entry("a suppression without an end", suppresses(func(s *report.Suppression) { s.Until = report.Time{} }), "spec.suppressions[0].until"),
		Entry("no server", func(s *v1alpha1.MCPServerAuditSpec) { s.Server = v1alpha1.Server{} }, "give image, to have the server run and traced, or url"),
		Entry("an image and a URL", func(s *v1alpha1.MCPServerAuditSpec) { s.Server.URL = "http://a/" }, "not both"),
		Entry("an image with a space", func(s *v1alpha1.MCPServerAuditSpec) { s.Server.Image = "a b" }, "spec.server.image"),
		Entry("a short timeout", func(s *v1alpha1.MCPServerAuditSpec) { s.Timeout.Duration = 9 * time.Second }, "timeout must be between 10s and 1h"),
		Entry("a long timeout", func(s *v1alpha1.MCPServerAuditSpec) { s.Timeout.Duration = 61 * time.Minute }, "timeout must be between 10s and 1h"),
		Entry("a long history", func(s *v1alpha1.MCPServerAuditSpec) { s.HistoryLimit = new(int32(21)) }, "should be less than or equal to 20"),
		Entry("a pin without a digest", func(s *v1alpha1.MCPServerAuditSpec) { s.Baseline.Mode = v1alpha1.BaselinePinned }, "mode Pinned needs manifestDigest"),
		Entry("a digest without a pin", func(s *v1alpha1.MCPServerAuditSpec) { s.Baseline.ManifestDigest = digest }, "only used with mode Pinned"),
		Entry("a malformed digest", func(s *v1alpha1.MCPServerAuditSpec) {
			s.Baseline = v1alpha1.Baseline{Mode: v1alpha1.BaselinePinned, ManifestDigest: "sha256:xyz"}
		}, "spec.baseline.manifestDigest"),
		Entry("an unknown mode", func(s *v1alpha1.MCPServerAuditSpec) { s.Baseline.Mode = "Maybe" }, "supported values"),
		Entry("an unknown threshold", func(s *v1alpha1.MCPServerAuditSpec) { s.FailOn = "Huge" }, "supported values"),
		Entry("a relative working directory", func(s *v1alpha1.MCPServerAuditSpec) { s.Server.WorkingDir = "srv" }, "workingDir must be an absolute path"),
		Entry("another HOME", func(s *v1alpha1.MCPServerAuditSpec) {
			s.Server.Env = []v1alpha1.EnvVar{{Name: "HOME", Value: "/root"}}
		}, "HOME is set by the sandbox"),
		Entry("the sandbox's own variables", func(s *v1alpha1.MCPServerAuditSpec) {
			s.Server.Env = []v1alpha1.EnvVar{{Name: "MCPAUDIT_PLAN", Value: "{}"}}
		}, "belong to the sandbox"),
		Entry("a variable twice", func(s *v1alpha1.MCPServerAuditSpec) {
			s.Server.Env = []v1alpha1.EnvVar{{Name: "A"}, {Name: "A"}}
		}, "Duplicate value"),
		Entry("HTTP without a port", func(s *v1alpha1.MCPServerAuditSpec) { s.Server.Transport = report.TransportStreamableHTTP },
			"port is required with transport StreamableHTTP or SSE: set it to the port that the server listens on"),
		Entry("a path with Stdio", func(s *v1alpha1.MCPServerAuditSpec) {
			s.Server.Transport, s.Server.Path = report.TransportStdio, "/mcp"
		}, "set transport to Auto, StreamableHTTP or SSE"),
		Entry("a relative path", func(s *v1alpha1.MCPServerAuditSpec) {
			s.Server.Transport, s.Server.Port, s.Server.Path = report.TransportSSE, 80, "sse"
		}, "path must begin with /"),
		Entry("a path with a blank", func(s *v1alpha1.MCPServerAuditSpec) {
			s.Server.Transport, s.Server.Port, s.Server.Path = report.TransportSSE, 80, "/a b"
		}, "path must begin with /"),
		Entry("no such port", func(s *v1alpha1.MCPServerAuditSpec) {
			s.Server.Transport, s.Server.Port = report.TransportSSE, 65536
		}, "should be less than or equal to 65535"),
		Entry("an unknown transport", func(s *v1alpha1.MCPServerAuditSpec) { s.Server.Transport = "WebSocket" }, "supported values"),
		Entry("Stdio with a URL", func(s *v1alpha1.MCPServerAuditSpec) {
			s.Server = v1alpha1.Server{URL: "http://a/", Transport: report.TransportStdio}
		}, "transport Stdio needs an image to run"),
		Entry("a port with a URL", func(s *v1alpha1.MCPServerAuditSpec) {
			s.Server = v1alpha1.Server{URL: "http://a/", Port: 80}
		}, "port and path are part of url"),
		Entry("a command with a URL", func(s *v1alpha1.MCPServerAuditSpec) {
			s.Server = v1alpha1.Server{URL: "http://a/", Command: []string{"a"}}
		}, "command, args, env, workingDir and imagePullSecrets say how an image is run"),
		Entry("a pull secret with a URL", func(s *v1alpha1.MCPServerAuditSpec) {
			s.Server = v1alpha1.Server{URL: "http://a/", ImagePullSecrets: []v1alpha1.SecretReference{{Name: "a"}}}
		}, "command, args, env, workingDir and imagePullSecrets say how an image is run"),
		Entry("another scheme", elsewhere("file:///etc/passwd"), "url must be absolute and begin with http:// or https://"),
		Entry("no scheme", elsewhere("mcp.example.com/mcp"), "url must be absolute and begin with http:// or https://"),
		Entry("no host", elsewhere("http:///mcp"), "url must be absolute and begin with http:// or https://"),
		Entry("a URL with a blank", elsewhere("http://a/b c"), "url must be absolute and begin with http:// or https://"),
		Entry("a URL with a password", elsewhere("https://user:word@mcp.example.com/"), "url must not have a user name or password"),
		Entry("a URL with a user", elsewhere("https://user@mcp.example.com/"), "url must not have a user name or password"),
		Entry("a fragment", elsewhere("https://mcp.example.com/#a"), "url must not have a fragment"),
		Entry("too many rounds", func(s *v1alpha1.MCPServerAuditSpec) { s.Probe.Rounds = 11 }, "should be less than or equal to 10"),
		Entry("too many calls", func(s *v1alpha1.MCPServerAuditSpec) { s.Probe.MaxCallsPerTool = 1001 }, "should be less than or equal to 1000"),
		Entry("a short call", func(s *v1alpha1.MCPServerAuditSpec) { s.Probe.CallTimeout.Duration = 999 * time.Millisecond }, "callTimeout must be between 1s and 10m"),
		Entry("a long call", func(s *v1alpha1.MCPServerAuditSpec) { s.Probe.CallTimeout.Duration = 11 * time.Minute }, "callTimeout must be between 1s and 10m"),
		Entry("some calls", func(s *v1alpha1.MCPServerAuditSpec) { s.Probe.Calls = "Some" }, "supported values"),
		Entry("inputs twice for a tool", func(s *v1alpha1.MCPServerAuditSpec) {
			one := v1alpha1.ToolInput{Tool: "a", Arguments: runtime.RawExtension{Raw: []byte(`{}`)}}
			s.Probe.Inputs = []v1alpha1.ToolInput{one, one}
		}, "Duplicate value"),
		Entry("arguments that are no object", func(s *v1alpha1.MCPServerAuditSpec) {
			s.Probe.Inputs = []v1alpha1.ToolInput{{Tool: "a", Arguments: runtime.RawExtension{Raw: []byte(`[1]`)}}}
		}, "spec.probe.inputs[0].arguments"),
		Entry("a tool skipped twice", func(s *v1alpha1.MCPServerAuditSpec) { s.Probe.SkipTools = []string{"a", "a"} }, "Duplicate value"),
		Entry("limits for something else", func(s *v1alpha1.MCPServerAuditSpec) {
			s.Sandbox.Resources.Limits = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}
		}, "limits may be given for cpu, memory and ephemeral-storage"),
	)

	DescribeTable("refuses as a timeout", func(ctx SpecContext, timeout string) {
		audit := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "mcpaudit.dev/v1alpha1", "kind": "MCPServerAudit",
			"metadata": map[string]any{"generateName": "audit-", "namespace": "default"},
			"spec":     map[string]any{"server": map[string]any{"image": "a"}, "timeout": timeout},
		}}
		Expect(apierrors.IsInvalid(api.Create(ctx, audit))).To(BeTrue())
	},
		Entry("a bare number", "300"), Entry("a word", "soon"), Entry("a negative time", "-1m"),
		Entry("what is no duration to CEL", "99999999999999999999h"),
	)
})

var _ = Describe("The samples", func() {
	It("are valid to the letter", func(ctx SpecContext) {
		files, err := filepath.Glob("../../config/samples/*.yaml")
		Expect(err).NotTo(HaveOccurred())
		kinds := map[string]int{}
		for _, file := range files {
			content, err := os.ReadFile(file)
			Expect(err).NotTo(HaveOccurred())
			for document := range strings.SplitSeq(string(content), "\n---\n") {
				object := &unstructured.Unstructured{}
				Expect(yaml.Unmarshal([]byte(document), &object.Object)).To(Succeed(), file)
				if object.GroupVersionKind().GroupVersion() != v1alpha1.GroupVersion {
					continue
				}
				if !strings.HasPrefix(object.GetKind(), "Cluster") {
					object.SetNamespace("default")
				}
				Expect(api.Create(ctx, object, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict))).To(Succeed(), file)
				kinds[object.GetKind()]++
			}
		}
		Expect(kinds).To(Equal(map[string]int{"MCPServerAudit": 5, "ClusterMCPAuditPolicy": 3, "MCPAuditPolicy": 1, "MCPAuditException": 1}))
	})
})

var _ = Describe("MCPAuditReport", func() {
	It("is never changed", func(ctx SpecContext) {
		report := &v1alpha1.MCPAuditReport{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "report-", Namespace: "default"},
			Spec: v1alpha1.MCPAuditReportSpec{
				Audit: v1alpha1.AuditInputs{
					Name: "a", Image: "b", Generation: 1, Trigger: v1alpha1.TriggerNeverAudited,
					ReportSHA256: strings.Repeat("0a", 32),
				},
				Report: report.Report{
					Verdict: report.VerdictPass, StartTime: report.At(time.Now()), EndTime: report.At(time.Now()),
					Server:   report.ServerRun{Command: []string{}},
					Findings: []report.Finding{}, Errors: []string{},
					Profile: report.Profile{Capabilities: []report.CapabilityProfile{}},
					Manifest: report.Manifest{
						Tools: []report.Item{}, Resources: []report.Item{},
						ResourceTemplates: []report.Item{}, Prompts: []report.Item{},
					},
				},
			},
		}
		Expect(api.Create(ctx, report)).To(Succeed())
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(report)
		Expect(err).NotTo(HaveOccurred())
		result, err := status.Compute(&unstructured.Unstructured{Object: content})
		Expect(err).NotTo(HaveOccurred())
		Expect(result.Status).To(Equal(status.CurrentStatus), "it is written once, complete")

		By("accepting a label, which is no part of the result")
		report.Labels = map[string]string{"reviewed": "true"}
		Expect(api.Update(ctx, report)).To(Succeed())

		report.Spec.Message = "nothing to see here"
		err = api.Update(ctx, report)
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(ContainSubstring("a report is never changed")))
	})
})
