package scope

import (
	"regexp"
	"strings"
)

// What a sentence names: a host, a path or a command, each behind a word that says
// what is done with it. A document that a reader is sent to is not used.
var (
	// "from api.weather.gov", "queries the https://api.weather.gov/points API"
	hostNamed = regexp.MustCompile(`(?i)\b(?:from|to|at|via|through|against|using|by|with|on|of|uses?|queries|query|calls?|contacts?|hits?|polls?|reaches|` +
		`accesses|searches|fetches|endpoint|host|server)(?:\s+only)?(?:\s+(?:the|its|our|official|public|free|open))*[:\s]+[` + "`" + `"'(<]*` +
		`(https?://)?((?:[a-z0-9_-]{1,63}\.)+[a-z]{2,24})(?::\d{1,5})?(?:/[^\s` + "`" + `"'<>]*)?`)
	// "Reads ~/.config/x/settings.json", "saved to /var/lib/notes/"
	pathNamed = regexp.MustCompile(`(?i)\b(reads?|loads?|parses?|opens?|lists?|scans?|writes?|saves?|stores?|saved|stored|written|kept|keeps?|appends?|logs?|logged|creates?|caches?|cached)\b` +
		`((?:\s+[\w'-]+){0,6}?)\s+(?:(?:to|in|into|at|under|from|as)\s+)?[` + "`" + `"'(]*((?:~|/[\w.@+-]+)(?:/[\w.@+*-]+)+/?|~/)`)
	// "runs `git log`", "wraps the `kubectl` CLI"
	commandNamed = regexp.MustCompile("(?i)\\b(?:runs?|running|executes?|executing|invokes?|invoking|calls?|calling|wraps?|wrapping|spawns?|uses?|using|via|with|through)" +
		"(?:\\s+(?:the|a|your|local|installed|system))*\\s+`([a-z0-9][a-z0-9._+-]{0,63})(?:\\s[^`]*)?`")
	// elsewhere sends the reader to a document, or gives an example.
	elsewhere = regexp.MustCompile(`(?i)^\s*(?:see|visit|docs?|documentation|learn|read more|more info\w*|homepage|website|source|refer|powered)\b|` +
		`\b(?:see|learn more|read more|for details|for more|documented|documentation|e\.g|for example|for instance|example:|such as|like)\b`)
	// deniedBefore is a negation in what goes before a name.
	deniedBefore = regexp.MustCompile(`(?i)\b(?:no|not|never|without|cannot|can't|doesn't|don't|won't|instead of|rather than|unlike|except)\b`)
	// reading are the verbs of pathNamed that take what is there; the others put it.
	reading = set("read", "reads", "load", "loads", "parse", "parses", "open", "opens", "list", "lists", "scan", "scans")
)

// maxNamed is how many places one declaration names at most.
const maxNamed = 64

// name enters a place that is named.
func (d *Declaration) name(kind UseKind, allows matcher, clause Clause) {
	if len(d.named) < maxNamed {
		d.named = append(d.named, named{kind, allowance{allows, clause}})
	}
}

// named is a place that a declaration names.
type named struct {
	kind UseKind
	allowance
}

// names enters what a sentence names. Names behind a negation, a condition, or an
// order to the reader are none.
func (r *reader) names(d *Declaration, sentence string, clause Clause) {
	if len(sentence) > maxSentence || !mayName(sentence) || elsewhere.MatchString(sentence) || conditions.MatchString(strings.ToLower(sentence)) {
		return
	}
	for _, at := range hostNamed.FindAllStringSubmatchIndex(sentence, maxNamed) {
		host := strings.ToLower(sentence[at[4]:at[5]])
		behind := sentence[at[5]:]
		if !deniedBefore.MatchString(sentence[:at[4]]) && !strings.HasPrefix(behind, "@") && (at[2] >= 0 || domains[lastLabel(host)]) {
			r.nameHost(d, host, clause)
		}
	}
	for _, s := range services {
		if at := s.pattern.FindStringIndex(sentence); at != nil && !deniedBefore.MatchString(sentence[:at[0]]) {
			for _, host := range s.hosts {
				r.nameHost(d, host, clause)
			}
		}
	}
	for _, at := range pathNamed.FindAllStringSubmatchIndex(sentence, maxNamed) {
		if deniedBefore.MatchString(sentence[:at[6]]) {
			continue
		}
		r.namePath(d, strings.ToLower(sentence[at[2]:at[3]]), strings.TrimRight(sentence[at[6]:at[7]], "."), clause)
	}
	for _, at := range commandNamed.FindAllStringSubmatchIndex(sentence, maxNamed) {
		program := sentence[at[2]:at[3]]
		allows, err := parseProgram(program, r.given)
		if err == nil && !deniedBefore.MatchString(sentence[:at[2]]) && !strings.ContainsAny(program, "*_") {
			clause.Means = "may run " + program
			d.name(UseExec, allows, clause)
		}
	}
}

// mayName tells whether a sentence has what every name of a place has with it.
// Looking for that first is much faster.
func mayName(sentence string) bool {
	return strings.ContainsAny(sentence, "./`") || strings.Contains(sentence, "API") || strings.Contains(sentence, "service") ||
		strings.Contains(sentence, "endpoint")
}

// nameHost enters a host, with the question for its name.
func (r *reader) nameHost(d *Declaration, host string, clause Clause) {
	if allows, err := parseEgress(host, r.given); err == nil {
		clause.Means = "may connect to " + host
		d.name(UseEgress, allows, clause)
	}
}

// namePath enters a path; one whose last name has no dot in it may be a directory.
func (r *reader) namePath(d *Declaration, verb, file string, clause Clause) {
	if strings.HasPrefix(file, "/dev/") || strings.HasPrefix(file, "/proc/") {
		return
	}
	kinds, may := []UseKind{UseRead, UseWrite}, "may write "
	if reading[verb] {
		kinds, may = kinds[:1], "may read "
	}
	clause.Means = may + file
	entries := []string{file}
	if last := file[strings.LastIndexByte(file, '/')+1:]; last != "" && !strings.Contains(last[1:], ".") {
		entries = append(entries, file+"/")
	}
	for _, kind := range kinds {
		for _, entry := range entries {
			if allows, err := parsePath(entry, r.given); err == nil {
				d.name(kind, allows, clause)
			}
		}
	}
}

func lastLabel(host string) string { return host[strings.LastIndexByte(host, '.')+1:] }

// domains are the last labels by which a name with dots in it is a host's without
// "https://" before it: "README.md" and "Node.js" are none.
var domains = set("com", "org", "net", "gov", "edu", "mil", "int", "io", "dev", "app", "ai", "cloud", "co", "info", "eu",
	"uk", "de", "fr", "es", "nl", "ch", "se", "dk", "fi", "jp", "cn", "kr", "au", "ca", "br")

// service is one that people know by its name.
type service struct {
	pattern *regexp.Regexp
	hosts   []string
}

func known(names string, hosts ...string) service {
	return service{regexp.MustCompile(`(?i)\b(?:` + names + `)(?:'s)?(?: (?:REST|GraphQL|Web|public|search|v\d))* (?:APIs?|service|endpoints?)\b`), hosts}
}

// services are those whose API is often spoken of, with the hosts that it is known to
// be at. A name without "API" behind it may be a word like any other.
var services = []service{
	known(`GitHub`, "github.com", "*.github.com", "*.githubusercontent.com"),
	known(`GitLab`, "gitlab.com"),
	known(`Slack`, "slack.com", "*.slack.com"),
	known(`Notion`, "api.notion.com"),
	known(`Linear`, "api.linear.app"),
	known(`Figma`, "api.figma.com"),
	known(`Stripe`, "api.stripe.com"),
	known(`OpenAI`, "api.openai.com"),
	known(`Anthropic|Claude`, "api.anthropic.com"),
	known(`Gemini|Google Maps|Google (?:Drive|Calendar|Sheets|Docs)|Gmail|YouTube(?: Data)?`, "*.googleapis.com"),
	known(`Brave(?: Search)?`, "api.search.brave.com"),
	known(`Tavily`, "api.tavily.com"),
	known(`Exa`, "api.exa.ai"),
	known(`Perplexity`, "api.perplexity.ai"),
	known(`Firecrawl`, "api.firecrawl.dev"),
	known(`Wikipedia|MediaWiki`, "*.wikipedia.org"),
	known(`OpenWeather(?:Map)?`, "api.openweathermap.org"),
	known(`National Weather Service|NWS|weather\.gov`, "api.weather.gov"),
	known(`Open-Meteo`, "*.open-meteo.com"),
	known(`Hugging ?Face`, "huggingface.co", "*.huggingface.co"),
	known(`npm(?: registry)?`, "registry.npmjs.org"),
	known(`PyPI`, "pypi.org", "files.pythonhosted.org"),
	known(`arXiv`, "export.arxiv.org", "arxiv.org"),
	known(`Hacker News`, "hacker-news.firebaseio.com", "hn.algolia.com"),
	known(`Stack ?(?:Overflow|Exchange)`, "api.stackexchange.com"),
	known(`Discord`, "discord.com"),
	known(`Telegram(?: Bot)?`, "api.telegram.org"),
	known(`Cloudflare`, "api.cloudflare.com"),
	known(`Sentry`, "sentry.io", "*.sentry.io"),
	known(`Airtable`, "api.airtable.com"),
	known(`HubSpot`, "api.hubapi.com"),
	known(`Twilio`, "api.twilio.com"),
	known(`Spotify`, "api.spotify.com"),
	known(`Reddit`, "*.reddit.com"),
}

// answer finds the place that has a use.
func (d Declaration) answer(use Use) (Clause, bool) {
	for _, n := range d.named {
		if n.kind == use.Kind && n.allows(use) {
			return n.clause, true
		}
	}
	return Clause{}, false
}
