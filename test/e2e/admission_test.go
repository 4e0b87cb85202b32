//go:build e2e

package e2e

import (
	"context"
	"os/exec"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// strip is a policy such as a hardened cluster has: no container keeps
// SYS_PTRACE. It is told apart from the audits of other specs by the namespace
// that the audit's Pod is labelled with.
const strip = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: NAME}
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  matchConditions:
  - name: of-this-test
    expression: "object.metadata.?labels['mcpaudit.dev/audit-namespace'].orValue('') == 'NAME'"
  mutations:
  - patchType: JSONPatch
    jsonPatch:
      expression: >
        [0, 1].filter(i, object.spec.containers[i].name == 'runner').map(i,
          JSONPatch{op: "replace", path: "/spec/containers/" + string(i) + "/securityContext/capabilities/add",
            value: ["DAC_READ_SEARCH", "SETUID", "SETGID"]})
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: NAME}
spec: {policyName: NAME}
`

// probe is a Pod that the policy has to change once it is in force. It is in the namespace of
// the test: in that of the audits the operator's own policy refuses it.
const probe = `
apiVersion: v1
kind: Pod
metadata: {name: probe, namespace: NAME, labels: {mcpaudit.dev/audit-namespace: NAME}}
spec:
  containers:
  - {name: server, image: none.invalid/none}
  - name: runner
    image: none.invalid/none
    securityContext: {capabilities: {add: [SYS_PTRACE]}}
`

// stripCapability takes SYS_PTRACE from the runners of the running spec.
func stripCapability(ctx context.Context) {
	GinkgoHelper()
	policy := strings.ReplaceAll(strip, "NAME", namespace)
	mustKubectl(ctx, policy, "apply", "-f", "-")
	DeferCleanup(func(ctx context.Context) { mustKubectl(ctx, policy, "delete", "-f", "-") })
	Eventually(func() (string, error) {
		return kubectl(ctx, strings.ReplaceAll(probe, "NAME", namespace), "create", "--dry-run=server", "-o", "yaml", "-f", "-")
	}).WithContext(ctx).ShouldNot(ContainSubstring("SYS_PTRACE"))
}

// mustKubectl runs a kubectl that must succeed.
func mustKubectl(ctx context.Context, stdin string, args ...string) string {
	GinkgoHelper()
	out, err := kubectl(ctx, stdin, args...)
	Expect(err).NotTo(HaveOccurred(), out)
	return out
}

// kubectl runs kubectl with a text on its standard input.
func kubectl(ctx context.Context, stdin string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "kubectl", args...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		GinkgoWriter.Printf("kubectl %v: %v\n%s\n", args, err, out)
	}
	return string(out), err
}
