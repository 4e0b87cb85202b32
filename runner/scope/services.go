package scope

import "regexp"

// apiWord is where a service may be named; apiWords are the words themselves, and
// apiKinds those that may stand between the name and them.
var (
	apiWord  = regexp.MustCompile(`(?i)\b(?:APIs?|endpoints?)\b`)
	apiWords = set("api", "apis", "endpoint", "endpoints")
	apiKinds = set("rest", "graphql", "web", "public", "search", "http", "v1", "v2", "v3", "v4", "data")
)

// maxServiceWords is how many words a name in services has at most.
const maxServiceWords = 3

// services has those whose API is often spoken of, by their names in lower case, with
// the hosts that it is known to be at. A name without "API" behind it may be a word
// like any other.
var services = map[string][]string{
	"github": {"github.com", "*.github.com", "*.githubusercontent.com"},
	"gitlab": {"gitlab.com"}, "slack": {"slack.com", "*.slack.com"}, "notion": {"api.notion.com"}, "linear": {"api.linear.app"},
	"figma": {"api.figma.com"}, "stripe": {"api.stripe.com"}, "openai": {"api.openai.com"},
	"anthropic": {"api.anthropic.com"}, "claude": {"api.anthropic.com"}, "gemini": {"*.googleapis.com"},
	"google maps": {"*.googleapis.com"}, "google drive": {"*.googleapis.com"}, "google calendar": {"*.googleapis.com"},
	"google sheets": {"*.googleapis.com"}, "google docs": {"*.googleapis.com"}, "gmail": {"*.googleapis.com"},
	"youtube": {"*.googleapis.com"}, "brave": {"api.search.brave.com"}, "tavily": {"api.tavily.com"}, "exa": {"api.exa.ai"},
	"perplexity": {"api.perplexity.ai"}, "firecrawl": {"api.firecrawl.dev"}, "wikipedia": {"*.wikipedia.org"},
	"mediawiki": {"*.wikipedia.org"}, "openweather": {"api.openweathermap.org"}, "openweathermap": {"api.openweathermap.org"},
	"national weather service": {"api.weather.gov"}, "nws": {"api.weather.gov"}, "weather gov": {"api.weather.gov"},
	"open meteo": {"*.open-meteo.com"}, "hugging face": {"huggingface.co", "*.huggingface.co"},
	"huggingface": {"huggingface.co", "*.huggingface.co"}, "npm": {"registry.npmjs.org"}, "npm registry": {"registry.npmjs.org"},
	"pypi": {"pypi.org", "files.pythonhosted.org"}, "arxiv": {"arxiv.org", "*.arxiv.org"},
	"hacker news": {"hacker-news.firebaseio.com", "hn.algolia.com"}, "stack exchange": {"api.stackexchange.com"},
	"stack overflow": {"api.stackexchange.com"}, "stackoverflow": {"api.stackexchange.com"}, "discord": {"discord.com"},
	"telegram": {"api.telegram.org"}, "telegram bot": {"api.telegram.org"}, "cloudflare": {"api.cloudflare.com"},
	"sentry": {"sentry.io", "*.sentry.io"}, "airtable": {"api.airtable.com"}, "hubspot": {"api.hubapi.com"},
	"twilio": {"api.twilio.com"}, "spotify": {"api.spotify.com"}, "reddit": {"*.reddit.com"},
}

// Names reports whether a declaration names the service whose API is at a host: that
// alone, where one word and one host are that service's and nobody else's.
func (d Declaration) Names(host string) bool {
	for name, hosts := range services {
		if len(hosts) == 1 && hosts[0] == host && d.Mentions(name) {
			return true
		}
	}
	return false
}
