package verdict

import (
	"fmt"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
)

// maxCause bounds what is told of a failure, in bytes of JSON, so that what to do
// about it is never cut off.
const maxCause = 560

// remedies say what to do, in a sentence. What a change of the spec mends is
// audited again by itself; the others say so. docs/troubleshooting.md has more.
var remedies = map[report.Reason]string{
	report.ReasonImagePullFailed: "Check spec.server.image, and spec.server.imagePullSecrets for a private registry; the runner's image is the manager's own, see --runner-image.",
	report.ReasonImageMismatch:   "A mirror or an admission policy replaces images: exempt the run namespace from it." + again,
	report.ReasonPodFailed:       "Find out who deletes or ends Pods in the run namespace, by its events or the audit log of the API server." + again,
	report.ReasonUnschedulable:   "Add nodes or free some, or let the audit Pod have others: spec.sandbox.podTemplate (nodeSelector, tolerations, priorityClassName) and spec.sandbox.resources." + again,
	report.ReasonEvicted: "If it happens again, give the audit Pod a priority or other nodes by spec.sandbox.podTemplate, or more room by spec.sandbox.resources.limits " +
		"where the kubelet names a limit of its own." + again,
	report.ReasonNodeLost: "Look at the node: kubectl describe node tells since when it has been silent." + again,
	report.ReasonRunnerFailed: "This is a fault of mcpaudit, or an image of the runner that is not of the manager's version (--runner-image): compare the two, and report it with this message." +
		again,
	report.ReasonOOMKilled:         "Raise spec.sandbox.resources.limits.memory if it was the server and it honestly needs more; a runner that runs out of memory is a fault of mcpaudit to report.",
	report.ReasonTimeout:           "Raise spec.timeout, or spec.probe.callTimeout for a slow tool; a server that listens on a port needs spec.server.transport and port.",
	report.ReasonServerExited:      "Give the server what it misses, often a variable in spec.server.env or an argument in spec.server.args.",
	report.ReasonNothingAdvertised: "Configure the server so that it shows its tools, by spec.server.env or spec.server.args.",
	report.ReasonCodeFetched:       "Build the package into the image, so that what is audited is what runs.",
	report.ReasonNotExercised:      "What accepted no call was not audited: see spec.probe, and spec.server.env for keys.",
	report.ReasonNotListening:      "Tell the server its port by spec.server.env or spec.server.args, or correct spec.server.port.",
	report.ReasonNotTraced:         "Findings and ManifestStable are all that an audit of spec.server.url can tell; to have the server run and traced, give spec.server.image.",
	report.ReasonUnreachable:       "Check spec.server.url from a Pod in the run namespace, and the NetworkPolicy allow-remote there." + again,
	report.ReasonProtocolError:     "Keep logs off the server's stdout, and check spec.server.transport and path.",
	report.ReasonTracerLost:        "Look for an out-of-memory kill on the node; if it happens again, the server may be doing it." + again,
	report.ReasonTracerUnavailable: "Let the runner's container keep SYS_PTRACE and the seccomp profile RuntimeDefault (a policy may have changed them: exempt the run namespace), " +
		"or choose nodes with kernel.yama.ptrace_scope below 3 by spec.sandbox.podTemplate." + again,
	report.ReasonTraceOverflow: "An honest server hardly ever does that; unobserved in the report says how much was missed." + again,
	report.ReasonCodeLoaded:    "Remove the variable from spec.server.env, or set it in the image.",
	report.ReasonSandboxFailed: "If a policy of the cluster refuses the audit Pod, exempt the run namespace from it; if the command cannot be started, set spec.server.command to what the image has." +
		again,
	report.ReasonRunNamespaceUnusable: "The audits that wait go on by themselves once the run namespace is as config/runs and config/rbac have it." + again,
	report.ReasonReportTruncated:      "The server advertises, or did, more than a report holds: truncated in the report names what was left out. Have it advertise less, or audit it in parts.",
	report.ReasonReportLost: "If it was the log, see that the kubelet answers and that its containerLogMaxSize is at least 1Mi; if it was the API server, see what refuses MCPAuditReports, " +
		"such as a CRD older than the manager." + again,
}

// again is for what mends itself, or is mended outside of the spec.
const again = " To have it audited again, set the annotation " + v1alpha1.RequestedAtAnnotation + " to a new value."

// remedy says what helps against a reason.
func remedy(reason report.Reason) string { return remedies[reason] }

// told is what happened and what to do about it.
func told(incomplete report.Incomplete) string {
	return fmt.Sprintf("%s %s", sentence(capital(excerpt.Line(incomplete.Message, maxCause))), remedy(incomplete.Reason))
}
