package poison

import (
	"maps"
	"strings"
)

// set is a class of words. The classes are parts of a grammar: no word of any is
// a reason for a finding.
type set map[string]bool

func words(list string) set {
	s := set{}
	for _, w := range strings.Fields(list) {
		s[w] = true
	}
	return s
}

// verbs is a class with the forms of each verb: "call calls called calling".
func verbs(list string) set {
	s := set{}
	for _, v := range strings.Fields(list) {
		for _, form := range forms(v) {
			s[form] = true
		}
	}
	return s
}

// forms returns the forms of a regular verb; irregular ones are listed beside it.
func forms(v string) []string {
	stem, double := v, v
	last := v[len(v)-1]
	switch {
	case last == 'e':
		return []string{v, v + "s", v + "d", strings.TrimSuffix(v, "e") + "ing"}
	case last == 'y' && !strings.ContainsRune("aeo", rune(v[len(v)-2])):
		return []string{v, v[:len(v)-1] + "ies", v[:len(v)-1] + "ied", v + "ing"}
	case strings.HasSuffix(v, "ss"), strings.HasSuffix(v, "sh"), strings.HasSuffix(v, "ch"), strings.HasSuffix(v, "x"):
		return []string{v, v + "es", v + "ed", v + "ing"}
	case doubling[v]:
		double = v + string(last)
	}
	return []string{stem, stem + "s", double + "ed", double + "ing"}
}

var doubling = words("run get set swap strip skip submit omit forget transmit tag drop map cat put prefer wrap plan log")

// How a model is told to do something.
var (
	modals = words("must should shall")
	// demands stand before "to" and a verb: "you have to call", "make sure to call".
	demands = words("need needs needed have has required requires require sure remember mandatory necessary obliged going expected instructed supposed crucial essential vital critical obligated ensure")
	adverbs = words("first always also then automatically instead immediately only silently now again simply please " +
		"additionally firstly secretly quietly just directly explicitly subsequently afterwards thus therefore still next" +
		" transparently proactively internally initially instantly unconditionally")
	agents    = words("you agent assistant model llm ai")
	negations = words("not never don't cannot can't mustn't shouldn't without avoid")
)

// What tools are used by, and how an occasion begins.
var (
	callVerbs = verbs("call use invoke run execute trigger query fetch request launch activate perform consult employ leverage initiate " +
		"utilize utilise access issue apply send make retrieve visit")
	// strictCalls need no "tool" behind the name.
	strictCalls = verbs("call use invoke run execute trigger launch activate consult employ utilize utilise leverage query fetch request initiate")
	occasions   = words("before when whenever while after if once upon prior during until unless where every each any for in on all with as by alongside following via at")
	// firmOccasions name an occasion in which the model is to do something.
	firmOccasions = words("before when whenever while after once upon prior during if following")
	tools         = words("tool tools function command endpoint plugin")
	plainTools    = words("tool tools function") // what makes a name of any word before it
	noTool        = words("other another any appropriate right same following corresponding relevant such each every available first next previous " +
		"new specific single external mcp best correct all this that these those our the a an of to for your my its and or with which what one" +
		" in on by search-based dedicated separate suitable necessary required original specialized optional multiple different particular underlying given" +
		" native built-in builtin internal third-party ai llm agent model server's user user's current final last second cli own no more various similar related local remote said main")
	universal = words("any all every each")
	with      = words("with via using through")
	articles  = words("the a an our your tool function command named called both either to of any all on with using via through only every each")
	first     = words("first before prior beforehand prerequisite precondition firstly initially preceding precede pre-requisite preliminary always automatically every each any whenever")
)

// What belongs to the user, and to a call.
var (
	arguments = words("argument arguments parameter parameters field fields value values option options property filter filters flag query prompt " +
		"input inputs body content recipient recipients url path request requests id message text keyword keywords key setting settings payload destination " +
		"location address search queries name amount arg args params param target header headers plan subject branch description limit title price date " +
		"range code script file files command output results result")
	// binds a value to the argument before it.
	binds = words("to with by as = from into")
	// argumentNouns can only be one of a call.
	argumentNouns = words("argument arguments parameter parameters field fields option options arg args params param flag property")
	ofUser        = words("user user's user’s users users' original originally requested provided user-provided user-supplied user-specified supplied given intended " +
		"their they specified submitted actual caller caller's client customer's existing")
	// wishes: what a user has, or a tool gets.
	wishes = words("request requests call calls lookup lookups search searches query queries invocation invocations")
	users  = words("user users user's caller human person customer operator customers anyone anybody someone owner client")
	// alterations presuppose a value that was there.
	alterations = verbs("modify change replace override overwrite rewrite append prepend add alter redirect route reroute convert swap substitute " +
		"adjust switch strip insert inject mutate tamper remove upgrade downgrade divert hardcode augment suffix prefix randomize multiply increase decrease restrict")
	// routes say in the passive where all calls have to go.
	routes      = verbs("route reroute redirect change forward convert restrict upgrade append")
	assignments = verbs("set pass specify put assign supply provide fill populate limit cap force enforce include exclude omit truncate extend expand widen enhance update fix round reduce wrap forward point")
	// participles are irregular ones, of both.
	participles = words("set put overridden overwritten rewritten sent read hidden kept made")
)

// What secrets and addresses are, and what is done with them.
var (
	moves = verbs("send forward upload post email transmit exfiltrate bcc cc deliver mail leak relay copy push transfer submit pipe stream dump ship")
	reads = verbs("read open load cat access retrieve fetch get include copy collect extract gather capture obtain list dump view inspect examine " +
		"print return find search look scan grep harvest provide pass send put append attach embed supply encode add paste insert")
	passes = verbs("pass include send put append attach embed supply provide encode add insert place paste store save copy write upload forward post submit leak transmit return")
	// secretPlaces are parts of paths that hold keys or accounts.
	secretPlaces = []string{
		".ssh", "id_rsa", "id_ed25519", "id_ecdsa", "/etc/passwd", "/etc/shadow", "/etc/sudoers", ".aws", "authorized_keys", "bash_history",
		"zsh_history", ".netrc", ".npmrc", ".pypirc", ".kube", ".gnupg", ".docker/config", ".git-credentials", "credentials", ".env", "mcp.json",
		"claude_desktop_config", ".bashrc", ".zshrc", ".gitconfig", "wallet.dat", "keychain", "cookies.sqlite", "login data", "secrets.y", "auth.log",
		".config/gcloud", "/proc/self/environ",
	}
	secretWords = []string{
		"private key", "private keys", "ssh key", "ssh keys", "api key", "api keys", "access token", "access tokens", "session token", "session cookie",
		"session cookies", "environment variables", "environment variable", "password", "passwords", "credentials", "secret key", "secret keys", "secrets", "seed phrase",
		"cookies", "document.cookie", "credit card", "social security", "id rsa", "bash history", "shell history", "auth tokens", "signing key", "recovery phrase",
	}
)

// How a sentence justifies and threatens. Honest tools do so too: alone it is
// nothing.
var (
	pretexts = words("security secure securely ensure ensures ensuring verify verifies verifying verification validate validates validating validation " +
		"authorization authorize authorise authentication permission permissions compliance compliant audit auditing auditable integrity mandatory policy policies protocol protocols " +
		"protect protects prevent prevents sanitize sanitization logging log logs logged diagnostic diagnostics regulatory privacy gdpr essential critical crucial vital safety " +
		"stability privileges confirm confirming calibrate baseline optimize requirement check checks regulation mandate mandated tracking telemetry analytics monitoring contextual consistency legal " +
		"enrichment calibrated sync synchronize initialize initialization warm prepare improve improves accurate coherence conflicts cleanup clean")
	threats = words("failure failing skipping omitting ignoring neglecting otherwise fail fails corrupt corruption crash crashes optional bypassing terminated blocked suspended")
	// gains: what an honest order of another tool is for.
	gains  = words("get obtain retrieve find resolve look lookup see know discover learn fetch list determine identify choose pick view load search understand check")
	gained = words("id ids name names uri uris url urls path paths list available valid schema schemas key keys slug options details identifier identifiers format token library exact types " +
		"type fields which what column columns ref refs reference references uid uuid structure syntax documentation docs content contents state snapshot handle current exists exist existing correct " +
		"session cursor index number numbers node nodes page pages")
	mutating = words("delete remove reset overwrite write push send post update modify move create put drop edit mark cancel pay transfer revoke grant clear insert destroy kill purge wipe " +
		"merge close archive rename disable abort execute evaluate eval exec")
)

// Who speaks, and of what.
var (
	silence = verbs("tell mention inform notify reveal disclose alert warn explain discuss report say acknowledge show display announce expose communicate share divulge indicate log")
	// presentation may be left out of an answer for good reasons: raw data, ids.
	presentation = words("show shows display displays report reports explain explains log discuss share expose say")
	deed         = words("this it that change changes step steps action actions instruction instructions modification modifications filter filtering routing redirect redirection " +
		"replacement override call calls operation check request requests process behavior behaviour rule rules policy these sidenote transfer anything alteration substitution adjustment")
	hide      = verbs("hide conceal obscure mask")
	secretly  = words("silently secretly covertly stealthily discreetly surreptitiously invisibly quietly")
	precedes  = words("priority precedence override overrides overrule overrules supersede supersedes precede precedes higher highest authority outranks")
	overruled = words("user user's users query request requests instruction instructions prompt prompts preferences system guidelines rules safety developer else")
	ranks     = words("priority precedence higher") // "over" or "than" has to follow
	requests  = words("query request")
	excepting = words("if only unless except")
	ignores   = verbs("ignore disregard forget override bypass discard overrule skip")
	earlier   = words("previous prior above earlier preceding other existing original all any system safety user's user your")
	rules     = words("instructions instruction prompt prompts rules guidelines directives directive request requests messages constraints policies training commands message restrictions safeguards")
)

// roles are marks of the model's own dialogue, which no manifest has to write.
var roles = []string{
	"<|im_start|>", "<|im_end|>", "<|system|>", "<|user|>", "<|assistant|>", "<|endoftext|>", "<|eot_id|>", "<|start_header_id|>",
	"[inst]", "[/inst]", "<<sys>>", "<</sys>>", "<start_of_turn>", "\n\nhuman:", "\n\nassistant:", "<system>", "</system>", "<system_prompt>",
	"<system-reminder>", "[system]", "[system message]", "### system:", "<|begin_of_text|>",
}

// harmless: what may be sent to a fixed address: an example, and feedback.
var harmless = words("e example bug bugs feedback issue issues")

// contexts: what the model knows and a tool needs not.
var contexts = []string{
	"system prompt", "system message", "conversation history", "chat history", "entire conversation", "full conversation", "whole conversation",
	"previous messages", "chain of thought", "your instructions", "your reasoning", "initial instructions", "your full prompt",
	"available tools", "list of tools", "complete conversation", "all prior messages", "conversation so far",
}

// preceding words put a call before something, whatever else the sentence says.
var preceding = words("first before prior beforehand prerequisite precondition")

var alternatives = words("instead alternatively rather otherwise")

// replaced says of a tool that it is not to be used any more.
var replaced = words("deprecated aliased replaced superseded disabled unsafe compromised insecure outdated obsolete retired broken unavailable forbidden vulnerable")

// governing are the verbs that can be an order at all.
var governing = union(callVerbs, alterations, participles, assignments, reads, moves, passes, ignores, hide)

// noNames are words that are no tool's name where the word "tool" stands beside them.
var noNames = union(noTool, tools, modals, occasions, demands, adverbs, callVerbs, negations)

func union(sets ...set) set {
	all := set{}
	for _, s := range sets {
		maps.Copy(all, s)
	}
	return all
}
