package rules

import (
	"slices"
	"strings"
)

// Reference is an entry of another catalogue that a rule is about.
type Reference struct {
	// ID is how rules name it: "OWASP MCP05:2025", "SAFE-T1104".
	ID, Title, URL string
}

// The catalogues, and the specification of MCP. OWASP's is the 2025 edition (beta), SAFE-MCP's that of May 2026.
// The NSA's recommendations (U/OO/6030316-26) are not among them: how they are
// numbered could not be held against the document itself.
const (
	owasp   = "https://owasp.org/www-project-mcp-top-10/2025/"
	safeMCP = "https://github.com/safe-agentic-framework/safe-mcp/blob/main/"
	spec    = "https://modelcontextprotocol.io/specification/2025-11-25/"
)

// LookUp finds a reference; false for one that was never held against its catalogue.
func LookUp(id string) (Reference, bool) {
	i := slices.IndexFunc(references, func(r Reference) bool { return r.ID == id })
	if i < 0 {
		return Reference{}, false
	}
	r := references[i]
	if technique := strings.HasPrefix(r.ID, "SAFE-"); technique && r.URL == "" {
		r.URL = safeMCP + "techniques/" + r.ID + "/README.md"
	}
	return r, true
}

// references are the entries that an audit can have something to say about. A
// technique without a page of its own is in SAFE-MCP's table.
var references = []Reference{
	{"OWASP MCP01:2025", "Token Mismanagement & Secret Exposure", owasp + "MCP01-2025-Token-Mismanagement-and-Secret-Exposure"},
	{"OWASP MCP02:2025", "Privilege Escalation via Scope Creep", owasp + "MCP02-2025%E2%80%93Privilege-Escalation-via-Scope-Creep"},
	{"OWASP MCP03:2025", "Tool Poisoning", owasp + "MCP03-2025%E2%80%93Tool-Poisoning"},
	{"OWASP MCP04:2025", "Software Supply Chain Attacks & Dependency Tampering", owasp + "MCP04-2025%E2%80%93Software-Supply-Chain-Attacks%26Dependency-Tampering"},
	{"OWASP MCP05:2025", "Command Injection & Execution", owasp + "MCP05-2025%E2%80%93Command-Injection%26Execution"},
	{"OWASP MCP06:2025", "Intent Flow Subversion", owasp + "MCP06-2025%E2%80%93Intent-Flow-Subversion"},
	{"OWASP MCP07:2025", "Insufficient Authentication & Authorization", owasp + "MCP07-2025%E2%80%93Insufficient-Authentication%26Authorization"},
	{"OWASP MCP08:2025", "Lack of Audit and Telemetry", owasp + "MCP08-2025%E2%80%93Lack-of-Audit-and-Telemetry"},
	{"OWASP MCP09:2025", "Shadow MCP Servers", owasp + "MCP09-2025%E2%80%93Shadow-MCP-Servers"},
	{"OWASP MCP10:2025", "Context Injection & Over-Sharing", owasp + "MCP10-2025%E2%80%93ContextInjection%26OverSharing"},
	{"MCP basic", "Messages", spec + "basic"},
	{"MCP transports", "Transports", spec + "basic/transports"},
	{"MCP progress", "Progress", spec + "basic/utilities/progress"},
	{"MCP tools", "Tools", spec + "server/tools"},
	{"MCP pagination", "Pagination", spec + "server/utilities/pagination"},
	{"SAFE-T1001", "Tool Poisoning Attack (TPA)", ""},
	{"SAFE-T1002", "Supply Chain Compromise", ""},
	{"SAFE-T1003", "Malicious MCP-Server Distribution", ""},
	{"SAFE-T1004", "Server Impersonation / Name-Collision", ""},
	{"SAFE-T1005", "Exposed Endpoint Exploit", ""},
	{"SAFE-T1008", "Tool Shadowing Attack", ""},
	{"SAFE-T1101", "Command Injection", ""},
	{"SAFE-T1102", "Prompt Injection (Multiple Vectors)", ""},
	{"SAFE-T1103", "Fake Tool Invocation (Function Spoofing)", ""},
	{"SAFE-T1104", "Over-Privileged Tool Abuse", ""},
	{"SAFE-T1105", "Path Traversal via File Tool", ""},
	{"SAFE-T1106", "Autonomous Loop Exploit", ""},
	{"SAFE-T1111", "AI Agent CLI Weaponization", ""},
	{"SAFE-T1112", "Sampling Request Abuse", ""},
	{"SAFE-T1201", "MCP Rug Pull Attack", ""},
	{"SAFE-T1203", "Backdoored Server Binary", ""},
	{"SAFE-T1204", "Context Memory Implant", ""},
	{"SAFE-T1205", "Persistent Tool Redefinition", ""},
	{"SAFE-T1206", "Credential Implant in Config", safeMCP + "README.md"},
	{"SAFE-T1207", "Hijack Update Mechanism", safeMCP + "README.md"},
	{"SAFE-T1301", "Cross-Server Tool Shadowing", ""},
	{"SAFE-T1302", "High-Privilege Tool Abuse", ""},
	{"SAFE-T1303", "Sandbox Escape via Server Exec", ""},
	{"SAFE-T1304", "Credential Relay Chain", ""},
	{"SAFE-T1305", "Host OS Priv-Esc (RCE)", ""},
	{"SAFE-T1309", "Privileged Tool Invocation via Prompt Manipulation", ""},
	{"SAFE-T1401", "Line Jumping", ""},
	{"SAFE-T1402", "Instruction Steganography", ""},
	{"SAFE-T1403", "Consent-Fatigue Exploit", ""},
	{"SAFE-T1404", "Response Tampering", ""},
	{"SAFE-T1405", "Tool Obfuscation/Renaming", safeMCP + "README.md"},
	{"SAFE-T1406", "Metadata Manipulation", safeMCP + "README.md"},
	{"SAFE-T1407", "Server Proxy Masquerade", ""},
	{"SAFE-T1501", "Full-Schema Poisoning (FSP)", ""},
	{"SAFE-T1502", "File-Based Credential Harvest", ""},
	{"SAFE-T1503", "Env-Var Scraping", ""},
	{"SAFE-T1504", "Token Theft via API Response", ""},
	{"SAFE-T1505", "In-Memory Secret Extraction", ""},
	{"SAFE-T1506", "Infrastructure Token Theft", safeMCP + "README.md"},
	{"SAFE-T1601", "MCP Server Enumeration", ""},
	{"SAFE-T1605", "Capability Mapping", ""},
	{"SAFE-T1606", "Directory Listing via File Tool", ""},
	{"SAFE-T1701", "Cross-Tool Contamination", ""},
	{"SAFE-T1703", "Tool-Chaining Pivot", ""},
	{"SAFE-T1704", "Compromised-Server Pivot", ""},
	{"SAFE-T1801", "Automated Data Harvesting", ""},
	{"SAFE-T1802", "File Collection", safeMCP + "README.md"},
	{"SAFE-T1803", "Database Dump", ""},
	{"SAFE-T1804", "API Data Harvest", ""},
	{"SAFE-T1901", "Outbound Webhook C2", safeMCP + "README.md"},
	{"SAFE-T1902", "Covert Channel in Responses", safeMCP + "README.md"},
	{"SAFE-T1903", "Malicious Server Control Channel", safeMCP + "README.md"},
	{"SAFE-T1904", "Chat-Based Backchannel", ""},
	{"SAFE-T1910", "Covert Channel Exfiltration", ""},
	{"SAFE-T1911", "Parameter Exfiltration", ""},
	{"SAFE-T1912", "Stego Response Exfil", ""},
	{"SAFE-T1913", "HTTP POST Exfil", safeMCP + "README.md"},
	{"SAFE-T1914", "Tool-to-Tool Exfil", safeMCP + "README.md"},
	{"SAFE-T2101", "Data Destruction", ""},
	{"SAFE-T2102", "Service Disruption", ""},
	{"SAFE-T2103", "Code Sabotage", ""},
	{"SAFE-T2105", "Disinformation Output", ""},
	{"SAFE-T2106", "Context Memory Poisoning via Vector Store Contamination", ""},
}

// References lists them all, with their addresses.
func References() []Reference {
	all := make([]Reference, 0, len(references))
	for _, r := range references {
		found, _ := LookUp(r.ID)
		all = append(all, found)
	}
	return all
}
