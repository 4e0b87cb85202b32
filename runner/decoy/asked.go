package decoy

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// content describes the values of the variables with some names.
type content struct {
	// name matches the end of the variable's name.
	name *lazyregexp.Regexp
	// value is a template, in which {service} is the first word of the name.
	value string
	hosts []string
}

func ending(words string) *lazyregexp.Regexp { return lazyregexp.New(`(?:^|_)(?:` + words + `)$`) }

// contents is searched from the top. A variable without a row is a secret.
var contents = []content{
	{ending(`MONGO(?:DB)?\w*(?:URL|URI|STRING)`), "mongodb://app:{a32}@db.example.com:27017/app", database},
	{ending(`(?:MYSQL|MARIADB)\w*(?:URL|URI|DSN|STRING)`), "mysql://app:{a32}@db.example.com:3306/app", database},
	{ending(`REDIS\w*(?:URL|URI)`), "redis://:{a32}@db.example.com:6379/0", database},
	{ending(`(?:POSTGRES\w*|PG|DATABASE|DB|SQL)_?(?:URL|URI|DSN)|CONNECTION_?STRING|DSN`), "postgresql://app:{a32}@db.example.com:5432/app", database},
	{ending(`(?:E?MAIL\w*|FROM|SENDER|RECIPIENT)_?ADDRESS`), "deploy@example.com", nil},
	{ending(`(?:ALLOW\w*_)?(?:COMMANDS|PROGRAMS|EXECUTABLES)`), "ls,cat,echo", nil},
	{ending(`(?:BASE_?)?(?:URL|URI)|ENDPOINT|SERVER|ADDRESS|ADDR|ORIGIN`), "https://{service}.example.com", nil},
	{ending(`HOST|HOSTNAME|DOMAIN|SITE`), "{service}.example.com", nil},
	{ending(`PORT`), "443", nil},
	{ending(`EMAIL|MAIL`), "deploy@example.com", nil},
	{ending(`REGION`), "us-east-1", nil},
	{ending(`TIMEOUT|LIMIT|RETRIES`), "30", nil},
	{ending(`DIR|DIRECTORY|ROOT|FOLDER|PATH|WORKSPACE_?PATH`), "/tmp", nil},
	{ending(`ID|UUID|GUID`), "4f6b1c1e-0d5a-4a8e-9b0c-2f6d3e7a91c4", nil},
	{ending(`USER|USERNAME|LOGIN|OWNER|NAME|DATABASE|DB|SCHEMA|ORG|ORGANI[SZ]ATION|TEAM|WORKSPACE|ACCOUNT|TENANT|PROJECT|SUBDOMAIN|INSTANCE|MODEL|VERSION`), "app", nil},
}

// secretName matches the end of the names of variables that hold a secret.
var secretName = ending(`\w*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|PAT|PWD|CREDENTIALS?|COOKIE|AUTH|JWT)`)

// Secret reports whether a variable holds a secret, by the end of its name.
func Secret(name string) bool { return secretName.MatchString(name) }

// Configures reports whether a variable holds a secret, or says where a service is or who
// uses it, by the end of its name.
func Configures(name string) bool {
	return Secret(name) || slices.ContainsFunc(contents, func(s content) bool { return s.name.MatchString(name) })
}

// Asked makes a variable that a server asks for by name: a decoy that looks right for the
// name, or if that is no secret's, something plausible. A secret begins with prefix, which
// the server may require.
func Asked(name, prefix string) Var {
	service := Service(name)
	v := Var{Name: name, Asked: true}
	for _, s := range contents {
		if prefix == "" && !Secret(name) && s.name.MatchString(name) {
			v.Hosts = s.hosts
			v.Value, v.Secrets = fill(strings.ReplaceAll(s.value, "{service}", service))
			return v
		}
	}
	value := "{a40}"
	for _, known := range variables {
		if !strings.EqualFold(firstWord(known.name), service) {
			continue
		}
		v.Hosts = known.hosts
		if secretKind(known.name) == secretKind(name) {
			value = known.value
		}
	}
	if prefix != "" && !strings.HasPrefix(value, prefix) {
		value = prefix + "{a40}"
	}
	v.Value, v.Secrets = fill(value)
	return v
}

// Service returns the first word of a variable's name, in lower case: "notion" of
// NOTION_API_KEY.
func Service(name string) string { return strings.ToLower(firstWord(name)) }

func firstWord(name string) string {
	word, _, _ := strings.Cut(name, "_")
	return word
}

// secretKind returns the last word of a name; TOKEN for PAT, a personal access token.
func secretKind(name string) string {
	last := name[strings.LastIndexByte(name, '_')+1:]
	if last == "PAT" {
		return "TOKEN"
	}
	return last
}
