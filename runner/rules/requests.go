package rules

import (
	"encoding/json"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/poison"
	"github.com/mcpaudit/mcpaudit/runner/squat"
	"github.com/mcpaudit/mcpaudit/runner/words"
)

// findImitated finds outputs with an address that imitates a well-known one, or that does not
// lead where its text says.
func findImitated(in Input) []draft {
	var all []draft
	for _, out := range in.Outputs {
		if what := imitated(out.own); what != "" {
			all = append(all, outputDraft(in, out, report.SeverityHigh, "with "+what, what))
		}
	}
	return all
}

var (
	address   = lazyregexp.New(`https?://[^\s"'<>()\[\]{}|\\^` + "`" + `]+`)
	displayed = lazyregexp.New(`\[\s*(?:https?://)?([\w.-]+\.[a-z]{2,})[^\]\n]*\]\(\s*https?://([\w.@:-]+)`)
)

// maxAddresses bounds how many addresses of a text are read.
const maxAddresses = 256

// imitated describes the first address in a text that imitates another; "" for none.
func imitated(text string) string {
	for _, found := range address.FindAllString(text, maxAddresses) {
		u, err := url.Parse(strings.TrimRight(found, ".,;:!?"))
		if err != nil {
			continue
		}
		if site, ok := squat.Site(u.User.Username()); ok {
			return "an address that begins like one of " + site + " and leads to " + quoted(u.Hostname())
		}
		if l, ok := squat.Host(u.Hostname()); ok {
			return "an address at " + quoted(u.Hostname()) + ", which looks like " + l.Known + ": " + l.How
		}
	}
	for _, m := range displayed.FindAllStringSubmatch(text, maxAddresses) {
		site, ok := squat.Site(m[1])
		to, _ := squat.Site(m[2])
		if ok && to != site {
			return "a link that is shown as one to " + site + " and leads to " + quoted(m[2])
		}
	}
	return ""
}

// findAsking finds requests of the server that ask a person, or a model, for secrets or for
// what other servers said, and answers that send a person somewhere to enter secrets.
func findAsking(in Input) []draft {
	var all []draft
	for _, out := range in.Outputs {
		severity, what := report.SeverityHigh, ""
		switch {
		case out.Kind != report.OutputRequest:
			what = in.sends(out)
		case out.Method == "elicitation/create":
			what = askedOfPerson(out.Text)
		case out.Method == "sampling/createMessage":
			what = askedOfModel(out.own)
			if what == "" && strings.Contains(out.Text, `includeContext: "allServers"`) {
				severity, what = report.SeverityMedium, "that has the context of all other servers put before the model"
			}
		}
		if what != "" {
			all = append(all, outputDraft(in, out, severity, what, out.Text))
		}
	}
	return all
}

// entered matches what says that a secret is to be entered at an address, and the host of that.
var entered = []*lazyregexp.Regexp{
	lazyregexp.New(`(?i)https?://([a-z0-9.-]+)[^\s"'<>)]*[^\n]{0,40}?` + entersSecret),
	lazyregexp.New(`(?i)` + entersSecret + `[^.\n]{0,40}\b(?:at|on|under|into|via)\s+https?://([a-z0-9.-]+)`),
}

const entersSecret = `\b(?:enter|type|fill in|confirm|re-?enter|submit|provide|write)\b[^.\n]{0,80}\b(?:password|passphrase|passcode|one-time code|otp|` +
	`(?:2fa|mfa|security|verification|login|sms) code|pin|recovery (?:phrase|words|key|code)|seed phrase|card number|cvv|cvc)\b`

// sends describes where an answer sends a person to enter a secret, unless the declaration names the host, or the answer
// comes from elsewhere; "" for nowhere.
func (in Input) sends(out Output) string {
	for _, form := range entered {
		if m := form.FindStringSubmatch(out.own); m != nil && !in.named[out.Capability][strings.ToLower(m[1])] && !in.chosen.has(strings.ToLower(m[1])) && !in.fetched(out.Capability) {
			return "that sends a person to an address of its own to enter a secret: " + quoted(m[0])
		}
	}
	return ""
}

// schemaMark precedes the schema of a form in the text of a request.
const schemaMark = "requestedSchema: "

// askedOfPerson describes the secret that a form asks a person for; "" for none (MCP, elicitation: "Servers
// MUST NOT use form mode elicitation to request sensitive information").
func askedOfPerson(text string) string {
	message, rest, form := strings.Cut(text, schemaMark)
	if !form {
		return ""
	}
	rest, _, _ = strings.Cut(rest, "\n")
	properties := manifest.Object(manifest.Object(json.RawMessage(rest))["properties"])
	free := ""
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		var field map[string]any
		if json.Unmarshal(properties[name], &field) != nil || !freeText(field) {
			continue
		}
		free = name
		title, _ := field["title"].(string)
		description, _ := field["description"].(string)
		if slices.ContainsFunc([]string{words.Spell(name), title, description}, asksSecret) {
			return "that asks a person for a secret in the field " + quoted(name)
		}
	}
	if free != "" && asksSecret(message) && entering.MatchString(message) {
		return "that asks a person for a secret: " + quoted(message)
	}
	return ""
}

// asksSecret reports whether a text names a secret, or describes one, such as a code that was sent.
func asksSecret(text string) bool {
	return poison.NamesSecret(text) || paraphrased.MatchString(text) || slices.ContainsFunc(fileName.FindAllStringSubmatch(text, maxAddresses), func(m []string) bool {
		at, ok := places.Locate("/home/user/" + strings.TrimPrefix(m[1], "~/"))
		return ok && !at.Routine
	})
}

// fileName matches what may be a file of a home: .env, ~/.ssh/id_rsa, id_ed25519.
var fileName = lazyregexp.New(`(?:^|[\s"'(` + "`" + `])((?:~/)?\.[a-z][\w./-]+|id_[a-z0-9]+)\b`)

// paraphrased matches descriptions of secrets.
var paraphrased = lazyregexp.New(`(?i)(?:\b(?:your|the|these|those|all|deine|ihre|die|vos|tes|les|sus|tus|las|suas|tuas|as|le|tue)|ваши|твои|все)\s+(?:12|15|18|21|24|twelve|fifteen|eighteen|twenty-four|zwölf|vierundzwanzig|douze|vingt-quatre|doce|veinticuatro|doze|vinte e quatro|dodici|ventiquattro|двенадцать|двадцать четыре)\s+(?:\p{L}+\s+)?` +
	`(?:words|wörter|mots|palabras|palavras|parole|слов)|\b(?:recovery|backup|seed|secret|mnemonic|wallet)\s+(?:words?|phrase|sentence|list)\b|\b(?:code|digits|number|pin)\b[^.!?\n]{0,30}\b(?:sent|texted|messaged|received|got|arrived|by (?:sms|text|e-?mail)|in (?:the|your) (?:sms|text message|authenticator)|authenticator|(?:\w+ )?(?:in|on|by) (?:the|your) (?:bank\w*|security|2fa|mfa|phone's) (?:app|token|key))\b|` +
	`\b(?:digits|code|number)\b[^.!?\n]{0,24}\b(?:back|front|reverse) of (?:the|your) (?:\w+\s+)?card\b|\bcard (?:number|code)\b|\bmother's maiden name\b|\b(?:words|phrase|sentence)\b[^.!?\n]{0,40}\b(?:noted|wrote|written|backed) (?:them |it )?(?:down|up|when)\b`)

// freeText reports whether a person may write anything into a field.
func freeText(field map[string]any) bool {
	format, _ := field["format"].(string)
	return field["type"] == "string" && field["enum"] == nil && field["oneOf"] == nil && (format == "" || format == "password")
}

// entering matches requests to fill something in.
var entering = lazyregexp.New(`(?i)\b(?:enter|type|provide|supply|paste|give|share|confirm your|re-?enter|log ?in|sign ?in|authenticate|verify your|fill in|copy|insert|quote|tell us|write|note|list|put|state|let us know|we need|is needed|what (?:is|are|was|were))\b` +
	`|(?i)\b(?:eingeben|gib|geben sie|trage|nennen? sie|saisi\w*|entrez|indiquez|introduzca|introduza|ingres[ae]|escrib[ae]|digit[ae]|inserisc\w+|inserire|insira|immett\w+|wpisz|podaj|voer|vul|girin|masukkan|ange|zadejte)\b` +
	`|(?i:введите|укажите|напишите|введіть|вкажіть|输入|填写|入力|입력|दर्ज|أدخل|nhập)`)

var (
	// telling matches requests to disclose something, and known the context that only the model has.
	telling = lazyregexp.New(`(?i)\b(?:repeat|reveal|print|output|list|show|tell|reproduce|quote|dump|recite|copy|copies|restate|echo|transcribe|translate|begin|start|paste|rewrite|encode|summari[sz]e|include|return|give|provide|share|report|extract|(?:write|set|jot|note) (?:down|out)|recount|recite|write|put|what (?:is|are|was|were|did|does|do|has|have)|which|continue|complete|finish|fill in)\b[^.!?\n]{0,200}`)
	known   = lazyregexp.New(`(?i)\b(?:(?:above|before|preced\w+|prior to|ahead of|earlier than|in front of) (?:this|my|our|the (?:first|current|present)) (?:\w+ )?(?:message|prompt|request|question|turn|line|conversation|note)s?\b|you (?:were|have been|had been) (?:first |initially |originally |already )?(?:told|given|instructed|shown|configured)\b|your (?:context window|configuration|set-?up|first message|guidelines|directives)|(?:your|the) system (?:prompt|message)|what (?:the )?(?:person|user|human|customer|people|somebody|they) (?:has |have |had )?(?:\w+ )?(?:written|said|asked|typed|told|wrote|sent) (?:to )?(?:you|so far|before|earlier|today)\b|(?:person|user|human|customer|people|somebody|they) (?:\w+ )?(?:ask|say|write|type|tell|send|paste|want)(?: \w+)? (?:you|so far|before|earlier|today|previously|until now|first)\b|your (?:initial |own |hidden )?(?:instructions|context|memory)|(?:the |our )?(?:entire|full|whole|previous|prior|earlier|complete) (?:conversation|chat|dialogue?|messages)|(?:conversation|chat) (?:history|so far)|` +
		`other (?:mcp )?(?:servers?|tools?)(?:'s?)?|tools? (?:of|from) (?:other|all)|everything (?:the user|you)|(?:the )?user(?:'s|s')? (?:\w+ )?(?:passwords?|credentials?|secrets?|api[ _-]?keys?|tokens?|private keys?)|` +
		`(?:passwords?|credentials|secrets|api[ _-]?keys?|tokens|environment variables|connection strings?|private keys?)\b[^.!?\n]{0,40}\b(?:you (?:know|have|can|saw|were)|(?:appeared|(?:were |was )?(?:mentioned|shown|seen|used|pasted)|came up) (?:earlier|before|above|so far)|in (?:your|the) (?:context|conversation|session|chat|environment)|from (?:your|the) (?:context|conversation|session)))`)
)

// opened matches a request to read a file of the machine, or to say what is in it.
var opened = lazyregexp.New(`(?i)\b(?:read|open|cat|load|fetch|retrieve|look (?:at|into|up)|quote|show|print|what (?:does|is in|stands in|do))\b[^.!?\n~/]{0,40}((?:~|/home/[\w.-]+|/root)/[\w./-]*\w)`)

// askedOfModel describes what a sampling request has the model disclose; "" for nothing of others.
func askedOfModel(text string) string {
	for _, passage := range telling.FindAllString(text, maxAddresses) {
		if known.MatchString(passage) {
			return "that asks the model for what it knows of others: " + quoted(passage)
		}
	}
	for _, m := range opened.FindAllStringSubmatch(text, maxAddresses) {
		if at, ok := places.Locate(strings.Replace(m[1], "~/", "/home/user/", 1)); ok {
			return "that asks the model for " + quoted(m[0]) + " (" + at.What + ")"
		}
	}
	for _, f := range poison.Read(text, poison.Context{Kind: poison.KindContent}) {
		if f.Technique == poison.SensitiveData || f.Technique == poison.ContextRequest {
			return "that asks the model for what it knows of others: " + quoted(f.Quote)
		}
	}
	return ""
}

// link matches a link to a local file in an answer.
var link = lazyregexp.New(`"uri":"file://(/[^"]+)"`)

// findLinked finds resources, listed or linked in an answer, that are secrets of the user.
func findLinked(in Input) []draft {
	var all []draft
	secret := func(of report.Capability, uri string) (places.Secret, bool) {
		name, err := url.PathUnescape(uri)
		if err != nil {
			return places.Secret{}, false
		}
		at, ok := places.Locate(path.Clean(name))
		return at, ok && !at.Routine && !speaks(in.Scope.Covering(of), at.Topics)
	}
	for _, out := range in.Outputs {
		text := out.own
		if !strings.Contains(text, `"resource_link"`) {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(text, maxAddresses) {
			if at, ok := secret(out.Capability, m[1]); ok {
				what := "that links to " + clean(m[1], 256) + " (" + at.What + ")"
				all = append(all, outputDraft(in, out, report.SeverityHigh, what, what))
				break
			}
		}
	}
	for _, item := range manifest.Items(report.CapabilityResource, in.Manifest.Resources) {
		name, ok := strings.CutPrefix(manifest.Text(item.Members["uri"]), "file://")
		of := report.Capability{Kind: report.CapabilityResource, Name: item.Name}
		if at, found := secret(of, name); ok && found {
			d := named(in, report.PhaseList, item.Name, sentence("A resource is %s (%s), which nothing in its declaration speaks of", clean(name, 256), at.What))
			d.severity, d.capability = report.SeverityHigh, of
			all = append(all, d)
		}
	}
	return all
}
