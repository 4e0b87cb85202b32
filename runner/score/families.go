package score

import "strings"

// family is a kind of capability that was seen in use without a declaration.
type family struct {
	// name is the word of the report.
	name string
	// weight is the share of 100 that it brings alone, at its worst.
	weight float64
}

// The families. Those that mcp-sec-audit knows have its weights times two and a
// half (in the comment), so that one serious finding is a high risk by itself; the
// others are set beside them. Who runs commands, or leaves something behind to
// run, can do all that the rest can.
var (
	exfiltration      = family{"Exfiltration", 0.75}
	commandExecution  = family{"CommandExecution", 0.625} // command_exec 25
	persistence       = family{"Persistence", 0.625}
	privilege         = family{"Privilege", 0.625}
	networkOutbound   = family{"NetworkOutbound", 0.5} // network_outbound 20
	networkInbound    = family{"NetworkInbound", 0.5}  // network_inbound 20
	credentialAccess  = family{"CredentialAccess", 0.5}
	evasion           = family{"Evasion", 0.5}
	promptInjection   = family{"PromptInjection", 0.45} // prompt_injection 18
	impersonation     = family{"Impersonation", 0.45}
	manifestDrift     = family{"ManifestDrift", 0.45}
	fileRead          = family{"FileRead", 0.375}  // file_read 15
	fileWrite         = family{"FileWrite", 0.375} // file_write 15
	behaviourDrift    = family{"BehaviourDrift", 0.375}
	parameterOverride = family{"ParameterOverride", 0.3}  // param_override 12
	toolSequence      = family{"ToolSequenceHijack", 0.3} // tool_sequence_hijack 12
	brokenHint        = family{"BrokenHint", 0.3}
	protocolViolation = family{"ProtocolViolation", 0.1}
	// other counts what a newer rule finds.
	other = family{"Other", 0.375}
)

// families say by the beginning of its id what a rule is about; the first that fits
// counts.
var families = []struct {
	rule string
	family
}{
	{"MCPA-SECRET-001", credentialAccess},
	{"MCPA-SECRET-", exfiltration},
	{"MCPA-EGRESS-002", credentialAccess}, // a metadata service hands out the machine's own
	{"MCPA-EGRESS-", networkOutbound},
	{"MCPA-EXEC-", commandExecution},
	{"MCPA-PERSIST-", persistence},
	{"MCPA-SOCKET-", privilege},
	{"MCPA-PRIV-", privilege},
	{"MCPA-LISTEN-", networkInbound},
	{"MCPA-FILE-001", credentialAccess}, // what usually holds secrets
	{"MCPA-FILE-002", fileWrite},
	{"MCPA-FILE-", fileRead},
	{"MCPA-EVADE-", evasion},
	{"MCPA-POISON-002", toolSequence},
	{"MCPA-POISON-003", parameterOverride},
	{"MCPA-POISON-004", impersonation}, // of a tool of another server
	{"MCPA-POISON-", promptInjection},
	{"MCPA-OUTPUT-", promptInjection},
	{"MCPA-SQUAT-", impersonation},
	{"MCPA-MANIFEST-", manifestDrift},
	{"MCPA-BEHAVIOR-", behaviourDrift},
	{"MCPA-HINT-001", fileWrite}, // what a broken hint is about is what was done
	{"MCPA-HINT-002", fileWrite},
	{"MCPA-HINT-004", networkOutbound},
	{"MCPA-HINT-", brokenHint},
	{"MCPA-PROTOCOL-", protocolViolation},
}

func familyOf(rule string) family {
	for _, f := range families {
		if strings.HasPrefix(rule, f.rule) {
			return f.family
		}
	}
	return other
}
