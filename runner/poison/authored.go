package poison

import (
	"html"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// What a server says of its own accord is read like its descriptions. Documents contain
// commands, addresses and rules for anybody. But commands to run without asking, and an
// address to which the conversation is appended, are meant for the model.

// fetchedCode matches a command that runs code from elsewhere.
const fetchedCode = `\b(?:curl|wget|iwr|irm|fetch)\b[^|\n]{0,200}\|\s*(?:sudo\s+)?(?:ba|z|da|k)?sh\b|\|\s*iex\b`

var (
	// unasked matches prose that says to ask nobody; waived and forced match members of
	// JSON that say so when false and when true.
	unasked = lazyregexp.New(`(?i)\b(?:needs?|requires?|takes?|with|there is|calls? for)\s+no\s+(?:further\s+|prior\s+|user\s+|explicit\s+)?(?:confirmation|approval|consent|permission|review|need to (?:ask|confirm|check))\b` +
		`|\bwithout\s+(?:asking|prompting|confirming|confirmation|approval|waiting for (?:the user|confirmation|approval)|consent)\b|\b(?:do not|don't|never|no need to|need not|not necessary to)\s+(?:ask|wait for|seek|request|prompt for)\b[^.!?\n]{0,30}\b(?:confirm\w*|approval|permission|consent|user|anyone)\b` +
		`|\bpre-?approved\b|\balready (?:been )?(?:approved|authori[sz]ed|confirmed)\b`)
	waived = lazyregexp.New(`(?i)^(?:(?:requires?|needs?|ask(?:s|_for)?|await)_?(?:user_?)?(?:confirmation|approval|consent|review)|confirm|interactive|prompt_?user|ask_?user)$`)
	forced = lazyregexp.New(`(?i)^(?:auto_?(?:apply|run|execute|approve|confirm|fix|accept)|(?:skip|bypass|no)_?(?:confirmation|approval|prompt|review)|pre_?approved|silent(?:ly)?|unattended)$`)
	// audienceOfModel matches the annotation of a block that people are not shown.
	audienceOfModel = lazyregexp.New(`"audience":\["assistant"\]`)
	// running matches a command that changes the machine or fetches code.
	running = lazyregexp.New(`(?i)` + fetchedCode + `|\b(?:ba|z)?sh\s+(?:-c\s+["']?\$\(|<\()\s*curl\b|\brm\s+-\w*[rf]\w*\s|\bsudo\s+\S|` +
		`\b(?:npm|yarn|pnpm|pip3?|gem|cargo)\s+(?:config\s+set|install\s+\S*\s*--(?:registry|index-url|extra-index-url))\b|--(?:registry|index-url)[= ]https?://|\bgit\s+(?:push\s+(?:\S+\s+)*(?:--force|-f)\b|config\s+(?:--global\s+)?\S+|remote\s+(?:add|set-url))|` +
		`\b(?:python3?|node|perl|ruby)\s+-(?:c|e)\s|\bchmod\s+(?:[0-7]{3,4}|[augo]*\+\w+)\s|\bcrontab\b|\bbase64\s+(?:-d|--decode)\b|\bpowershell\b[^\n]{0,40}-(?:enc|e)\w*\s|\b(?:npx|uvx|pipx run)\s+(?:-y\s+)?\S`)
	// toldTo matches orders to the model to run something, fetched a command that runs code from elsewhere.
	toldTo  = lazyregexp.New(`(?i)\b(?:assistant|agent|model|ai|llm|chatbot)s?\s+(?:must|should|shall|(?:has|have|needs?|is|are|was|were)\s+to|will|is expected to)\s+(?:\w+ly\s+|first\s+)?(?:run|execute|start|launch|enter|type|issue|paste)\b`)
	fetched = lazyregexp.New(`(?i)` + fetchedCode)
	// calling matches a tool call in JSON with the path of a secret in its arguments.
	calling = lazyregexp.New(`"(?:tool|function|call|tool_?name|action|name)"\s*:\s*"[\w./-]+"[^{}]{0,80}\{[^{}]{0,160}"[^"\n]{0,80}(?:~/\.|/\.ssh\b|/id_(?:rsa|ed25519)|\.aws/cred|/etc/shadow|/\.netrc|/\.kube/|/\.npmrc)`)
	// dumped matches the output of a command that shows secrets.
	dumped = lazyregexp.New("(?i)\\b(?:outputs?|results?)\\s+(?:of|from)\\s+(?:(?:the\\s+)?command\\s+)?[\"'`](?:(?:env|printenv|export -p|history)\\s*[|>\"'`]|cat\\s+(?:~/\\.|\\S*\\.env\\b))")
	// talkedOf matches the conversation, and what the user has open or set on the machine.
	talkedOf = lazyregexp.New(`(?i)\b(?:conversation|transcript|chat (?:history|log)|(?:this|the|our|whole|entire) chat|dialogue|system prompt|(?:user|person|customer|previous|last|latest|recent|earlier)(?:'s|s')?\s+(?:\w+\s+){0,2}(?:messages?|prompts?|questions?|words)|open (?:files?|tabs?|documents?|buffers?)|` +
		`clipboard|working directory|user(?:'s)? (?:instructions?|request)|what (?:the user|was) (?:said|asked|wrote)|tools? (?:list|names))\b`)
	// pouring matches secrets that are to be put into an address, and not only set up beside it.
	pouring = lazyregexp.New(`(?i)\b(?:append|add|attach|put|inclu|encod|writ|insert|pass|carry|carries|send|post)\w*\b[^.\n]{0,60}\b(?:environment variables?|credentials?|passwords?)\b` +
		`[^.\n]{0,60}?\b(?:to|in|into|onto|behind|after)\b[^.\n]{0,20}(?:https?://|\b(?:address|urls?|uri|query|path segment)\b)`)
	// item matches the beginning of a line that does not continue the previous one.
	item    = lazyregexp.New(`\n\s*[\p{Lu}\d*•#>-]`)
	filling = lazyregexp.New(`(?i)\b(?:append|add|attach|put|inclu\w+|encod|concatenat|writ|replac|substitut|fill|swap|insert|set|pass|carry|carries|extend|complet)\w*\b`)
	// addressed matches a URL, its query, and words such as "this address".
	addressed = lazyregexp.New(`(?i)[?&][\w-]+=|\b(?:this|the|its|that|each|every)\s+(?:\w+\s+){0,3}(?:address|urls?|uri|link|query(?: string)?|path segment|parameter|src)\b|https?://`)
	// deliver and delivered match together where each thing that is handled goes to somebody.
	deliver   = lazyregexp.New(`(?i)\b(?:each|every|all|any)\b`)
	delivered = lazyregexp.New(`(?i)\b(?:e-?mails?|mailed|copy|copies|cc|bcc|copied|sent|send|forward(?:ed)?|post(?:ed)?|upload(?:ed)?|deliver(?:ed)?|report(?:ed)?|share[sd]?|submit(?:ted)?|message)\b`)
	asking    = lazyregexp.New(`(?i)\b(?:ask|asked|asks|request\w*|require[sd]?|expect\w*|agreed?|insist\w*|want(?:s|ed)?|prefer(?:s|red)?)\s+that\b|\b(?:tool|assistant|agent|model)s?\b[^.!?\n]{0,40}\b(?:session|suitable|available|will do|can do|use|used|serve[sd]?|present|at hand|connected)\b|` +
		`\b(?:mail|e-mail|messaging|chat|http|fetch|upload)\s+tools?\b|\bin this (?:session|conversation|chat)\b|\b(?:the|any|all|every)\s+(?:assistant|agent|model|ai)s?\b`)
	feedback = lazyregexp.New(`(?i)\b(?:bugs?|feedback|questions?|issues?|support|unsubscribe|example\.(?:com|org|net)|newsletter)\b`)
)

// Authored returns an order in a text that a server wrote itself; "" if there is none. In prose, the strings of its
// JSON are paragraphs.
func Authored(text, prose string) string {
	if quote := unconfirmed(html.UnescapeString(text[:min(len(text), maxInject)])); quote != "" {
		return quote
	}
	if quote := calling.FindString(text[:min(len(text), maxInject)]); quote != "" {
		return quote
	}
	text = html.UnescapeString(prose[:min(len(prose), maxInject)])
	for _, s := range split(text) {
		own := text[s.Start:s.End]
		switch {
		case dumped.MatchString(own) && filling.MatchString(own) && !feedback.MatchString(own):
			return cut(own)
		case takesAlong(own) && strings.Contains(text, "://"):
			return cut(own)
		case mailed(own) && deliver.MatchString(own) && delivered.MatchString(own) && asking.MatchString(own) && !feedback.MatchString(own):
			return cut(own)
		}
	}
	return ""
}

// takesAlong reports whether a sentence appends the conversation or settings to an address. The words must be near
// each other: minified code has long sentences, and lists have many items without a full stop.
func takesAlong(sentence string) bool {
	for sentence != "" {
		line := sentence
		if at := item.FindStringIndex(sentence); at != nil {
			line = sentence[:at[0]+1]
		}
		if sentence = sentence[len(line):]; pouring.MatchString(line) {
			return true
		}
		for _, at := range talkedOf.FindAllStringIndex(line, maxRuns) {
			near := line[max(0, at[0]-passage):min(len(line), at[1]+passage)]
			if filling.MatchString(near) && addressed.MatchString(near) {
				return true
			}
		}
	}
	return false
}

// mailed reports whether a text has a mail address or a URL.
func mailed(text string) bool {
	return mailAddress.MatchString(strings.ToLower(text)) || strings.Contains(text, "://")
}

// unconfirmed returns a command that is to run without confirmation, or that people do not see; "" if there is none.
func unconfirmed(text string) string {
	at := running.FindStringIndex(text)
	if at == nil {
		return ""
	}
	start, end := max(0, at[0]-passage), min(len(text), at[1]+passage)
	near := text[start:end]
	if audienceOfModel.MatchString(near) || unasked.MatchString(near) && speaksTo.MatchString(near) || waives(text) || toldTo.MatchString(near) && fetched.MatchString(near) {
		return passageAt(text, at[0], at[1])
	}
	return ""
}

// speaksTo matches signs that the model is to act.
var speaksTo = lazyregexp.New(`(?i)\b(?:assistants?|agents?|model|ai|llm|shell (?:command|tool)|terminal tool|tool|then (?:repeat|retry|call|continue)|confirmation|user)\b`)

// member matches a member of a JSON object that is true or false: its name, and which.
var member = lazyregexp.New(`"([\w-]{1,40})"\s*:\s*(true|false)\b`)

// waives reports whether JSON in a text waives confirmation. It is not decoded: that takes
// long for hostile JSON.
func waives(text string) bool {
	return slices.ContainsFunc(member.FindAllStringSubmatch(text, maxMembers), func(m []string) bool {
		return m[2] == "false" && waived.MatchString(m[1]) || m[2] == "true" && forced.MatchString(m[1])
	})
}

// maxMembers bounds the members read of one text.
const maxMembers = 4096
