package places

import (
	"path"
	"slices"
	"strings"
)

// Secret is a kind of file that holds secrets.
type Secret struct {
	// What names it: "an SSH key".
	What string
	// bases are names of files, below directories (with slashes) parts of
	// paths: either is enough.
	bases, below []string
	// around are directories, without a slash at the end, that hold such files among others.
	around []string
	// Topics are the words by which a declaration mentions such files: a server for Kubernetes
	// reads a kubeconfig. A topic of several words needs all of them.
	Topics []string
	// Routine: ordinary tools open it on their own, so that alone shows little.
	Routine bool
}

// Topics that rules about programs and sockets share with the secrets.
var (
	// SSHTopics include only the commands of Git that connect to other machines and may need a key.
	SSHTopics  = []string{"ssh", "sftp", "scp", "rsync", "git clone", "git push", "git pull", "git fetch", "git remote"}
	KubeTopics = []string{"kubernetes", "k8s", "kubectl", "kubeconfig", "helm", "cluster", "clusters"}
	// "mcp" is in the name of nearly every server, and a "cursor" in every list with pages.
	clientTopics = []string{"claude", "cursor ide", "cursor editor", "cursor config", "cursor settings", "cursor agent",
		"mcp config", "mcp configuration", "mcp clients"}
)

// secrets lists what thieves look for, the most specific first.
var secrets = []Secret{
	{What: "an SSH key", bases: []string{"id_rsa", "id_ed25519", "id_ecdsa", "id_dsa", "id_ecdsa_sk", "id_ed25519_sk"}, Topics: SSHTopics},
	{What: "SSH configuration", below: []string{"/.ssh/"}, Topics: SSHTopics},
	{What: "AWS credentials", below: []string{"/.aws/"}, Topics: []string{"aws", "s3", "ec2", "bedrock", "dynamodb", "lambda", "cloudwatch"}},
	{What: "Azure credentials", below: []string{"/.azure/"}, Topics: []string{"azure"}},
	{What: "Google Cloud credentials", below: []string{"/.config/gcloud/"}, Topics: []string{"gcloud", "gsutil", "gcp", "google", "bigquery", "firestore"}},
	{What: "a kubeconfig", below: []string{"/.kube/"}, bases: []string{"kubeconfig"}, Topics: KubeTopics},
	{What: "a service-account token", below: []string{"/secrets/kubernetes.io/serviceaccount/"}, Topics: KubeTopics},
	{What: "registry credentials", below: []string{"/.docker/config.json", "/containers/auth.json"},
		Topics: []string{"docker", "container", "containers", "podman", "registry", "oci"}},
	{What: "GitHub credentials", below: []string{"/.config/gh/"}, Topics: []string{"github", "gh"}},
	{What: "Git credentials", bases: []string{".git-credentials"}, Topics: []string{"git", "github", "gitlab"}},
	{What: "GnuPG keys", below: []string{"/.gnupg/"}, Topics: []string{"gpg", "gnupg", "pgp", "openpgp"}},
	{What: "database credentials", bases: []string{".pgpass", ".my.cnf"}, Topics: []string{"postgres", "postgresql", "mysql", "mariadb"}},
	{What: "package registry credentials", bases: []string{".pypirc"}, Topics: []string{"pypi", "pip", "twine"}},
	{What: "package registry credentials", bases: []string{".npmrc"}, Topics: []string{"npm", "node", "yarn", "pnpm"}, Routine: true},
	{What: "network credentials", bases: []string{".netrc", "_netrc"}, Topics: []string{"netrc", "ftp"}, Routine: true},
	{What: "Vault or Terraform credentials", bases: []string{".vault-token", "credentials.tfrc.json"}, Topics: []string{"vault", "terraform"}},
	{What: "another client's configuration", bases: []string{".claude.json", "claude_desktop_config.json"}, below: []string{"/.cursor/mcp.json"},
		Topics: clientTopics},
	{What: "the password database", below: []string{"/etc/shadow", "/etc/gshadow"}},
	{What: "a key ring", below: []string{"/.local/share/keyrings/", "/.password-store/", "/.config/Bitwarden/", "/.config/1Password/", "/.config/KeePass/", "/.config/keepassxc/"},
		Topics: []string{"keyring", "keyrings", "password", "passwords", "bitwarden", "1password", "keepass"}},
	{What: "a browser's secrets", bases: []string{"Login Data", "Cookies", "logins.json", "key4.db", "cookies.sqlite"},
		around: []string{"/.mozilla", "/.mozilla/firefox", "/.config/google-chrome", "/.config/google-chrome/Default", "/.config/chromium", "/.config/chromium/Default",
			"/.config/BraveSoftware", "/.config/BraveSoftware/Brave-Browser", "/.config/microsoft-edge", "/.config/vivaldi", "/.config/opera", "/.librewolf"},
		Topics: []string{"browser", "chrome", "chromium", "firefox", "cookie", "cookies"}},
	{What: "a wallet", bases: []string{"wallet.dat"}, below: []string{"/.bitcoin/", "/.ethereum/keystore/", "/.config/solana/", "/.electrum/", "/.litecoin/", "/.dogecoin/", "/.monero/",
		"/.config/Exodus/", "/.config/atomic/", "/.config/Ledger Live/"}, around: []string{"/.ethereum"},
		Topics: []string{"wallet", "wallets", "bitcoin", "ethereum", "solana", "crypto"}},
	{What: "a messenger's session", below: []string{"/.local/share/TelegramDesktop/", "/.config/discord/Local Storage/", "/.config/Slack/Cookies", "/.config/Signal/"},
		around: []string{"/.config/discord", "/.config/Slack"}, Topics: []string{"telegram", "discord", "slack", "signal", "messenger", "messengers"}},
	{What: "a shell's history", bases: []string{".bash_history", ".zsh_history"}, Topics: []string{"history", "shell"}},
	{What: "a history of what was typed", bases: []string{".python_history", ".node_repl_history", ".psql_history", ".mysql_history", ".sqlite_history", ".rediscli_history", ".mongosh_repl_history", ".irb_history",
		".lesshst", ".viminfo", "fish_history", "recently-used.xbel"}, Topics: []string{"history", "recent", "recently", "python", "node", "postgres", "psql", "mysql", "sqlite", "redis", "vim", "fish"}},
}

var (
	otherProcess = Secret{
		What: "another process's secrets", bases: []string{"environ", "mem"},
		// "process" alone is too common: tools process data.
		Topics: []string{"pid", "pids", "procfs", "debugger", "process environment", "processes environment", "running processes"},
	}
	// processFiles are the files with secrets of another process: maps locates them in its memory. A
	// program may read its own.
	processFiles = append([]string{"maps"}, otherProcess.bases...)

	environmentFile = Secret{
		What: "an environment file", bases: []string{".env"}, Topics: []string{"env", "dotenv", "environment"},
	}
)

// Locate returns the kind of secret at a path, if that is certain enough for a finding; Kept needs less.
func Locate(name string) (Secret, bool) {
	if Packaged(name) && (sample(name) || strings.HasPrefix(path.Base(name), ".env")) {
		return Secret{}, false
	}
	base := path.Base(name)
	if base == environmentFile.bases[0] || strings.HasPrefix(base, ".env.") && !hasEnd(base, templates) {
		return environmentFile, true
	}
	if strings.HasPrefix(name, "/proc/") {
		other := !strings.HasPrefix(name, "/proc/self/") && !strings.HasPrefix(name, "/proc/thread-self/")
		return otherProcess, other && slices.Contains(processFiles, base)
	}
	for _, p := range secrets {
		if slices.Contains(p.bases, base) || hasPart(name, p.below) && !public(name) {
			return p, true
		}
	}
	return Secret{}, false
}

// Sought returns the kind of secret that an access to a path is meant for: a file, the files below a directory, or
// some of those in one. It leaves out the environment files and settings of every project.
func Sought(name string) (Secret, bool) {
	for _, p := range [...]string{name, name + "/"} {
		if at, ok := Locate(p); ok {
			return at, !at.Routine && at.What != environmentFile.What
		}
	}
	for _, p := range secrets {
		if hasEnd(name, p.around) {
			return p, true
		}
	}
	return Secret{}, false
}

// public reports whether a file among secrets is not one: public keys, files that
// SSH libraries read before every connection, and those that GnuPG uses when git
// asks it for any key.
func public(name string) bool {
	base := path.Base(name)
	return strings.HasSuffix(base, ".pub") || base == "known_hosts" ||
		strings.Contains(name, "/.ssh/") && base == "config" ||
		strings.Contains(name, "/.gnupg/") && keyless(base) ||
		strings.Contains(name, "/serviceaccount/") && base != "token"
}

// keyless reports whether a file of GnuPG holds no secret key by its name: public key rings, trust,
// settings and locks (gpg(1), FILES).
func keyless(base string) bool {
	return strings.HasPrefix(base, "pubring.") || strings.HasPrefix(base, ".#lk") || strings.HasSuffix(base, ".lock") ||
		base == "trustdb.gpg" || base == "gpg.conf" || base == "common.conf"
}

// Packaged reports whether a path lies in a tree of packages. Most apparent secrets there belong to the tests or
// templates of a package, and settings came with it.
func Packaged(name string) bool {
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

// templates are the endings of environment files without secrets.
var templates = []string{".example", ".sample", ".template", ".dist", ".defaults"}

// hasPart reports whether a path contains one of some parts.
func hasPart(name string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
}

// hasEnd reports whether a path has one of some suffixes.
func hasEnd(name string, ends []string) bool {
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(name, end) })
}

// Names and parts of paths that may be secrets, also among libraries. These lists may be generous, because
// a match is only kept in the profile. Kept adds the bases and directories of secrets.
var (
	keptFiles = []string{"authorized_keys", "known_hosts", ".gitconfig", ".bashrc", ".profile", ".zshrc", "shadow", "gshadow",
		"credentials", "docker.sock", "containerd.sock"}
	keptParts = []string{"/.docker/", "/ssl/private/", "/pki/tls/private/", "/serviceaccount/", "/run/secrets/", "/.env."}
)

// keptNames and keptPaths hold the names of files, and the parts of paths, that Kept knows.
var keptNames, keptPaths = func() (names map[string]bool, parts []string) {
	names, parts = map[string]bool{}, slices.Clone(keptParts)
	for _, s := range append(slices.Clone(secrets), otherProcess, environmentFile, Secret{bases: keptFiles}) {
		for _, base := range s.bases {
			names[base] = true
		}
		parts = append(parts, s.below...)
	}
	return names, parts
}()

// Kept reports whether a path is usual for secrets: accesses to it stay in the profile, and are never
// noise. Case matters only for names with capitals: "Cookies" is a browser's file, "cookies" a package.
func Kept(name string) bool {
	lower := strings.ToLower(name)
	return keptNames[path.Base(lower)] || keptNames[path.Base(name)] || hasPart(lower, keptPaths)
}
