package sinkhole

import (
	"net/netip"
	"strings"
)

// owned are address ranges of well-known services, as published by or registered for them or their hosting companies.
// A program could otherwise see that its answers do not come from the owner, and most servers ask one of these hosts.
// A name below one has the same range.
var owned = ranges(map[string]string{
	"140.82.112.0/20":  "github.com ghcr.io",              // https://api.github.com/meta
	"185.199.108.0/22": "githubusercontent.com github.io", // the same
	"142.250.0.0/15":   "google.com googleapis.com gstatic.com youtube.com googleusercontent.com",
	"20.190.128.0/18":  "microsoftonline.com",
	"13.107.0.0/17":    "microsoft.com office.com office365.com sharepoint.com bing.com visualstudio.com",
	"20.60.0.0/16":     "azure.com windows.net",
	"52.94.0.0/16":     "amazonaws.com amazon.com",
	"54.192.0.0/16":    "cloudfront.net huggingface.co",
	"54.236.0.0/16":    "docker.io docker.com twilio.com heroku.com herokuapp.com",
	"3.64.0.0/14":      "slack.com",
	"54.184.0.0/14":    "stripe.com",
	"160.79.104.0/21":  "anthropic.com claude.ai",
	"104.16.0.0/14":    "openai.com cloudflare.com npmjs.org npmjs.com linear.app mistral.ai groq.com notion.so notion.com digitalocean.com figma.com supabase.co perplexity.ai stackoverflow.com stackexchange.com coingecko.com",
	"162.159.128.0/19": "discord.com discord.gg",
	"172.65.240.0/20":  "gitlab.com",
	"151.101.0.0/16":   "pypi.org pythonhosted.org reddit.com fastly.com sentry.io",
	"149.154.160.0/20": "telegram.org t.me",
	"104.192.136.0/21": "atlassian.net atlassian.com bitbucket.org",
	"208.80.152.0/22":  "wikipedia.org wikimedia.org wikidata.org",
	"157.240.0.0/16":   "facebook.com instagram.com whatsapp.com",
	"104.244.40.0/21":  "twitter.com x.com",
	"162.125.0.0/16":   "dropbox.com dropboxapi.com",
	"167.89.0.0/17":    "sendgrid.com",
	"17.0.0.0/8":       "apple.com icloud.com",
	"170.114.0.0/16":   "zoom.us",
	"108.174.0.0/20":   "linkedin.com",
})

func ranges(names map[string]string) map[string]netip.Prefix {
	all := map[string]netip.Prefix{}
	for prefix, of := range names {
		for _, name := range strings.Fields(of) {
			all[name] = netip.MustParsePrefix(prefix)
		}
	}
	return all
}

// rangeOf returns the range for the address of a name in lower case: Fake, unless it is owned.
func rangeOf(name string) netip.Prefix {
	for rest := strings.TrimSuffix(name, "."); rest != ""; _, rest, _ = strings.Cut(rest, ".") {
		if prefix, ok := owned[rest]; ok {
			return prefix
		}
	}
	return Fake
}

// Gave reports whether the sinkhole may have resolved a name to an address.
func Gave(name string, at netip.Addr) bool {
	within := rangeOf(strings.ToLower(name))
	if Fake.Contains(at) || within == Fake {
		return Fake.Contains(at)
	}
	a := hashed(strings.ToLower(name), within)
	for range mostTries {
		if a == at {
			return true
		}
		a = following(a, within)
	}
	return false
}

// OfService reports whether the sinkhole gives such addresses to names.
func OfService(at netip.Addr) bool {
	for _, prefix := range owned {
		if prefix.Contains(at) {
			return true
		}
	}
	return Fake.Contains(at)
}

// following returns the next address of a range, cyclically.
func following(a netip.Addr, within netip.Prefix) netip.Addr {
	if next := a.Next(); within.Contains(next) {
		return next
	}
	return within.Addr().Next()
}
