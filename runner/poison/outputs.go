package poison

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// An output is data. Instructions in it mean nothing by themselves: manuals, tickets and
// mails have them, and a server may say which of its tools comes next. But no document
// has a reason to address the model over the head of the user: to revoke its
// instructions, to hide what it does, or to have it send secrets somewhere. Inject looks
// for passages that do; two means in one passage weigh more than one.

// Means is one thing that an injected text does.
type Means string

// The means.
const (
	// MeansOverride revokes the model's instructions.
	MeansOverride Means = "Override"
	// MeansConceal keeps something from the user.
	MeansConceal Means = "Conceal"
	// MeansAddress addresses the model or imitates its dialogue.
	MeansAddress Means = "Address"
	// MeansConsent claims that the user has consented, or need not be asked.
	MeansConsent Means = "Consent"
	// MeansDisarm turns off what asks the user. Manuals of programs do, too, so it counts only if the model is addressed.
	MeansDisarm Means = "Disarm"
	// MeansSecret orders to read or send a secret.
	MeansSecret Means = "Secret"
	// MeansTool orders to call a tool.
	MeansTool Means = "Tool"
	// MeansForward orders to send data to an address in the text.
	MeansForward Means = "Forward"
	// MeansEndless demands ever more calls.
	MeansEndless Means = "Endless"
)

// Injection is a passage that instructs the model.
type Injection struct {
	// Means say what it does, in the order of the constants.
	Means []Means
	// Quote is the passage from its first means on.
	Quote string
	// Grave is set if the model is to do something with a secret or a tool.
	Grave bool
}

// maxInject bounds the text that is read, passage the distance of means that belong
// together, in bytes.
const (
	maxInject = 256 << 10
	passage   = 500
)

// means are the forms of each means. The regular expressions are linear but slow: they run
// only if one of the words occurs.
var means = []struct {
	is    Means
	words []string
	form  *lazyregexp.Regexp
}{
	{MeansOverride, []string{"ignore", "disregard", "forget", "override", "bypass", "discard", "supersede", "precedence"}, lazyregexp.New(`(?i)\b(?:ignore|disregard|forget|override|bypass|discard)\s+(?:(?:all|any|every|the|your|of|these|those|user'?s?|other)\s+)*` +
		`(?:previous|prior|above|earlier|preceding)\s+(?:\w+\s+)?(?:instructions?|prompts?|rules|guidelines?|directives?|constraints|restrictions)\b` +
		`|\b(?:ignore|disregard|forget)\s+all\s+(?:the\s+|your\s+|of\s+the\s+)?(?:previous|prior|earlier|preceding)\s+(?:messages|requests|context|conversations?)\b` +
		`|\b(?:ignore|disregard|forget)\s+(?:everything|all|anything)\s+(?:above\s*(?:[.!,;:\n]|and\b|$)|you(?:'ve|\s+have|\s+were)\s+(?:been\s+)?(?:told|taught|instructed|learned))` +
		`|\b(?:ignore|disregard|forget|override|bypass)\s+(?:all\s+)?(?:of\s+)?(?:your|the\s+user's)\s+(?:\w+\s+)?(?:instructions?|system\s+prompt|prompt|guidelines|rules|training|request)\b` +
		`|\b(?:these|this|the following)\s+instructions?\s+(?:override|overrides|supersede|supersedes|take\s+precedence|takes\s+precedence)\b`)},
	{MeansConceal, []string{"user", "human", "customer", "operator", "silently", "secretly", "covertly"}, lazyregexp.New(`(?i)\b(?:do\s+not|don't|never|must\s+not|should\s+not|without)\s+(?:\w+ly\s+)?` +
		`(?:(?:tell|telling|inform|informing)\s+(?:this\s+to\s+)?(?:the\s+|your\s+)(?:user|human|customer|operator)\b` +
		`|(?:notify|notifying|alert|alerting|warn|warning)\s+the\s+(?:user|human|customer|operator)\s+(?:of|about)\s+(?:this|it|that|these)\b` +
		`|(?:mention|mentioning|reveal|revealing|disclose|disclosing|show|showing|report|reporting|say|saying|explain|explaining)\s+(?:any\s+of\s+)?(?:this|it|that|them|these)(?:\s+\w+)?\s+to\s+(?:the\s+|your\s+)?(?:user|human|customer|operator)\b` +
		`|let\s+the\s+(?:user|human|customer|operator)\s+(?:know|see|notice|find\s+out))` +
		`|\b(?:keep|hide|conceal)\s+(?:this|it|these(?:\s+\w+)?|that|the\s+fact[^.!?\n]{0,40})\s+(?:secret\s+|hidden\s+)?from\s+the\s+(?:user|human|customer|operator)\b` +
		`|\bthe\s+(?:user|human|operator)\s+(?:must|should)\s+not\s+(?:know|notice|be\s+(?:told|informed|aware)|learn)\b` +
		`|(?:^|[.:;,!]\s+|\band\s+|\bthen\s+)(?:silently|secretly|covertly)\s+(?:send|read|call|invoke|run|execute|forward|upload|include|append|copy|post|email|transmit)\b`)},
	{MeansAddress, []string{"<", "[", "\"", "system", "admin", "developer", "ai", "llm", "assistant", "agent", "language model", "this session", "this conversation", "this chat", " tool", "before you", "chatbot", "claude", "chatgpt", "copilot"}, lazyregexp.New(`(?i)<\s*/?\s*(?:important|system|system[-_ ]?(?:prompt|message|reminder|instructions?)|instructions?|secret|hidden)\s*>` +
		`|<\|(?:im_start|im_end|system|endoftext|start_header_id|eot_id)\|>|\[/?INST\]|<</?SYS>>|\[(?:SYSTEM|ADMIN|HIDDEN|SECRET|IMPORTANT)[^\]\n]{0,60}\]` +
		`|\b(?:SYSTEM|ADMIN|DEVELOPER)\s+(?:OVERRIDE|INSTRUCTIONS?|DIRECTIVE|COMMAND|NOTICE|MESSAGE|NOTE)\b` +
		`|(?:^|[\s>"(\[*])(?:hey\s+|dear\s+|attention,?\s+|note\s+to\s+(?:the\s+|any\s+)?|instructions?\s+(?:for|to)\s+(?:the\s+|any\s+|all\s+)?|important\s+for\s+(?:the\s+)?)?` +
		`(?:ai|llm|ai\s+assistant|ai\s+agent|ai\s+model|assistant|language\s+model|chatbot|claude|chatgpt|copilot)s?\s*[:,!]\s` +
		`|\b(?:for|to)\s+(?:the\s+|any\s+|all\s+)?(?:ai|llm|model|assistant|agent)s?\s*:\s` +
		`|\b(?:note|instructions?|message|attention|notice)\s*(?:to|for|,)?\s+(?:the\s+|any\s+|all\s+)?(?:ai|llm|language\s+model|ai\s+assistant|ai\s+agent|assistant)s?\b` +
		`|"(?:next_?(?:action|step)s?|required_?action|(?:agent|assistant|llm|ai|model)_?(?:instructions?|notes?|action|hint|directive|message)|(?:notes?|instructions?|message|hint)_?(?:for|to)_?(?:the_?)?(?:agent|assistant|llm|ai|model)|system_?(?:note|message)|directive)"\s*:` +
		`|\b(?:the|any|all)\s+(?:assistants?|ai|agents?|language\s+model|llm)s?\s+(?:must|should|shall|has\s+to|have\s+to|needs?\s+to|is\s+to|are\s+to|is\s+required|that\s+reads?|who\s+reads?)\b` +
		`|\bassistants\s+(?:that|who|which|reading)\b|\b(?:in|of|from|during|throughout)\s+this\s+(?:session|conversation|chat)\b|\bwith\s+(?:the|any|your)\s+\w+\s+tool\b|\bbefore\s+you\s+(?:answer|reply|respond)\b` +
		`|\b(?:as|if)\s+(?:you\s+are\s+)?an?\s+(?:ai|llm|ai\s+assistant|ai\s+agent|language\s+model)\b[^.\n]{0,40}\byou\s+(?:must|should|are\s+required|need)`)},
	{MeansConsent, []string{"approved", "authori", "consent", "agreed", "allowed", "granted", "permission", "confirmation", "approval", "asking", "ask "}, lazyregexp.New(`(?i)\b(?:user|human|operator|customer|owner|admin|administrator)s?\s+(?:(?:has|have|had)\s+)?(?:(?:already|explicitly|previously)\s+)*` +
		`(?:pre-?|pre\s)?(?:approved|authori[sz]ed|consented\s+to|agreed\s+to|allowed|granted)\s+(?:\w+\s+){0,2}?(?:upload|send|shar|read|forward|export|copy|post|submit|transfer|run|execut|install|delet|disclos)\w*\b` +
		`|(?:^|[.!?;:,()>\n]\s*|\b(?:and|then|so|just|please|simply|you\s+(?:may|can|must|should))\s+)(?:proceed|continue|go\s+ahead|act|do\s+(?:it|so|this))\s+without\s+(?:asking|prompting|(?:(?:further|user|any|explicit)\s+)*(?:confirmation|approval|permission|consent|questions))\b` +
		`|(?:^|[.!?;:,()>\n]\s*|\b(?:and|then|so|just|please|simply|you\s+(?:may|can|must|should))\s+)(?:do\s+not|don't|never|no\s+need\s+to)\s+(?:ask|prompt|bother)\s+(?:(?:(?:the\s+)?(?:user|human|operator|customer)|them)\s+(?:again|first|for)|for)\s+(?:permission|approval|confirmation|consent)\b`)},
	{MeansDisarm, []string{"approv", "confirmation", "permission", "consent"}, lazyregexp.New(`(?i)\b(?:disable|turn\s+off|switch\s+off|skip|bypass|waive|suppress|deactivate)\s+(?:\w+\s+){0,3}?(?:approvals?|confirmations?|permissions?|consent)\b` +
		`|\bauto-?(?:approve|accept|confirm)\b|\b(?:no|without)\s+(?:(?:user|further|explicit)\s+)*(?:confirmation|approval|consent|permission)\s+(?:is\s+)?(?:needed|required|necessary)\b`)},
	{MeansSecret, []string{"~/", ".ssh", "id_", ".aws", "/etc/", ".env", "rc", ".kube", "mcp.json", "key", "token", "password", "credential", "secret", "variable", "history", "log", "transcript", "prompt", "conversation"}, lazyregexp.New(`(?i)\b(?:send|forward|upload|post|email|transmit|exfiltrate|leak|read|cat|open|fetch|retrieve|load|look\s+up|collect|gather|extract|include|append|pass|provide|reveal|print|output|dump|copy|encode|attach|submit|return)\b` +
		`[^.!?\n]{0,100}?(?:~/\.|/\.ssh|id_rsa|id_ed25519|\.aws/|/etc/(?:passwd|shadow)|\.env\b|\.netrc|\.npmrc|\.kube/|\bmcp\.json|\bssh\s+keys?\b|\bprivate\s+keys?\b|\bapi[ _-]?keys?\b|\baccess\s+tokens?\b|` +
		`\b(?:user'?s?\s+)?(?:passwords?|credentials?|secrets)\b|\benvironment\s+variables?\b|\b(?:conversation|chat)\s+(?:history|log|transcript)\b|\bsystem\s+prompt\b|\b(?:entire|full|whole)\s+conversation\b)` +
		`|\b(?:call|put|place|give|use|write|paste|supply|hand|share|insert)\b[^.!?\n]{0,100}?(?:~/\.|/\.ssh|id_rsa|id_ed25519|\.aws/|/etc/shadow|\.netrc|\.kube/)` +
		`|\b(?:carr(?:y|ies|ying)|bring(?:s|ing)?|add(?:s|ing)?|include[sd]?|including|attach(?:es|ing)?|supply|supplies|along\s+with)\b[^.!?\n]{0,60}?\b(?:contents?|lines|values|entries|text|body|copy)\s+(?:of|from|in)\b[^.!?\n]{0,40}?(?:~/\.|/\.ssh|id_rsa|id_ed25519|\.aws/|/etc/shadow|\.netrc|\.kube/|\.env\b|\bmcp\.json)` +
		`|"(?:path|file|filename|file_?path|uri|url|command|args|arguments)"\s*:\s*[\[{]?\s*"[^"\n]{0,80}(?:~/\.|/\.ssh|id_rsa|id_ed25519|\.aws/|/etc/shadow|\.env\b|\.netrc|\.kube/|\bmcp\.json)`)},
	{MeansTool, []string{"call", "invoke", "execute", "run", "use", "trigger", "pass", "send", "forward", "submit", "post", "curl", "wget", "nc", "sh", "rm"}, lazyregexp.New(`(?i)\b(?:call|invoke|execute|run|use|trigger)\b\s+(?:the\s+|your\s+|another\s+|this\s+)?(?:[` + "`" + `'"]?[a-z][a-z0-9]*[_-][a-z0-9_-]+[` + "`" + `'"]?|[` + "`" + `'"][\w-]+[` + "`" + `'"]|\w+\s+(?:tool|function)|tool\b|function\b|shell\b|bash\b|terminal\b)` +
		`|\b(?:pass|send|forward|submit|post)\b[^.!?\n]{0,60}?\bto\s+(?:the\s+)?(?:[` + "`" + `'"]?[a-z][a-z0-9]*_[a-z0-9_]+|https?://|\S+@\S+\.\w|[` + "`" + `'"]?[\w-]+[` + "`" + `'"]?\s+(?:tool|function)\b)` +
		`|\b(?:curl|wget|nc|bash|sh|powershell)\s+(?:-\S+\s+)*(?:https?://|["'/~])|\brm\s+-rf?\b`)},
}

// discussed matches signs that a text is about injections.
var discussed = lazyregexp.New(`(?i)\b(?:prompt[- ]injections?|injection\s+attacks?|jailbreak\w*|attackers?|adversar\w+|malicious\s+(?:instructions?|prompts?|users?|inputs?)|` +
	`guardrails?|red[- ]team\w*|such\s+as|for\s+example|e\.g\.|phrases?\s+like|examples?\s+of|detects?\s|attempts?\s+to|patterns?\b|untrusted)`)

// hit is one means at its place.
type hit struct {
	means      Means
	start, end int
	// soft is set if it is no finding by itself.
	soft bool
}

// Inject finds a passage that instructs the model: the first grave one, or else the first.
func Inject(text string) []Injection {
	text = text[:min(len(text), maxInject)]
	hits := findMeans(text)
	var first []Injection
	for i := range hits {
		injection, ok := judgePassage(text, hits[i:])
		switch {
		case ok && injection.Grave:
			return []Injection{injection}
		case ok && first == nil:
			first = []Injection{injection}
		}
	}
	return first
}

// findMeans returns the means in the order of the text, a bounded number of each kind.
// Unless something addresses the model, secrets and tools do not matter.
func findMeans(text string) []hit {
	hits := foreignMeans(text)
	lower := strings.ToLower(text)
	for _, m := range means {
		if m.is == MeansSecret && len(hits) == 0 {
			break
		}
		if !slices.ContainsFunc(m.words, func(word string) bool { return strings.Contains(lower, word) }) {
			continue
		}
		for _, at := range findOrders(m.form, text, m.is == MeansSecret) {
			hits = append(hits, hit{means: m.is, start: at[0], end: at[1], soft: m.is == MeansAddress && aside.MatchString(text[at[0]:at[1]])})
		}
	}
	if len(hits) > 0 || demandsCalls(lower) {
		hits = append(hits, orders(text)...)
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return a.start - b.start })
	return hits
}

// aside matches forms of address that manuals have, too.
var aside = lazyregexp.New(`(?i)\bthis\s+(?:session|conversation|chat)$|\btool$`)

// forbidding matches the words that forbid: "never print", "do not simply send".
var forbidding = lazyregexp.New(`(?i)\b(?:not|never|cannot|without|n't)\s+(?:\w+ly\s+)?$`)

// findOrders returns a bounded number of places of a form. If ordered is set, what is forbidden
// does not count, and the search goes on behind the verb.
func findOrders(form *lazyregexp.Regexp, text string, ordered bool) [][]int {
	if !ordered {
		return form.FindAllStringIndex(text, maxRuns)
	}
	var all [][]int
	for at, runs := 0, 0; runs < maxRuns; runs++ {
		found := form.FindStringIndex(text[at:])
		if found == nil {
			break
		}
		start, end := at+found[0], at+found[1]
		at = end
		if forbidding.MatchString(text[max(0, start-24):start]) {
			at = start + len(wordAt(text[start:]))
		} else {
			all = append(all, []int{start, end})
		}
		at = max(at, start+1)
	}
	return all
}

// ordering maps techniques of descriptions to means of outputs.
var ordering = map[Technique]Means{
	SensitiveData: MeansSecret, ContextRequest: MeansSecret, Redirection: MeansForward, Concealment: MeansConceal, Endless: MeansEndless,
}

// demandsCalls is a cheap test whether a text may demand endless calls.
func demandsCalls(lower string) bool {
	says := func(some ...string) bool {
		return slices.ContainsFunc(some, func(word string) bool { return strings.Contains(lower, word) })
	}
	return says("call", "invo", "repeat") && says("every", "each", " all ", " any ") && says("until", "unless", "before", "till ") && says("answer", "respon", "reply", "conclu", "stop", "finish")
}

// orders returns the means of orders that Read finds in an output.
func orders(text string) []hit {
	var hits []hit
	for _, f := range Read(text, Context{Kind: KindDescription}) {
		means, ok := ordering[f.Technique]
		if start := strings.Index(text, f.Quote); ok && start >= 0 {
			hits = append(hits, hit{means, start, start + len(strings.TrimRight(f.Quote, ".!?")), means != MeansEndless})
		}
	}
	return hits
}

// gather returns the means of the passage that begins with the first hit, and its end. plain
// is set if the passage overrides, conceals or demands endless calls in plain words, addressed if
// it addresses nobody but the model.
func gather(hits []hit) (has map[Means]bool, end int, plain, addressed bool) {
	has = map[Means]bool{}
	for _, h := range hits {
		if h.start > hits[0].start+passage {
			break
		}
		has[h.means] = true
		plain = plain || !h.soft && (h.means == MeansOverride || h.means == MeansConceal || h.means == MeansEndless)
		addressed = addressed || !h.soft && h.means == MeansAddress
		end = max(end, h.end)
	}
	return has, end, plain, addressed
}

// judgePassage judges the passage that begins with the first hit.
func judgePassage(text string, hits []hit) (Injection, bool) {
	start := hits[0].start
	has, end, plain, addressed := gather(hits)
	about := discussed.MatchString(text[max(0, start-200):min(len(text), end+100)])
	injection := Injection{Quote: passageAt(text, start, end), Grave: !about && grave(has, addressed)}
	for _, m := range []Means{MeansOverride, MeansConceal, MeansAddress, MeansConsent, MeansDisarm, MeansSecret, MeansTool, MeansForward, MeansEndless} {
		if has[m] {
			injection.Means = append(injection.Means, m)
		}
	}
	quotedHere := slices.ContainsFunc([]string{`"`, "'", "`", "“", "‘"}, func(mark string) bool { return strings.HasSuffix(text[:start], mark) })
	found := injection.Grave || plain && !about && !quotedHere
	return injection, found
}

// grave reports whether means together have the model do something that nobody asked it for.
func grave(has map[Means]bool, addressed bool) bool {
	acts := has[MeansSecret] || has[MeansTool] || has[MeansForward]
	speaks := has[MeansOverride] || has[MeansConceal] || has[MeansConsent]
	return acts && speaks || has[MeansAddress] && (has[MeansSecret] || has[MeansForward] || has[MeansConsent]) || addressed && has[MeansDisarm]
}

// passageAt extends a passage to whole sentences.
func passageAt(text string, start, end int) string {
	for start > 0 && start > end-2*passage && !strings.ContainsRune(".!?\n", rune(text[start-1])) {
		start--
	}
	for end < len(text) && end < start+2*passage && !strings.ContainsRune(".!?\n", rune(text[end])) {
		end++
	}
	return strings.TrimSpace(strings.ToValidUTF8(text[start:end], ""))
}
