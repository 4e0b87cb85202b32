package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

// place is a kind of file that holds secrets.
type place struct {
	// what it is, in a sentence: "an SSH key".
	what string
	// bases are names of files, below directories (with slashes) parts of
	// paths: either is enough.
	bases, below []string
	// topics are the words by which a declaration speaks of such files: a
	// server for Kubernetes reads a kubeconfig; see speaks.
	topics []string
	// routine: ordinary tools open it unasked, so it says little by itself.
	routine bool
}

var (
	// Git by itself needs no key; what git does with other machines may.
	sshTopics  = []string{"ssh", "sftp", "scp", "rsync", "git clone", "git push", "git pull", "git fetch", "git remote"}
	kubeTopics = []string{"kubernetes", "k8s", "kubectl", "kubeconfig", "helm", "cluster", "clusters"}
	// "mcp" is in the name of nearly every server, and a "cursor" in every list with pages.
	clientTopics = []string{"claude", "cursor ide", "cursor editor", "cursor config", "cursor settings", "cursor agent",
		"mcp config", "mcp configuration", "mcp clients"}
)

// places list what thieves look for, the most specific first.
var places = []place{
	{what: "an SSH key", bases: []string{"id_rsa", "id_ed25519", "id_ecdsa", "id_dsa", "id_ecdsa_sk", "id_ed25519_sk"}, topics: sshTopics},
	{what: "SSH configuration", below: []string{"/.ssh/"}, topics: sshTopics},
	{what: "AWS credentials", below: []string{"/.aws/"}, topics: []string{"aws", "s3", "ec2", "bedrock", "dynamodb", "lambda", "cloudwatch"}},
	{what: "Azure credentials", below: []string{"/.azure/"}, topics: []string{"azure"}},
	{what: "Google Cloud credentials", below: []string{"/.config/gcloud/"}, topics: []string{"gcloud", "gcp", "google", "bigquery", "firestore"}},
	{what: "a kubeconfig", below: []string{"/.kube/"}, bases: []string{"kubeconfig"}, topics: kubeTopics},
	{what: "a service-account token", below: []string{"/secrets/kubernetes.io/serviceaccount/"}, topics: kubeTopics},
	{what: "registry credentials", below: []string{"/.docker/config.json", "/containers/auth.json"},
		topics: []string{"docker", "container", "containers", "podman", "registry", "oci"}},
	{what: "GitHub credentials", below: []string{"/.config/gh/"}, topics: []string{"github", "gh"}},
	{what: "Git credentials", bases: []string{".git-credentials"}, topics: []string{"git", "github", "gitlab"}},
	{what: "GnuPG keys", below: []string{"/.gnupg/"}, topics: []string{"gpg", "gnupg", "pgp", "openpgp"}},
	{what: "database credentials", bases: []string{".pgpass", ".my.cnf"}, topics: []string{"postgres", "postgresql", "mysql", "mariadb"}},
	{what: "package registry credentials", bases: []string{".pypirc"}, topics: []string{"pypi", "pip", "twine"}},
	{what: "package registry credentials", bases: []string{".npmrc"}, topics: []string{"npm", "node", "yarn", "pnpm"}, routine: true},
	{what: "network credentials", bases: []string{".netrc", "_netrc"}, topics: []string{"netrc", "ftp"}, routine: true},
	{what: "Vault or Terraform credentials", bases: []string{".vault-token", "credentials.tfrc.json"}, topics: []string{"vault", "terraform"}},
	{what: "another client's configuration", bases: []string{".claude.json", "claude_desktop_config.json"}, below: []string{"/.cursor/mcp.json"},
		topics: clientTopics},
	{what: "the password database", below: []string{"/etc/shadow", "/etc/gshadow"}},
	{what: "a key ring", below: []string{"/.local/share/keyrings/", "/.password-store/"}, topics: []string{"keyring", "keyrings", "password", "passwords"}},
	{what: "a browser's secrets", bases: []string{"Login Data", "Cookies", "logins.json", "key4.db", "cookies.sqlite"},
		topics: []string{"browser", "chrome", "chromium", "firefox", "cookie", "cookies"}},
	{what: "a wallet", bases: []string{"wallet.dat"}, below: []string{"/.bitcoin/", "/.ethereum/keystore/", "/.config/solana/"},
		topics: []string{"wallet", "wallets", "bitcoin", "ethereum", "solana", "crypto"}},
	{what: "a shell's history", bases: []string{".bash_history", ".zsh_history"}, topics: []string{"history", "shell"}},
}

var (
	otherProcess = place{
		what: "another process's secrets", bases: []string{"environ", "mem"},
		// That it processes something is said of every other tool.
		topics: []string{"pid", "pids", "procfs", "debugger", "process environment", "processes environment", "running processes"},
	}
	environmentFile = place{
		what: "an environment file", bases: []string{".env"}, topics: []string{"env", "dotenv", "environment"},
	}
)

// locate finds what kind of place a path is.
func locate(name string) (place, bool) {
	if packaged(name) && (sample(name) || strings.HasPrefix(path.Base(name), ".env")) {
		return place{}, false
	}
	base := path.Base(name)
	if base == environmentFile.bases[0] || strings.HasPrefix(base, ".env.") && !template(base) {
		return environmentFile, true
	}
	if strings.HasPrefix(name, "/proc/") {
		other := !strings.HasPrefix(name, "/proc/self/") && !strings.HasPrefix(name, "/proc/thread-self/")
		return otherProcess, other && slices.Contains(otherProcess.bases, base)
	}
	for _, p := range places {
		if slices.Contains(p.bases, base) {
			return p, true
		}
		for _, part := range p.below {
			if strings.Contains(name, part) && !public(name) {
				return p, true
			}
		}
	}
	return place{}, false
}

// public are the files in secret places that are no secrets: public keys, what
// SSH libraries read before every connection, and what GnuPG makes and reads when git
// asks it for any key.
func public(name string) bool {
	base := path.Base(name)
	return strings.HasSuffix(base, ".pub") || base == "known_hosts" ||
		strings.Contains(name, "/.ssh/") && base == "config" ||
		strings.Contains(name, "/.gnupg/") && keyless(base) ||
		strings.Contains(name, "/serviceaccount/") && base != "token"
}

// keyless reports whether a file of GnuPG's, by its name, holds no secret key: rings of
// public ones, what is trusted, settings and locks (gpg(1), FILES).
func keyless(base string) bool {
	return strings.HasPrefix(base, "pubring.") || strings.HasPrefix(base, ".#lk") || strings.HasSuffix(base, ".lock") ||
		base == "trustdb.gpg" || base == "gpg.conf" || base == "common.conf"
}

// packaged reports whether a path lies in a tree of packages. What looks like a
// secret there mostly is one that the package's tests or templates use, and its
// settings came with it.
func packaged(name string) bool {
	return strings.Contains(name, "/node_modules/") || strings.Contains(name, "-packages/")
}

// samples are the directories of packages that hold tests, templates and examples.
var samples = map[string]bool{"test": true, "tests": true, "__tests__": true, "spec": true, "testing": true,
	"testdata": true, "fixture": true, "fixtures": true, "mock": true, "mocks": true, "example": true, "examples": true,
	"sample": true, "samples": true, "template": true, "templates": true, "doc": true, "docs": true, "demo": true}

func sample(name string) bool {
	for dir := range strings.SplitSeq(name, "/") {
		if samples[strings.ToLower(dir)] {
			return true
		}
	}
	return false
}

// Sensitive reports whether a path is one that the rules know: noise never hides it.
func Sensitive(name string) bool {
	_, ok := locate(name)
	return ok
}

func template(base string) bool {
	for _, suffix := range []string{".example", ".sample", ".template", ".dist", ".defaults"} {
		if strings.HasSuffix(base, suffix) {
			return true
		}
	}
	return false
}

// spokenOf reports whether the declaration that covers an effect speaks of the
// place, by a topic.
func (p place) spokenOf(s scope.Scope, e profile.Effect) bool {
	return speaks(s.Covering(e.Capability), p.topics)
}

// speaks reports whether a declaration has one of the topics. Of a topic of several
// words it has to have them all, anywhere.
func speaks(d scope.Declaration, topics []string) bool {
	return slices.ContainsFunc(topics, func(topic string) bool {
		for word := range strings.FieldsSeq(topic) {
			if !d.Mentions(word) {
				return false
			}
		}
		return true
	})
}

// managers are programs that read the settings of registries.
var managers = map[string]bool{"npm": true, "npx": true, "pnpm": true, "yarn": true, "pip": true, "pip3": true, "uv": true, "uvx": true}

// unasked reports whether a read of a routine file goes without saying: a package
// manager that starts the server, or that looks for a newer one of it, and a
// client that is about to connect read it whatever it was written for.
func unasked(in Input, e profile.Effect) bool {
	if !asked(e.Phase) {
		return true
	}
	return slices.ContainsFunc(in.Profile.Effects, func(other profile.Effect) bool {
		return other.Capability == e.Capability && other.Phase == e.Phase &&
			(other.Kind == profile.KindConnect && outward(other) || other.Kind == profile.KindExec) ||
			e.Capability.Kind == report.CapabilityServer && other.Kind == profile.KindExec && asked(other.Phase) && other.Error == "" &&
				managers[path.Base(other.Path)] // a call has started it, and it goes on
	})
}
