package result

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
)

// containerWaits checks for a container that the kubelet cannot start.
func containerWaits(v view) (State, bool) {
	for _, name := range []string{podspec.ContainerInstall, podspec.ContainerServer, podspec.ContainerRunner} {
		status := v.container(name)
		if status == nil || status.State.Waiting == nil {
			continue
		}
		waiting := status.State.Waiting
		switch waiting.Reason {
		case "InvalidImageName", "ErrImageNeverPull":
			return v.pullFailed(name, waiting), true
		case "ErrImagePull", "ImagePullBackOff", "RegistryUnavailable", "ImageInspectError", "SignatureValidationFailed":
			// The first failure may pass: the kubelet retries with back-off.
			if v.taken() >= v.deadlines.Pull && waiting.Reason != "ErrImagePull" {
				return v.pullFailed(name, waiting), true
			}
			return v.retried("The %s could not be pulled yet, and is tried again: %s", v.image(name), waitingText(waiting)), true
		case "CreateContainerConfigError", "CreateContainerError", "RunContainerError", "CreateSandboxError":
			if v.taken() >= v.deadlines.Pull {
				return failed(report.ReasonSandboxFailed, "The container %s could not be started: %s", name, waitingText(waiting)), true
			}
			return v.retried("The container %s could not be started yet, and is tried again: %s", name, waitingText(waiting)), true
		}
	}
	return State{}, false
}

// retried returns the state of a failure that the kubelet retries until the deadline.
func (v view) retried(format string, args ...any) State {
	return State{Stage: Starting, Recheck: max(v.deadlines.Pull-v.taken(), time.Second), Message: excerpt.Sentence(fmt.Sprintf(format, args...))}
}

func (v view) pullFailed(name string, waiting *corev1.ContainerStateWaiting) State {
	return failed(report.ReasonImagePullFailed, "The %s could not be pulled: %s", v.image(name), waitingText(waiting))
}

// image says whose image it is: the operator must fix the runner's.
func (v view) image(container string) string {
	for _, list := range [][]corev1.Container{v.pod.Spec.InitContainers, v.pod.Spec.Containers} {
		for _, c := range list {
			if c.Name != container {
				continue
			}
			if container == podspec.ContainerServer {
				return "server image " + c.Image
			}
			return "runner image " + c.Image + " (the manager's --runner-image)"
		}
	}
	return "image"
}

func installFailed(v view) (State, bool) {
	install := v.terminated(podspec.ContainerInstall)
	if install == nil || install.ExitCode == 0 {
		return State{}, false
	}
	return failed(report.ReasonSandboxFailed, "The sandbox could not be prepared (exit status %d): %s", install.ExitCode, or(install.Message, install.Reason)), true
}

func runnerOutOfMemory(v view) (State, bool) {
	runner := v.terminated(podspec.ContainerRunner)
	if runner == nil || runner.Reason != "OOMKilled" {
		return State{}, false
	}
	return failed(report.ReasonOOMKilled, "The runner ran out of memory before it could report; the server did not"), true
}

// runnerFailed quotes the runner's last output: its error or panic.
func runnerFailed(v view) (State, bool) {
	runner := v.terminated(podspec.ContainerRunner)
	if runner == nil || v.pod.Status.Reason != "" {
		return State{}, false // podFailed knows why the whole Pod was given up
	}
	return failed(report.ReasonRunnerFailed, "The runner ended without a report (exit status %d): %s", runner.ExitCode, or(runner.Message, runner.Reason)), true
}

// serverNotStarted checks for a container that the runtime could not start. Once the shim runs,
// the runner reports on the server.
func serverNotStarted(v view) (State, bool) {
	server := v.terminated(podspec.ContainerServer)
	if server == nil || server.Reason != "StartError" && server.Reason != "ContainerCannotRun" {
		return State{}, false
	}
	return failed(report.ReasonSandboxFailed, "The container of the server could not be started: %s", or(server.Message, server.Reason)), true
}

func waitingText(waiting *corev1.ContainerStateWaiting) string {
	if waiting.Message == "" {
		return waiting.Reason
	}
	return waiting.Reason + ": " + waiting.Message
}
