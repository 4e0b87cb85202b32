//go:build e2e

package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// policyOf makes a policy of a stored report, as its reader would, and returns the file.
func policyOf(ctx context.Context, report *v1alpha1.MCPAuditReport, kind string, flags ...string) string {
	GinkgoHelper()
	stored := mustKubectl(ctx, "", "-n", report.Namespace, "get", "mcpauditreport", report.Name, "-o", "json")
	cmd := exec.CommandContext(ctx, "go", append([]string{"run", "../../cmd/mcpaudit", "policy", "--type", kind, "-"}, flags...)...)
	cmd.Stdin, cmd.Stderr = strings.NewReader(stored), GinkgoWriter
	text, err := cmd.Output()
	Expect(err).NotTo(HaveOccurred())
	file := filepath.Join(GinkgoT().TempDir(), kind)
	Expect(os.WriteFile(file, text, 0o600)).To(Succeed())
	return file
}

// installProfile puts a seccomp profile on the node, where the kubelet looks for it.
func installProfile(ctx context.Context, file, name string) {
	GinkgoHelper()
	profile, err := os.ReadFile(file)
	Expect(err).NotTo(HaveOccurred())
	const script = `const fs = require('fs'), file = '/seccomp/' + process.env.NAME;
		fs.mkdirSync('/seccomp/mcpaudit', {recursive: true}); fs.writeFileSync(file, process.env.PROFILE); setInterval(() => {}, 1000)`
	installer := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "installer", Namespace: namespace},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: new(int64(0)),
			Containers: []corev1.Container{{
				Name: "installer", Image: registry + "/mcpaudit/honest-node:dev", Command: []string{"node", "-e", script},
				Env:             []corev1.EnvVar{{Name: "NAME", Value: name}, {Name: "PROFILE", Value: string(profile)}},
				SecurityContext: &corev1.SecurityContext{RunAsUser: new(int64(0))},
				VolumeMounts:    []corev1.VolumeMount{{Name: "seccomp", MountPath: "/seccomp"}},
				ReadinessProbe: &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{
					Command: []string{"node", "-e", "require('fs').statSync('/seccomp/' + process.env.NAME)"}}}},
			}},
			Volumes: []corev1.Volume{{Name: "seccomp", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{
				Path: "/var/lib/kubelet/seccomp", Type: new(corev1.HostPathDirectoryOrCreate)}}}},
		},
	}
	Expect(k8s.Create(ctx, installer)).To(Succeed())
	awaitReady(ctx, "installer")
	DeferCleanup(func(ctx context.Context) {
		mustKubectl(ctx, "", "-n", namespace, "exec", "installer", "--", "node", "-e", "require('fs').unlinkSync('/seccomp/' + process.env.NAME)")
	})
}

func awaitReady(ctx context.Context, name string) {
	GinkgoHelper()
	_, err := kubectl(ctx, "", "-n", namespace, "wait", "--for=condition=Ready", "--timeout=90s", "pod/"+name)
	if err != nil {
		out, _ := kubectl(ctx, "", "-n", namespace, "describe", "pod", name)
		logs, _ := kubectl(ctx, "", "-n", namespace, "logs", name)
		Fail(out + logs)
	}
}

// serverPod is a server as a careless person runs it, and waits on its stdin.
func serverPod(name, image string) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: new(int64(0)),
			Containers:                    []corev1.Container{{Name: "server", Image: registry + "/mcpaudit/" + image, Stdin: true}},
		},
	}
}

// patched makes the Pod with a strategic-merge patch over it.
func patched(ctx context.Context, pod *corev1.Pod, patch string) {
	GinkgoHelper()
	text, err := json.Marshal(pod)
	Expect(err).NotTo(HaveOccurred())
	file := filepath.Join(GinkgoT().TempDir(), "pod.json")
	Expect(os.WriteFile(file, text, 0o600)).To(Succeed())
	whole := mustKubectl(ctx, "", "patch", "--local", "-f", file, "--type=strategic", "--patch-file", patch, "-o", "yaml")
	mustKubectl(ctx, whole, "-n", namespace, "create", "-f", "-")
}

// asked speaks MCP with the server in a Pod over its own stdin and stdout, and returns
// its answer to the call of a tool.
func asked(ctx context.Context, pod, tool, arguments string) string {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	attach := exec.CommandContext(ctx, "kubectl", "-n", namespace, "attach", "-i", pod, "-c", "server")
	attach.Stderr = GinkgoWriter
	stdin, err := attach.StdinPipe()
	Expect(err).NotTo(HaveOccurred())
	stdout, err := attach.StdoutPipe()
	Expect(err).NotTo(HaveOccurred())
	Expect(attach.Start()).To(Succeed())
	defer func() { cancel(); _ = attach.Wait() }() // it is killed: the server stays
	answers := bufio.NewScanner(stdout)
	answers.Buffer(nil, 1<<20)
	answer := func(id string) string {
		for answers.Scan() {
			if line := answers.Text(); strings.Contains(line, `"id":`+id) && strings.Contains(line, `"result"`) {
				return line
			}
		}
		Fail("the server did not answer request " + id)
		return ""
	}
	say := func(message string) {
		_, err := stdin.Write([]byte(message + "\n"))
		Expect(err).NotTo(HaveOccurred())
	}
	say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"e2e","version":"1"}}}`)
	answer("1")
	say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`)
	return answer("2")
}

// misdeeds does what the servers never do; each line of its output says what came of one.
const misdeeds = `const fs = require('fs'), net = require('net'), {spawnSync} = require('child_process');
const tell = (what, did) => { try { did(); console.log(what, 'worked') } catch (e) { console.log(what, e.code) } };
fs.writeFileSync('/tmp/own', '');
tell('chmod', () => fs.chmodSync('/tmp/own', 0o700));
tell('mkdir', () => fs.mkdirSync('/tmp/dir' + process.pid));
tell('rename', () => fs.renameSync('/tmp/own', '/tmp/other'));
tell('root', () => fs.writeFileSync('/home/user/dropped', 'x'));
tell('spawn', () => { const r = spawnSync(process.execPath, ['-e', '0']); if (r.error) throw r.error });
const server = net.createServer().on('error', (e) => console.log('listen', e.code));
server.listen(0, '127.0.0.1', () => { console.log('listen worked'); server.close() });`

func outcomes(ctx context.Context, pod string) []string {
	GinkgoHelper()
	out := mustKubectl(ctx, "", "-n", namespace, "exec", pod, "-c", "server", "--", "node", "-e", misdeeds)
	return strings.Split(strings.TrimSpace(out), "\n")
}

var _ = Describe("The policy that is made of an audit", func() {
	for image, call := range map[string][3]string{
		"honest-node:dev": {"format_note", `{"note":"#title"}`, "# title"},
		"everything:dev":  {"echo", `{"message":"least"}`, "Echo: least"},
	} {
		It("lets "+image+" do its work, and nothing that it never did", func(ctx context.Context) {
			audit := settled(ctx, newAudit(image))
			expectPass(audit)
			report := reportOf(ctx, audit)
			Expect(report.Spec.Privileges).NotTo(BeNil())
			Expect(report.Spec.Privileges.UID).To(BeEquivalentTo(1000))

			By("putting its seccomp profile on the node, and its securityContext into a Pod")
			profile := "mcpaudit/" + namespace + ".json"
			installProfile(ctx, policyOf(ctx, report, "seccomp"), profile)
			patch := policyOf(ctx, report, "securitycontext", "--workload", "Pod", "--name", "confined", "--container", "server", "--localhost-profile", profile)
			patched(ctx, serverPod("confined", image), patch)
			awaitReady(ctx, "confined")
			var confined corev1.Pod
			Expect(k8s.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "confined"}, &confined)).To(Succeed())
			context := confined.Spec.Containers[0].SecurityContext
			Expect(*context.SeccompProfile.LocalhostProfile).To(Equal(profile))
			Expect(*context.RunAsNonRoot).To(BeTrue())
			Expect(*context.ReadOnlyRootFilesystem).To(BeTrue())
			Expect(asked(ctx, "confined", call[0], call[1])).To(ContainSubstring(call[2]))

			By("trying what the audit never saw")
			tried := outcomes(ctx, "confined")
			Expect(tried).To(ContainElements("chmod EPERM", "mkdir EPERM", "rename EPERM", "spawn EPERM", "listen EPERM"))
			Expect(tried).To(ContainElement("root EROFS"))

			By("trying the same without the policy")
			Expect(k8s.Create(ctx, serverPod("loose", image))).To(Succeed())
			awaitReady(ctx, "loose")
			Expect(outcomes(ctx, "loose")).To(HaveEach(HaveSuffix("worked")))
		})
	}
})
