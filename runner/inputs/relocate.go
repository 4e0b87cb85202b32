package inputs

import (
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/places"
	lists "github.com/mcpaudit/mcpaudit/runner/words"
)

// destination is the target of relocations.
type destination struct {
	options Options
	mark    Mark
}

func (d *draft) place() destination { return destination{d.form.options, d.mark} }

// tokens matches the text between blanks, quotes and brackets.
var tokens = lazyregexp.New("[^\\s'\"`<>(){}\\[\\],;|&]+")

// relocate replaces hosts by that of the mark, and paths outside by ones in the
// directory. wanted is the format of the place: a name without
// a scheme is a host where one is wanted, or if it looks like one.
func (d destination) relocate(text, wanted string) string {
	if !strings.ContainsAny(text, " \t\n") || text[0] == '/' || text[0] == '~' {
		return d.token(text, wanted)
	}
	return tokens.ReplaceAllStringFunc(text, func(token string) string { return d.token(token, wanted) })
}

func (d destination) token(token, wanted string) string {
	lower := strings.ToLower(token)
	scheme, rest, isURL := strings.Cut(token, "://")
	before, scheme := "", strings.ToLower(scheme)
	if i := strings.LastIndexAny(scheme, ":="); i >= 0 { // jdbc:mysql://, --url=http://
		before, scheme = scheme[:i+1], scheme[i+1:]
	}
	switch {
	case isURL && scheme == "file":
		return before + "file://" + d.inside(rest)
	case isURL && network(scheme):
		return before + d.mark.urlOf(scheme)
	case isURL:
		return token
	case strings.HasPrefix(lower, "mailto:"), strings.Contains(token, "@") && hostLike(lower[strings.LastIndexByte(lower, '@')+1:], true):
		return d.mark.email()
	}
	if moved, ok := d.path(token); ok {
		return moved
	}
	return d.host(token, wanted)
}

// path moves a path: absolute ones, those of a home or upwards, those of Windows.
func (d destination) path(token string) (string, bool) {
	at := strings.IndexByte(token, '=') + 1
	before, value := token[:at], token[at:]
	switch {
	case len(value) > 1 && (value[0] == '/' || value[0] == '~'), strings.Contains(value, "../"), value == "..",
		strings.Contains(value, `..\`), strings.HasPrefix(value, `\\`), len(value) > 2 && value[1] == ':' && value[2] == '\\':
		return before + d.inside(value), true
	}
	return "", false
}

// inside moves a path into the directory, unless it is there.
func (d destination) inside(text string) string {
	o := d.options
	if clean := path.Clean(text); o.within(clean) {
		return clean
	}
	if path.Ext(text) == "" {
		return o.files()
	}
	return o.file(0)
}

func (o Options) within(clean string) bool {
	return slices.ContainsFunc(append([]string{o.dir()}, o.Bound...), func(dir string) bool { return places.Within(clean, dir) })
}

// host replaces a host or an address without a scheme, except addresses of the machine itself.
func (d destination) host(token, wanted string) string {
	name, _, _ := strings.Cut(token, "/")
	name, port, _ := strings.Cut(name, ":")
	whole, err := netip.ParseAddr(token)
	if err != nil {
		whole, _ = netip.ParseAddr(name)
	}
	switch {
	case whole.IsLoopback() || whole.IsUnspecified() && whole.IsValid():
		return token
	case whole.Is4():
		return strings.Replace(token, name, d.mark.address(), 1)
	case whole.Is6():
		return d.mark.address6()
	case !hostLike(strings.ToLower(name), wanted == "hostname" || wanted == "uri" || wanted == "url" || port != ""):
		return token
	}
	if port != "" {
		return d.mark.Host() + ":" + port
	}
	return d.mark.Host()
}

var hostname = lazyregexp.New(`^(?:[a-z0-9_](?:[a-z0-9_-]{0,62})\.)+([a-z][a-z0-9-]{1,62})\.?$`)

// hostLike reports whether a text is a host name. sure: any possible one counts;
// otherwise only those with a usual top-level domain.
func hostLike(text string, sure bool) bool {
	found := hostname.FindStringSubmatch(text)
	return found != nil && (domains[found[1]] || sure && !extensions[found[1]])
}

var domains = words("com net org io dev ai app co cloud xyz info biz me us uk de eu gov edu mil int test example local internal")

// extensions are those of files that look like hosts.
var extensions = words("txt md json csv js ts mjs py go rs java html htm xml yaml yml toml gz zip tar pdf png jpg log sql git")

func words(text string) lists.Set { return lists.SetOf(strings.Fields(text)...) }

// network reports whether the URLs of a scheme name a host. "git+ssh" is both of its parts.
func network(scheme string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(scheme, func(r rune) bool { return r == '+' || r == '.' }),
		func(part string) bool { return schemes[part] })
}

var schemes = words("http https ws wss ftp ftps sftp ssh scp git svn rsync redis rediss postgres postgresql mysql mariadb mongodb " +
	"mssql sqlserver oracle amqp amqps mqtt mqtts nats kafka ldap ldaps smb cifs nfs gopher telnet imap imaps smtp smtps pop3 tcp udp tls " +
	"grpc grpcs rtsp rtmp stun turn irc ircs xmpp socks socks4 socks5 socks5h dns doh coap webdav dav s3 gs afp vnc rdp")
