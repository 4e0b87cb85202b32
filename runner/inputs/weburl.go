package inputs

import (
	"net/url"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// Which URLs a tool takes: some take those of the scheme "http" alone, some those of hosts
// that their description names.

var (
	// urlOf are descriptions of a URL, in whatever words.
	urlOf = lazyregexp.New(`(?i)^\W*(?:(?:the|an?|full|public|complete|valid|optional|target|base)\W+)*(?:(?:web|site|website|page|internet)\s+address(?:es)?\b|` +
		`address(?:es)? of (?:(?:the|an?|each|all)\s+)?(?:[a-z]+\s+)?(?:page|web ?page|site|website|feed|article|blog)s?\b|` +
		`(?:https?\s+)?URLs?(?:\s+(?:of|to|for|from|where|that|which|pointing)\b|\s*(?:$|[.,;(])))`)
	describedURL = lazyregexp.New(`\bhttps?://[^\s"'` + "`" + `<>)\]},;|*]{1,200}`)
)

// web reports whether a value is the URL of a page.
func web(value string) bool {
	return strings.HasPrefix(value, "https://") || strings.HasPrefix(value, "http://")
}

// public reports whether a URL names a host of the internet: what a server says of this
// machine or its network is no excuse for going there.
func public(value string) bool {
	u, err := url.Parse(value)
	if err != nil || !web(value) || strings.ContainsAny(value, "{}") {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return hostLike(host, true) && !strings.HasSuffix(host, ".internal") && !strings.HasSuffix(host, ".local") && !strings.HasSuffix(host, ".localhost")
}

// doubtURL notes that a URL was refused; false when that is all that one can learn from it.
func (l *lesson) doubtURL(whole string) bool {
	if !web(whole) || l.web >= maxSuspected {
		return false
	}
	if _, ours := Marked(whole); ours { // the scheme of another may have been right
		l.web++
	}
	return true
}

// page is the URL that is made up for a page: of the other scheme, every other time that one
// was refused.
func (d *draft) page(n *node, made string) string {
	if d.form.taught(n).web%2 == 1 {
		if rest, secure := strings.CutPrefix(made, "https://"); secure {
			return "http://" + rest
		}
	}
	return made
}

// sites are pages of well-known services by their names: a tool for one service refuses the pages of others.
var sites = []hint{
	{[]string{"youtube"}, "https://www.youtube.com/watch?v=jNQXAC9IVRw"},
	{[]string{"vimeo"}, "https://vimeo.com/76979871"},
	{[]string{"github"}, "https://github.com/octocat/Hello-World"},
	{[]string{"gitlab"}, "https://gitlab.com/gitlab-org/gitlab"},
	{[]string{"figma"}, "https://www.figma.com/design/abcdefghijklmnopqrstuv/Notes?node-id=1-2"},
	{[]string{"notion"}, "https://www.notion.so/Notes-0123456789abcdef0123456789abcdef"},
	{[]string{"spotify"}, "https://open.spotify.com/track/11dFghVXANMlKmJXsNCbNl"},
	{[]string{"reddit"}, "https://www.reddit.com/r/programming/comments/abc123/notes/"},
	{[]string{"twitter", "tweet"}, "https://x.com/jack/status/20"},
	{[]string{"linkedin"}, "https://www.linkedin.com/in/notes/"},
	{[]string{"instagram"}, "https://www.instagram.com/p/C0abcdefghi/"},
	{[]string{"tiktok"}, "https://www.tiktok.com/@notes/video/7000000000000000000"},
	{[]string{"bilibili"}, "https://www.bilibili.com/video/BV1GJ411x7h7"},
	{[]string{"wikipedia"}, "https://en.wikipedia.org/wiki/Milk"},
	{[]string{"arxiv"}, "https://arxiv.org/abs/1706.03762"},
	{[]string{"jira", "atlassian"}, "https://notes.atlassian.net/browse/NOTE-1"},
}

// asDescribed are the URLs that a place's schema or the tool's description has, as they stand, and those of a service
// that they name, for tools that take no other host than theirs: where all names lead to the sinkhole, none is reached.
func (f *Form) asDescribed(n *node) (found []candidate) {
	if f.taught(n).web == 0 || !f.options.Sunk || n.kind != "string" && n.kind != "" {
		return nil
	}
	for _, value := range proposed(n) {
		if public(plain(value)) {
			found = append(found, candidate{value: value, source: ofSchema, stands: true})
		}
	}
	of := slices.Concat(split(n.name), nouns(strings.ToLower(said(n))), f.about)
	for _, site := range sites {
		if has(of, site.words) {
			found = append(found, candidate{value: site.value, source: "the service that it names", stands: true})
		}
	}
	for _, of := range []struct{ text, source string }{{said(n), ofDescription}, {head(f.options.Said, 4*maxLength), "the description of the tool"}} {
		for _, named := range describedURL.FindAllString(of.text, 4) {
			if named = strings.TrimRight(named, ".:!?"); public(named) {
				found = append(found, candidate{value: named, source: of.source, stands: true})
			}
		}
	}
	return found
}

// connecting are names of parameters for the address of a service.
var connecting = []string{"connection", "dsn", "uri", "url", "urls", "conn", "connstr"}

// products are the URL schemes of services, by words for them.
var products = []hint{
	{[]string{"mongo", "mongodb", "atlas"}, "mongodb"},
	{[]string{"postgres", "postgresql", "pg"}, "postgresql"},
	{[]string{"mysql"}, "mysql"},
	{[]string{"mariadb"}, "mariadb"},
	{[]string{"redis", "valkey"}, "redis"},
	{[]string{"rabbitmq", "amqp"}, "amqp"},
	{[]string{"nats"}, "nats"},
	{[]string{"mqtt"}, "mqtt"},
	{[]string{"ldap"}, "ldap"},
}

// schemed matches the URL schemes in a description.
var schemed = lazyregexp.New(`\b([a-z][a-z0-9]{1,15})(?:\+[a-z]+)?://`)

// service returns the URL of a service other than the web, for a place that takes a connection:
// by the first scheme in its description, or by a product that the names mention.
func (d *draft) service(n *node) (string, bool) {
	words := split(n.name)
	if !has(words, connecting) {
		return "", false
	}
	for _, match := range schemed.FindAllStringSubmatch(strings.ToLower(said(n)), maxOffers) {
		if scheme := match[1]; network(scheme) { // that of a page says nothing about a service
			return d.mark.urlOf(scheme), scheme != "http" && scheme != "https"
		}
	}
	scheme, ok := valueFor(slices.Concat(words, nouns(said(n)), d.form.about), products)
	return d.mark.urlOf(scheme), ok
}
