package places

import (
	"path"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// convention is a kind of file that is known by how such files are named, and not by each name.
type convention struct {
	Obeyed
	// base matches the name of a file, and within a path from a hidden directory on; nil for none.
	base, within *lazyregexp.Regexp
}

// agents are the directories that agents read, below a project, the home and ~/.config.
const agents = `/\.(?:config/)?(?:claude|cursor|windsurf|gemini|codex|qwen|opencode|crush|factory|warp|amp|augment|trae|roo|kilocode|kiro|continue|junie|amazonq|goose|cline|zed|openhands|agents`

// conventions complete the table of names. A directory of an agent also has records of its work, so data only counts
// where its name says that it configures something.
var conventions = []convention{
	{Obeyed: Obeyed{What: "an agent starts what it names", Topics: agentTopics},
		base:   lazyregexp.New(`\.code-workspace$`),
		within: lazyregexp.New(agents + `|vscode)/(?:[\w-]+/)?[\w-]*(?:mcp|hooks|settings|servers|config|environment|tasks|extensions)[\w-]*\.(?:jsonc?|toml|ya?ml)$`)},
	{Obeyed: Obeyed{What: "an agent obeys it as instructions", Topics: append([]string{"agents", "rules file", "instructions", "skill", "skills", "prompt", "prompts"}, agentTopics...)},
		base:   lazyregexp.New(`\.(?:instructions|prompt|chatmode|agent)\.md$|^SKILL\.md$`),
		within: lazyregexp.New(agents + `|github)/(?:commands?|prompts?|rules|agents?|skills|hooks|workflows|steering|instructions|output-styles|chatmodes|modes|plugins)(?:-[\w-]+)?/[^/]+\.(?:md|mdc|toml|json|sh|py|js|ts)$`)},
	{Obeyed: Obeyed{What: "the host's build or its automation runs it", Topics: append([]string{"actions", "github", "gitlab", "jenkins"}, projectTopics...)},
		base:   lazyregexp.New(`^\.?(?:(?:gitlab|bitbucket|azure|concourse|travis)-(?:ci|pipelines?)|drone|woodpecker|cirrus|appveyor|codefresh|wercker|cloudbuild|buildspec|renovate|dependabot|netlify|vercel|skaffold|fly)\.(?:ya?ml|json5?|toml)$`),
		within: lazyregexp.New(`/\.(?:github/actions|buildkite|forgejo/workflows|woodpecker|semaphore|teamcity|tekton|circleci|gitlab)/`)},
	{Obeyed: Obeyed{What: "it decides which code is installed with the project", Project: true, Topics: append([]string{"npm", "node", "python", "package", "packages", "dependency", "dependencies", "lock", "lockfile"}, projectTopics...)},
		base: lazyregexp.New(`^(?i:yarn|bun|poetry|uv|cargo|gemfile|composer|pipfile|pdm|flake|pnpm|deno|mix|pubspec|podfile|pixi|conda|gradle|chart|rebar|symfony|devbox|mise|paket|packages?|cartfile|\.terraform|jsr)` +
			`[.-](?:lock|lockb|lockfile|resolved)(?:\.(?:json|ya?ml|hcl))?$|^go\.(?:sum|work)$|^(?:requirements|constraints)[\w.-]*\.(?:txt|in)$|^environment\.ya?ml$`)},
	{Obeyed: Obeyed{What: "whoever builds or tests the project runs it", Project: true, Topics: append([]string{"make", "npm", "node", "python", "package", "docker", "compose", "init"}, projectTopics...)},
		base: lazyregexp.New(`^(?:(?:Docker|Container)file\.[\w-]+|(?:docker-)?compose(?:\.[\w-]+)?\.ya?ml|\.(?:devcontainer\.json|gitpod\.yml|replit|mise\.toml|overcommit\.yml|pnp\.cjs|nvim\.lua|lvimrc|dir-locals\.el)|` +
			`\.?lefthook(?:-local)?\.(?:ya?ml|toml|json)|devbox\.json|karma\.conf\.js|babel\.config\.json)$`),
		within: lazyregexp.New(`/\.(?:mvn|hg|yarn/(?:releases|plugins|sdks))/`)},
}

// configuresServers matches the list of servers of a project; below ~/.config such a file may be any program's own.
var configuresServers = lazyregexp.New(`^(?:/[^/.][^/]*)+/\.?mcp(?:[._-](?:config|settings|servers))?\.json$`)

// conventional returns the kind of file that is run or obeyed, by such a convention; false for none.
func conventional(name, base string) (Obeyed, bool) {
	hidden := strings.Contains(name, "/.")
	for _, c := range conventions {
		if c.base != nil && c.base.MatchString(base) || hidden && c.within != nil && c.within.MatchString(name) {
			return c.Obeyed, true
		}
	}
	if strings.HasSuffix(base, ".json") && configuresServers.MatchString(name) {
		return conventions[0].Obeyed, true
	}
	return Obeyed{}, false
}

// stores are the directories in which tools of development keep code that they run without looking at it again, and
// what tells a virtual environment.
var stores = []convention{
	{Obeyed: Obeyed{What: "a program runs the code that it keeps there", OnPath: true, Topics: []string{"npm", "npx", "yarn", "pip", "uv", "pipx", "poetry", "cargo", "rust", "gradle", "maven", "java", "kotlin", "scala", "nuget", "dart", "php",
		"bazel", "browser", "browsers", "chromium", "playwright", "puppeteer", "install", "installs", "package", "packages", "go modules", "golang", "gopls"}}, within: lazyregexp.New(
		`/\.(?:npm/_npx|cargo/(?:registry|git)|rustup/toolchains|m2/repository|gradle/(?:caches|wrapper)|nuget/packages|bun/install|pyenv/versions|asdf/installs|sdkman/candidates|` +
			`pub-cache|composer/cache|ivy2|local/pipx|local/share/(?:uv|pipx|pnpm/store|mise/installs)|cache/(?:uv|pre-commit|yarn|deno|node/corepack|ms-playwright|puppeteer|pypoetry))/|/go/pkg/mod/`)},
	{Obeyed: Obeyed{What: "whoever uses the project's environment runs it", Project: true, OnPath: true, Topics: []string{"python", "pip", "venv", "virtualenv", "environment", "environments", "install", "installs", "package", "packages", "npm", "node"}},
		within: lazyregexp.New(`/(?:\.?venv|\.?virtualenvs?/[^/]+|envs/[^/]+)/(?:bin/[^/]+|pyvenv\.cfg)$|/node_modules/\.bin/`)},
	{Obeyed: Obeyed{What: "Python runs it in place of the module's text", Owner: "python", Topics: []string{"bytecode", "compile", "compiles", "pyc"}}, within: lazyregexp.New(`/__pycache__/[^/]+\.pyc$`)},
}

// CodeAt returns the kind of code that is kept at a path for another program; false for none. Unlike ObeyedAt it says
// nothing about directories, which have many thousands of such files.
func CodeAt(name string) (Obeyed, bool) {
	if path.Ext(name) == ".lock" {
		return Obeyed{}, false
	}
	for _, s := range stores {
		if s.within.MatchString(name) {
			return s.Obeyed, true
		}
	}
	return Obeyed{}, false
}
