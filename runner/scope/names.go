package scope

import (
	"path"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/words"
)

// What a sentence names: a host, a path or a command, each after a word that says what is done with
// it. A document that the reader is referred to does not count.
var (
	// "from api.weather.gov", "queries the https://api.weather.gov/points API"
	hostNamed = lazyregexp.New(`(?i)\b(?:from|to|at|via|through|against|using|uses?|queries|query|calls?|contacts?|hits?|polls?|reaches|` +
		`asks?|requests|pings|checks|gets|downloads|scrapes|accesses|searches|fetches|by|on|over|of|with|api|endpoint|host|server|service|site|backend|gateway|registry|provider)(?:\s+only)?(?:\s+(?:the\s+)?[a-z]+\s+(?:or|and))?(?:\s+(?:the|its|our|official|public|free|open))*[:\s]+[` + "`" + `'(<]*` +
		`(https?://)?((?:[a-z0-9_-]{1,63}\.)+[a-z]{2,24})(?::\d{1,5})?(?:/[^\s` + "`" + `"'<>]*)?`)
	// "Reads ~/.config/x/settings.json", "saved to /var/lib/notes/"
	pathNamed = lazyregexp.New(`(?i)\b(reads?|loads?|parses?|opens?|lists?|scans?|writes?|saves?|stores?|saved|stored|written|kept|keeps?|appends?|logs?|logged|creates?|caches?|cached)\b` +
		`((?:\s+[\w'-]+){0,6}?)\s+(?:(?:to|in|into|at|under|from|as)\s+)?[` + "`" + `"'(]*((?:~|/[\w.@+-]+)(?:/[\w.@+*-]+)+/?|~/)`)
	// "runs `git log`", "wraps the `kubectl` CLI"
	commandNamed = lazyregexp.New("(?i)\\b(?:runs|running|executes|executing|invokes|invoking|wraps|wrapping|spawns|spawning|shells out to|wrapper (?:for|around))" +
		"(?:\\s+(?:the|a|your|local|installed|system))*\\s+`([a-z0-9][a-z0-9.+-]{0,63})(?:\\s[^`]*)?`")
	// elsewhere sends the reader to a document, or gives an example.
	elsewhere = lazyregexp.New(`(?i)^\s*(?:see|visit|docs?|documentation|learn|read more|more info\w*|homepage|website|source|refer|powered)\b|` +
		`\b(?:see|learn more|read more|for details|for more|documented|documentation|e\.g|for example|for instance|example:|such as|like)\b`)
	// deniedBefore matches a negation before a name.
	deniedBefore = lazyregexp.New(`(?i)\b(?:no|not|never|without|cannot|can't|doesn't|don't|won't|instead of|rather than|unlike|except)\b`)
	// adrift matches the beginning of the rest of an example, which is not a sentence about the server.
	adrift = lazyregexp.New(`(?i)^(?:from|to|at|via|through|against|using|host|server|endpoint)\b`)
	// route matches a method of HTTP: the path after it is one of a service, not of a file.
	route = lazyregexp.New(`\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\W*$`)
	// order matches advice to the reader, which does not describe the server.
	order = lazyregexp.New(`(?i)\b(?:you|your|must|should|first|before|pass|include|argument|parameter|sidenote)\b`)
	// secret matches paths that may hold secrets. Naming one in a sentence does not allow it: the rules
	// about secrets have their own topics.
	secret = lazyregexp.New(`(?i)/(?:\.ssh|\.aws|\.azure|\.gnupg|\.kube|\.docker|\.env|\.netrc|\.npmrc|\.pypirc|\.git-credentials|\.claude|\.cursor|\.mozilla|id_\w+|g?shadow|[^/]*(?:credential|password|secret|token|wallet|history)[^/]*)(?:[/.\w]*)$|/(?:\.ssh|\.aws|\.gnupg|\.kube)/`)
)

// maxNamed bounds the places that one declaration names.
const maxNamed = 64

func (d *Declaration) name(kind UseKind, allows matcher, clause Clause) {
	if len(d.named) < maxNamed {
		d.named = append(d.named, named{kind, allowance{allows, clause}})
	}
}

type named struct {
	kind UseKind
	allowance
}

// names adds the places that a sentence names. A name after a negation, a condition, or an order to the
// reader does not count.
func (r *reader) names(d *Declaration, sentence string, clause Clause) {
	if len(sentence) > maxSentence {
		return
	}
	host, file := strings.Contains(strings.TrimRight(sentence, "."), "."), strings.Contains(sentence, "/")
	command, api := strings.Contains(sentence, "`"), apiWord.MatchString(sentence)
	if !host && !file && !command && !api || elsewhere.MatchString(sentence) || conditions.MatchString(strings.ToLower(sentence)) {
		return
	}
	if host {
		r.hosts(d, sentence, clause)
	}
	if api {
		r.services(d, words.Of(sentence), clause)
	}
	if file {
		r.paths(d, sentence, clause)
	}
	if command {
		r.commands(d, sentence, clause)
	}
}

// stated reports whether the text after the beginning of a sentence is a statement: neither denied nor
// inside a quotation.
func stated(before string) bool {
	return !deniedBefore.MatchString(before) && strings.Count(before, `"`)%2 == 0
}

func (r *reader) hosts(d *Declaration, sentence string, clause Clause) {
	if adrift.MatchString(sentence) {
		return
	}
	for _, at := range hostNamed.FindAllStringSubmatchIndex(sentence, maxNamed) {
		host := strings.ToLower(sentence[at[4]:at[5]])
		if stated(sentence[:at[4]]) && !strings.HasPrefix(sentence[at[5]:], "@") && (at[2] >= 0 || lexicon().Domains[host[strings.LastIndexByte(host, '.')+1:]]) {
			r.nameHost(d, host, clause)
		}
	}
}

// services adds the hosts of services that are named right before "API".
func (r *reader) services(d *Declaration, spoken []string, clause Clause) {
	for i, word := range spoken {
		if !lexicon().APIWords[word] {
			continue
		}
		end := i
		for end > 0 && lexicon().APIKinds[spoken[end-1]] {
			end--
		}
		for start := max(0, end-maxServiceWords); start < end; start++ {
			hosts, ok := lexicon().Services[strings.TrimSuffix(strings.Join(spoken[start:end], " "), "'s")]
			if !ok || deniedBefore.MatchString(strings.Join(spoken[:start], " ")) {
				continue
			}
			for _, host := range hosts {
				r.nameHost(d, host, clause)
			}
			break
		}
	}
}

func (r *reader) paths(d *Declaration, sentence string, clause Clause) {
	for _, at := range pathNamed.FindAllStringSubmatchIndex(sentence, maxNamed) {
		before, verb := sentence[:at[6]], strings.ToLower(sentence[at[2]:at[3]])
		if lexicon().Bare[verb] && (at[2] > 0 || order.MatchString(sentence)) || !stated(before) || route.MatchString(before) {
			continue
		}
		r.namePath(d, verb, strings.TrimRight(sentence[at[6]:at[7]], "."), clause)
	}
}

func (r *reader) commands(d *Declaration, sentence string, clause Clause) {
	for _, at := range commandNamed.FindAllStringSubmatchIndex(sentence, maxNamed) {
		program := sentence[at[2]:at[3]]
		if allows, err := parseProgram(program, r.given); err == nil && stated(sentence[:at[2]]) {
			clause.Means = "may run " + program
			d.name(UseExec, allows, clause)
		}
	}
}

// nameHost adds a host, and the DNS query for its name.
func (r *reader) nameHost(d *Declaration, host string, clause Clause) {
	if allows, err := parseEgress(host, r.given); err == nil {
		clause.Means = "may connect to " + host
		d.name(UseEgress, allows, clause)
	}
}

// namePath adds a path. One whose last element has no dot may be a directory.
func (r *reader) namePath(d *Declaration, verb, file string, clause Clause) {
	if strings.HasPrefix(file, "/dev/") || strings.HasPrefix(file, "/proc/") || secret.MatchString(file) {
		return
	}
	kinds, may := []UseKind{UseRead, UseWrite}, "may write "
	if lexicon().Reading[verb] {
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

// answer returns the clause of the first named place that allows a use.
func (d Declaration) answer(use Use) (Clause, bool) {
	for _, n := range d.named {
		if n.kind == use.Kind && n.allows(use) {
			return n.clause, true
		}
	}
	return Clause{}, false
}

// maxPrograms bounds the words of a command that are read for program names: a launcher and its program.
const maxPrograms = 4

// programs returns the names of the programs in a command, up to the first option other than -m and -y
// ("python -m", "npx -y").
func programs(command []string) string {
	var names []string
	for _, word := range command[:min(len(command), maxPrograms)] {
		if word == "-m" || word == "-y" {
			continue
		}
		if strings.HasPrefix(word, "-") {
			break
		}
		base := path.Base(word)
		names = append(names, strings.TrimSuffix(base, path.Ext(base)))
	}
	return strings.Join(names, " ")
}
