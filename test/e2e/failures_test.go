//go:build e2e

package e2e

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// expectInconclusive holds every failure to the same contract: no verdict by
// accident, a reason with a name, and a message that helps.
func expectInconclusive(audit *v1alpha1.MCPServerAudit, reason report.Reason, message string) {
	GinkgoHelper()
	Expect(audit.Status.Verdict).To(Equal(v1alpha1.VerdictInconclusive), conditions(audit))
	audited := condition(audit, v1alpha1.ConditionAudited)
	Expect(audited.Status).To(Equal(metav1.ConditionFalse))
	Expect(audited.Reason).To(BeEquivalentTo(reason), conditions(audit))
	Expect(message).NotTo(BeEmpty(), "every message contains it")
	Expect(audited.Message).To(ContainSubstring(message))
	Expect(condition(audit, v1alpha1.ConditionReady).Status).To(Equal(metav1.ConditionFalse))
	Expect(condition(audit, v1alpha1.ConditionStalled).Status).To(Equal(metav1.ConditionTrue))
}

var _ = Describe("What could not be observed is Inconclusive", func() {
	It("when the image cannot be found", func(ctx context.Context) {
		audit := settled(ctx, newAudit("nothing-here:dev"))
		expectInconclusive(audit, report.ReasonImagePullFailed, "nothing-here:dev")
		Expect(condition(audit, v1alpha1.ConditionReady).Reason).To(Equal(v1alpha1.ReasonImageUnresolvable))
	})

	It("when the kubelet cannot pull an image that no registry could tell of", func(ctx context.Context) {
		audit := settled(ctx, newAudit("nothing-here:dev", func(a *v1alpha1.MCPServerAudit) {
			a.Spec.Server.Command = []string{"/server"}
		}))
		expectInconclusive(audit, report.ReasonImagePullFailed, "nothing-here:dev")
	})

	It("when the server exits at once", func(ctx context.Context) {
		audit := settled(ctx, newAudit("misbehave:exit"))
		expectInconclusive(audit, report.ReasonServerExited, "NOTES_TOKEN is not set")
	})

	It("when the server never answers", func(ctx context.Context) {
		audit := settled(ctx, newAudit("misbehave:silent", timeout(10*time.Second)))
		expectInconclusive(audit, report.ReasonTimeout, "initialize")
	})

	It("when the server prints garbage on stdout", func(ctx context.Context) {
		audit := settled(ctx, newAudit("misbehave:garbage", timeout(20*time.Second)))
		expectInconclusive(audit, report.ReasonProtocolError, "this is not JSON")
	})

	It("when the command is not in the image", func(ctx context.Context) {
		audit := settled(ctx, newAudit("misbehave:exit", func(a *v1alpha1.MCPServerAudit) {
			a.Spec.Server.Command = []string{"no-such-program"}
		}))
		expectInconclusive(audit, report.ReasonSandboxFailed, "no-such-program")
	})

	It("when the server runs out of memory", func(ctx context.Context) {
		audit := settled(ctx, newAudit("misbehave:oom", func(a *v1alpha1.MCPServerAudit) {
			a.Spec.Sandbox.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}
		}))
		expectInconclusive(audit, report.ReasonOOMKilled, "memory")
	})

	// Which limit is the first to be felt, and by whom, is a matter of luck.
	// Serial: it takes the CPUs of all others.
	It("when the server forks without end, and the node lives on", Serial, func(ctx context.Context) {
		audit := settled(ctx, newAudit("misbehave:fork", timeout(30*time.Second)))
		Expect(audit.Status.Verdict).To(Equal(v1alpha1.VerdictInconclusive), conditions(audit))
		Expect(condition(audit, v1alpha1.ConditionAudited).Message).NotTo(BeEmpty())
		expectPass(settled(ctx, newAudit("honest-go:dev")))
	})

	It("when the report had to be truncated", func(ctx context.Context) {
		audit := settled(ctx, newAudit("misbehave:huge"))
		expectInconclusive(audit, report.ReasonReportTruncated, "report had to leave")
	})

	It("when the tracer is killed", func(ctx context.Context) {
		audit := newAudit("misbehave:slow")
		Expect(k8s.Create(ctx, audit)).To(Succeed())
		pod := awaitRunning(ctx, audit)
		Eventually(killTracer).WithArguments(string(pod.UID)).Should(Succeed())
		awaitVerdict(ctx, audit)
		expectInconclusive(audit, report.ReasonTracerLost, "tracer")
	})

	It("when the cluster takes the tracer's capability away", func(ctx context.Context) {
		stripCapability(ctx)
		audit := settled(ctx, newAudit("honest-go:dev"))
		expectInconclusive(audit, report.ReasonTracerUnavailable, "SYS_PTRACE")
	})
})

// killTracer ends the strace of one Pod from the node, as an OOM kill would. A
// process of the Pod cannot: the tracer has a user id of its own. It waits until
// the server runs, which it does only once it is traced.
func killTracer(podUID string) error {
	servers, err := processes("server", podUID)
	if err != nil || len(servers) == 0 {
		return cmp.Or(err, os.ErrNotExist)
	}
	killed, err := killProcesses("strace", podUID, "-p") // the runner asks one for its version before
	if err == nil && killed == 0 {
		err = os.ErrNotExist
	}
	return err
}

// killProcesses kills processes, and returns how many there were.
func killProcesses(name, cgroupPart string, arguments ...string) (killed int, err error) {
	pids, err := processes(name, cgroupPart, arguments...)
	for _, pid := range pids {
		if err := unix.Kill(pid, unix.SIGKILL); err != nil {
			return killed, err
		}
		killed++
	}
	return killed, err
}

// processes returns the processes of a name that have some arguments, in the control groups whose path has a
// text in it.
func processes(name, cgroupPart string, arguments ...string) (pids []int, err error) {
	comms, err := filepath.Glob("/proc/[0-9]*/comm")
	if err != nil {
		return nil, err
	}
	for _, path := range comms {
		comm, _ := os.ReadFile(path) // the process may have ended
		cgroup, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cgroup"))
		if string(bytes.TrimSpace(comm)) != name || !bytes.Contains(cgroup, []byte(cgroupPart)) {
			continue
		}
		cmdline, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		given := strings.Split(string(cmdline), "\x00")
		if slices.ContainsFunc(arguments, func(argument string) bool { return !slices.Contains(given, argument) }) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			return nil, err
		}
		pids = append(pids, pid)
	}
	return pids, nil
}
