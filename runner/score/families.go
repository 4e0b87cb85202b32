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
// half, so that one serious finding is a high risk by itself; the others are set
// beside them. A server that runs commands, or something that is left behind to
// run, can do all that the rest can.
var (
	exfiltration         = family{"Exfiltration", 0.75}
	commandExecution     = family{"CommandExecution", 0.625} // command_exec 25
	persistence          = family{"Persistence", 0.625}
	privilege            = family{"Privilege", 0.625}
	evasion              = family{"Evasion", 0.5}
	networkOutbound      = family{"NetworkOutbound", 0.5} // network_outbound 20
	networkInbound       = family{"NetworkInbound", 0.5}  // network_inbound 20
	credentialAccess     = family{"CredentialAccess", 0.5}
	promptInjection      = family{"PromptInjection", 0.45} // prompt_injection 18
	impersonation        = family{"Impersonation", 0.45}
	manifestDrift        = family{"ManifestDrift", 0.45}
	fileAccess           = family{"FileAccess", 0.375}     // file_read, file_write 15
	behaviourDrift       = family{"BehaviourDrift", 0.375} // new conduct behind the same manifest
	misleadingAnnotation = family{"MisleadingAnnotation", 0.3}
	protocolViolation    = family{"ProtocolViolation", 0.1}
	// other is what a newer rule finds.
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
	{"MCPA-LISTEN-", networkInbound},
	{"MCPA-PRIV-", privilege},
	{"MCPA-FILE-001", credentialAccess},
	{"MCPA-FILE-", fileAccess},
	{"MCPA-EVADE-", evasion},
	{"MCPA-POISON-", promptInjection},
	{"MCPA-OUTPUT-", promptInjection},
	{"MCPA-SQUAT-", impersonation},
	{"MCPA-MANIFEST-", manifestDrift},
	{"MCPA-BEHAVIOR-", behaviourDrift},
	{"MCPA-ANNOTATION-", misleadingAnnotation},
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
