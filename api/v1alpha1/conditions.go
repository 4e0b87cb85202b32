package v1alpha1

// The condition types of an MCPServerAudit. Each condition carries the
// generation of the spec that it is about, so `kubectl wait` is not answered by
// the verdict on an older spec.
const (
	// ConditionReady sums up the audit: the server may be used.
	//
	// Possible reasons for this condition to be True are:
	//
	// * "Passed"
	//
	// Possible reasons for this condition to be False are:
	//
	// * "FindingsAboveThreshold"
	// * "ScopeExceeded"
	// * "ManifestDrifted"
	// * "AuditInconclusive"
	// * "ImageUnresolvable"
	// * "InvalidSpec"
	// * "NotAllowed"
	// * "Suspended"
	//
	// Possible reasons for this condition to be Unknown, before the first
	// verdict only, are:
	//
	// * "Pending"
	// * "Queued"
	// * "Running"
	// * "Collecting"
	ConditionReady = "Ready"

	// ConditionAudited says whether the last audit could observe everything.
	//
	// Possible reasons for this condition to be True are:
	//
	// * "Completed"
	//
	// Possible reasons for this condition to be False are:
	//
	// * "ImagePullFailed"
	// * "ImageMismatch"
	// * "PodFailed"
	// * "Unschedulable"
	// * "Evicted"
	// * "NodeLost"
	// * "RunnerFailed"
	// * "OOMKilled"
	// * "Timeout"
	// * "ServerExited"
	// * "NothingAdvertised"
	// * "NotExercised"
	// * "CodeFetched"
	// * "NotListening"
	// * "NotTraced"
	// * "Unreachable"
	// * "ProtocolError"
	// * "TracerLost"
	// * "TracerUnavailable"
	// * "TraceOverflow"
	// * "CodeLoaded"
	// * "SandboxFailed"
	// * "RunNamespaceUnusable"
	// * "ReportTruncated"
	// * "ReportLost"
	//
	// Possible reasons for this condition to be Unknown are:
	//
	// * "NotYetAudited"
	ConditionAudited = "Audited"

	// ConditionScopeConformant says whether the server kept to spec.declaredScope.
	//
	// Possible reasons for this condition to be True are:
	//
	// * "WithinScope"
	// * "NoScopeDeclared"
	//
	// Possible reasons for this condition to be False are:
	//
	// * "ScopeExceeded"
	//
	// Possible reasons for this condition to be Unknown are:
	//
	// * "AuditIncomplete"
	// * "NotYetAudited"
	ConditionScopeConformant = "ScopeConformant"

	// ConditionManifestStable says whether what the server advertises is its baseline.
	//
	// Possible reasons for this condition to be True are:
	//
	// * "MatchesBaseline"
	// * "FirstUse"
	//
	// Possible reasons for this condition to be False are:
	//
	// * "ManifestDrifted"
	// * "BaselineMismatch"
	//
	// Possible reasons for this condition to be Unknown are:
	//
	// * "NoBaseline"
	// * "ManifestIncomplete"
	// * "NotYetAudited"
	ConditionManifestStable = "ManifestStable"

	// ConditionAuditing says whether an audit is in progress.
	//
	// Possible reasons for this condition to be True are:
	//
	// * "Pending"
	// * "Queued"
	// * "Running"
	// * "Collecting"
	//
	// Possible reasons for this condition to be False are:
	//
	// * "Idle"
	ConditionAuditing = "Auditing"

	// ConditionImageAmbiguous is present, and True, only if the last audit ran one of
	// several images that spec.server.image could stand for (abnormal-true). The verdict
	// is about that one; the message names the digest to pin.
	//
	// Possible reasons for this condition to be True are:
	//
	// * "AmbiguousIndex"
	// * "ResolvedByNode"
	ConditionImageAmbiguous = "ImageAmbiguous"

	// ConditionReconciling is present, and True, only until the first verdict
	// (kstatus: abnormal-true). Auditing a decided object again never sets it.
	// Its reasons are those of Ready=Unknown.
	ConditionReconciling = "Reconciling"

	// ConditionStalled is present, and True, only when nothing will change
	// without somebody's doing (kstatus: abnormal-true). Its reasons are those of
	// Ready=False.
	ConditionStalled = "Stalled"
)

// The reasons of Ready.
const (
	// ReasonPassed: the audit was complete and nothing reached the threshold.
	ReasonPassed = "Passed"
	// ReasonFindingsAboveThreshold: findings reached spec.failOn.
	ReasonFindingsAboveThreshold = "FindingsAboveThreshold"
	// ReasonScopeExceeded: all that reached spec.failOn is outside of
	// spec.declaredScope. Also the reason of ScopeConformant, whatever the severity.
	ReasonScopeExceeded = "ScopeExceeded"
	// ReasonManifestDrifted: the manifest is not the baseline's. Also a reason of
	// ManifestStable, for a baseline that was trusted on first use.
	ReasonManifestDrifted = "ManifestDrifted"
	// ReasonAuditInconclusive: see Audited for what could not be observed.
	ReasonAuditInconclusive = "AuditInconclusive"
	// ReasonImageUnresolvable: the image could not be found, read or pulled.
	ReasonImageUnresolvable = "ImageUnresolvable"
	// ReasonInvalidSpec: the spec says something that cannot be done; the message
	// names the field.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonNotAllowed: the spec asks for what the operator's configuration does not
	// allow; the message names the field, the value and the key of the configuration.
	ReasonNotAllowed = "NotAllowed"
	// ReasonSuspended: an audit is due, and spec.suspend holds it back.
	ReasonSuspended = "Suspended"
	// ReasonPending: the audit has not begun.
	ReasonPending = "Pending"
	// ReasonQueued: the audit waits for something that the message names.
	ReasonQueued = "Queued"
	// ReasonRunning: the audit Pod exists.
	ReasonRunning = "Running"
	// ReasonCollecting: the audit Pod is done, and its report could not be read or
	// stored yet.
	ReasonCollecting = "Collecting"
)

// The reasons of Audited.
const (
	// ReasonCompleted: everything was observed.
	ReasonCompleted = "Completed"
	// ReasonNotYetAudited: there was no audit.
	ReasonNotYetAudited = "NotYetAudited"
	// ReasonImagePullFailed: the server's or the runner's image could not be had.
	ReasonImagePullFailed = "ImagePullFailed"
	// ReasonImageMismatch: the kubelet ran another image than the resolved one.
	ReasonImageMismatch = "ImageMismatch"
	// ReasonPodFailed: the audit Pod was deleted, or ended without a report in a way
	// that none of the other reasons names.
	ReasonPodFailed = "PodFailed"
	// ReasonUnschedulable: no node took the audit Pod.
	ReasonUnschedulable = "Unschedulable"
	// ReasonEvicted: the audit Pod was evicted, preempted or shut down with its node.
	ReasonEvicted = "Evicted"
	// ReasonNodeLost: the node of the audit Pod does not answer, or is gone.
	ReasonNodeLost = "NodeLost"
	// ReasonRunnerFailed: the runner crashed.
	ReasonRunnerFailed = "RunnerFailed"
	// ReasonOOMKilled: the server or the runner ran out of memory.
	ReasonOOMKilled = "OOMKilled"
	// ReasonTimeout: the server, or the audit as a whole, gave no answer in time.
	ReasonTimeout = "Timeout"
	// ReasonServerExited: the server ended before it had answered everything.
	ReasonServerExited = "ServerExited"
	// ReasonNothingAdvertised: the server advertises no tool, resource or prompt,
	// so there was nothing to exercise.
	ReasonNothingAdvertised = "NothingAdvertised"
	// ReasonNotExercised: spec.probe left something out, or it can be called in no
	// way that the probe knows, or no tool accepted a call.
	ReasonNotExercised = "NotExercised"
	// ReasonCodeFetched: the server fetched code over the network when it started.
	ReasonCodeFetched = "CodeFetched"
	// ReasonNotListening: the server does not listen on spec.server.port.
	ReasonNotListening = "NotListening"
	// ReasonNotTraced: the server of spec.server.url runs elsewhere, so that only
	// what it says was seen.
	ReasonNotTraced = "NotTraced"
	// ReasonUnreachable: spec.server.url could not be connected to.
	ReasonUnreachable = "Unreachable"
	// ReasonProtocolError: what the server said is not MCP.
	ReasonProtocolError = "ProtocolError"
	// ReasonTracerLost: the tracer ended before the server did.
	ReasonTracerLost = "TracerLost"
	// ReasonTracerUnavailable: the tracer could not attach.
	ReasonTracerUnavailable = "TracerUnavailable"
	// ReasonTraceOverflow: events were dropped before they could be judged.
	ReasonTraceOverflow = "TraceOverflow"
	// ReasonCodeLoaded: spec.server.env has a variable that makes the server load code
	// that its image does not have it load.
	ReasonCodeLoaded = "CodeLoaded"
	// ReasonSandboxFailed: the server could not be started in its sandbox.
	ReasonSandboxFailed = "SandboxFailed"
	// ReasonRunNamespaceUnusable: the run namespace does not exist, or forbids audit Pods.
	ReasonRunNamespaceUnusable = "RunNamespaceUnusable"
	// ReasonReportTruncated: there was more to report than the caps allow.
	ReasonReportTruncated = "ReportTruncated"
	// ReasonReportLost: the runner finished, but its report could not be read,
	// verified or stored.
	ReasonReportLost = "ReportLost"
)

// The reasons of ScopeConformant, besides ReasonScopeExceeded.
const (
	// ReasonWithinScope: nothing was seen that spec.declaredScope does not allow.
	ReasonWithinScope = "WithinScope"
	// ReasonNoScopeDeclared: spec.declaredScope is absent.
	ReasonNoScopeDeclared = "NoScopeDeclared"
	// ReasonAuditIncomplete: nothing was seen outside of it, and not all was seen.
	ReasonAuditIncomplete = "AuditIncomplete"
)

// The reasons of ImageAmbiguous.
const (
	// ReasonAmbiguousIndex: container runtimes could run different manifests of the index
	// that the image names.
	ReasonAmbiguousIndex = "AmbiguousIndex"
	// ReasonResolvedByNode: the registry did not answer the operator, so that only the
	// node knows what the image named.
	ReasonResolvedByNode = "ResolvedByNode"
)

// The reasons of ManifestStable and Auditing.
const (
	// ReasonMatchesBaseline: the manifest is the baseline's.
	ReasonMatchesBaseline = "MatchesBaseline"
	// ReasonFirstUse: this audit's manifest became the baseline.
	ReasonFirstUse = "FirstUse"
	// ReasonBaselineMismatch: the manifest is not the pinned one.
	ReasonBaselineMismatch = "BaselineMismatch"
	// ReasonNoBaseline: there is nothing to compare with.
	ReasonNoBaseline = "NoBaseline"
	// ReasonManifestIncomplete: the manifest could not be listed completely, so
	// it can neither be compared nor trusted.
	ReasonManifestIncomplete = "ManifestIncomplete"
	// ReasonIdle: no audit is in progress.
	ReasonIdle = "Idle"
)
