package report

import "slices"

// The reasons why an audit is incomplete. Causes explains them.
const (
	ReasonImagePullFailed      Reason = "ImagePullFailed"
	ReasonImageMismatch        Reason = "ImageMismatch"
	ReasonPodFailed            Reason = "PodFailed"
	ReasonUnschedulable        Reason = "Unschedulable"
	ReasonEvicted              Reason = "Evicted"
	ReasonNodeLost             Reason = "NodeLost"
	ReasonRunNamespaceUnusable Reason = "RunNamespaceUnusable"
	ReasonSandboxFailed        Reason = "SandboxFailed"
	ReasonServerExited         Reason = "ServerExited"
	ReasonTimeout              Reason = "Timeout"
	ReasonOOMKilled            Reason = "OOMKilled"
	ReasonNothingAdvertised    Reason = "NothingAdvertised"
	ReasonNotExercised         Reason = "NotExercised"
	ReasonWeaklyExercised      Reason = "WeaklyExercised"
	ReasonCodeFetched          Reason = "CodeFetched"
	ReasonCodeLoaded           Reason = "CodeLoaded"
	ReasonInstallFailed        Reason = "InstallFailed"
	ReasonNotListening         Reason = "NotListening"
	ReasonNotTraced            Reason = "NotTraced"
	ReasonUnreachable          Reason = "Unreachable"
	ReasonProtocolError        Reason = "ProtocolError"
	ReasonTracerLost           Reason = "TracerLost"
	ReasonTracerUnavailable    Reason = "TracerUnavailable"
	ReasonTraceOverflow        Reason = "TraceOverflow"
	ReasonReportTruncated      Reason = "ReportTruncated"
	ReasonRunnerFailed         Reason = "RunnerFailed"
	ReasonReportLost           Reason = "ReportLost"
)

// +kubebuilder:object:generate=false

// A Cause is a reason of an Inconclusive verdict and of the condition Audited=False. Retries,
// remedies, metric labels and the table in docs/spec/mcpserveraudit.md come from it.
type Cause struct {
	Reason Reason
	// Meaning continues the sentence "The audit is incomplete, because".
	Meaning string
	By      Party
	Retry   Retry
	// Remedy says what to do in a cluster, in one or two sentences.
	Remedy string
	// Outside: the remedy does not change the spec, so somebody has to request the next audit.
	Outside bool
}

// Party says who sets a reason.
type Party string

// The parties.
const (
	// ByRunner: the runner, or the command line, which observes the server.
	ByRunner Party = "runner"
	// ByManager: the manager, which observes the audit Pod.
	ByManager Party = "manager"
	ByBoth    Party = "both"
)

// Retry says whether the next audit may end differently although nothing was changed.
type Retry string

// When audits are retried.
const (
	// RetryNever: the same server and spec will give the same result.
	RetryNever Retry = "no"
	// RetryAlways: the registry, the network, the node or the run namespace is the cause.
	RetryAlways Retry = "yes"
	// RetryUnlessReported: a server that the runner reports as too slow stays so; a Pod that
	// does not end in time may not be the server's fault.
	RetryUnlessReported Retry = "yes, unless the runner reports it"
	// RetryUnlessOverLimit: a server that exceeds a limit, such as that of its disk, will do so
	// again.
	RetryUnlessOverLimit Retry = "yes, unless the Pod exceeded a limit of its own"
)

// Causes lists every reason why an audit may be incomplete.
var Causes = []Cause{
	{
		ReasonImagePullFailed, "the server's or the runner's image could not be pulled", ByManager, RetryAlways,
		"Check spec.server.image, and spec.server.imagePullSecrets for a private registry; the runner's image " +
			"is the manager's own, see --runner-image.", false,
	},
	{
		ReasonImageMismatch, "the kubelet ran another image than the one that the registry had named", ByManager, RetryAlways,
		"A mirror or an admission policy replaces images: exempt the run namespace from it.", true,
	},
	{
		ReasonPodFailed, "the audit Pod was deleted, or ended without a report in a way that no other reason names", ByManager, RetryAlways,
		"Find out who deletes or ends Pods in the run namespace, by its events or the audit log of the API " +
			"server.", true,
	},
	{
		ReasonUnschedulable, "no node took the audit Pod", ByManager, RetryAlways,
		"Add nodes or free some, or let the audit Pod have others: spec.sandbox.podTemplate (nodeSelector, " +
			"tolerations, priorityClassName) and spec.sandbox.resources.", true,
	},
	{
		ReasonEvicted, "the audit Pod was evicted, preempted or shut down with its node", ByManager, RetryUnlessOverLimit,
		"If it happens again, give the audit Pod a priority or other nodes by spec.sandbox.podTemplate, or " +
			"more room by spec.sandbox.resources.limits where the kubelet names a limit of its own.", true,
	},
	{
		ReasonNodeLost, "the node of the audit Pod does not answer, or is gone", ByManager, RetryAlways,
		"Look at the node: kubectl describe node tells since when it has been silent.", true,
	},
	{
		ReasonRunNamespaceUnusable, "the run namespace does not exist, or forbids audit Pods", ByManager, RetryAlways,
		"The audits that wait go on by themselves once the run namespace is as config/runs and config/rbac " +
			"have it.", true,
	},
	{
		ReasonSandboxFailed, "the server could not be started in its sandbox", ByBoth, RetryAlways,
		"If a policy of the cluster refuses the audit Pod, exempt the run namespace from it; if the command " +
			"cannot be started, set spec.server.command to what the image has.", true,
	},
	{
		ReasonServerExited, "the server ended before it had answered everything", ByRunner, RetryNever,
		"Give the server what it misses, often a variable in spec.server.env or an argument in " +
			"spec.server.args.", false,
	},
	{
		ReasonTimeout, "the server, or the audit as a whole, gave no answer in time", ByBoth, RetryUnlessReported,
		"Raise spec.timeout, or spec.probe.callTimeout for a slow tool; a server that listens on a port needs " +
			"spec.server.transport and port.", false,
	},
	{
		ReasonOOMKilled, "the server or the runner ran out of memory", ByBoth, RetryNever,
		"Raise spec.sandbox.resources.limits.memory if it was the server and it honestly needs more; a runner " +
			"that runs out of memory is a fault of mcpaudit to report.", false,
	},
	{
		ReasonNothingAdvertised, "the server advertises no tool, resource or prompt, so nothing could be exercised", ByRunner, RetryNever,
		"Configure the server so that it shows its tools, by spec.server.env or spec.server.args.", false,
	},
	{
		ReasonNotExercised, "spec.probe left something out, the probe knows no way to call it, or no tool accepted a call", ByRunner, RetryNever,
		"What accepted no call was not audited: see spec.probe, and spec.server.env for keys.", false,
	},
	{
		ReasonWeaklyExercised, "fewer tools accepted a call than spec.minAssurance asks for", ByRunner, RetryNever,
		"Give the tools what they ask for (spec.outputs of the report has their refusals): keys by spec.server.env, " +
			"arguments by spec.probe.inputs, time by spec.timeout. Or accept a verdict that rests on less: spec.minAssurance Weak.", false,
	},
	{
		ReasonCodeFetched, "the server fetched code over the network when it started", ByRunner, RetryNever,
		"Build the package into the image, so that what is audited is what runs.", false,
	},
	{
		ReasonCodeLoaded, "a variable in spec.server.env makes the server load code that its image does not have it load", ByBoth, RetryNever,
		"Remove the variable from spec.server.env, or set it in the image.", false,
	},
	{
		ReasonInstallFailed, "an install script of a package failed without the network", ByRunner, RetryNever,
		"Build the package into an image, and audit that.", false,
	},
	{
		ReasonNotListening, "the server does not listen on spec.server.port", ByRunner, RetryNever,
		"Tell the server its port by spec.server.env or spec.server.args, or correct spec.server.port.", false,
	},
	{
		ReasonNotTraced, "the server of spec.server.url runs elsewhere, so only what it says was seen", ByRunner, RetryNever,
		"Findings and ManifestStable are all that an audit of spec.server.url can tell; to have the server " +
			"run and traced, give spec.server.image.", false,
	},
	{
		ReasonUnreachable, "spec.server.url could not be connected to", ByRunner, RetryAlways,
		"Check spec.server.url from a Pod in the run namespace, and the NetworkPolicy allow-remote there.", true,
	},
	{
		ReasonProtocolError, "what the server said is not MCP", ByRunner, RetryNever,
		"Keep logs off the server's stdout, and check spec.server.transport and path.", false,
	},
	{
		ReasonTracerLost, "the tracer ended before the server did", ByRunner, RetryAlways,
		"Look for an out-of-memory kill on the node; if it happens again, the server may be doing it.", true,
	},
	{
		ReasonTracerUnavailable, "the tracer could not attach", ByRunner, RetryAlways,
		"Let the runner's container keep SYS_PTRACE and the seccomp profile RuntimeDefault (a policy may have " +
			"changed them: exempt the run namespace), or choose nodes with kernel.yama.ptrace_scope below 3 by " +
			"spec.sandbox.podTemplate.", true,
	},
	{
		ReasonTraceOverflow, "events were dropped before they could be judged", ByRunner, RetryNever,
		"This is rare for benign servers; unobserved in the report says how much was missed.", true,
	},
	{
		ReasonReportTruncated, "there was more to report than the caps allow", ByRunner, RetryNever,
		"The server advertises, or did, more than a report holds: truncated in the report names what was left " +
			"out. Have it advertise less, or audit it in parts.", false,
	},
	{
		ReasonRunnerFailed, "the runner crashed, or what it reported cannot be understood", ByManager, RetryAlways,
		"This is a fault of mcpaudit, or an image of the runner that is not of the manager's version " +
			"(--runner-image): compare the two, and report it with this message.", true,
	},
	{
		ReasonReportLost, "the runner finished, but its report could not be read, verified or stored", ByManager, RetryAlways,
		"If it was the log, see that the kubelet answers and that its containerLogMaxSize is at least 1Mi; if " +
			"it was the API server, see what refuses MCPAuditReports, such as a CRD older than the manager.", true,
	},
}

// CauseOf returns the row of a reason. A newer version may have reasons without one.
func CauseOf(reason Reason) (Cause, bool) {
	i := slices.IndexFunc(Causes, func(c Cause) bool { return c.Reason == reason })
	if i < 0 {
		return Cause{}, false
	}
	return Causes[i], true
}
