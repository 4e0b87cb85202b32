package places

import (
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/words"
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
	{Obeyed: Obeyed{What: "the desktop starts what it names", Topics: []string{"desktop", "browser", "browsers", "shortcut", "shortcuts", "launcher"}},
		within: lazyregexp.New(`/\.(?:local/share|config|local/lib|kde|gnome\d?)/(?:[^/]+/)*[^/]+\.(?:desktop|thumbnailer|nemo_action|search-provider)$`)},
	{Obeyed: Obeyed{What: "git obeys it, and runs the programs that it names", Topics: []string{"git", "github", "gitlab", "repository", "repositories"}},
		base: lazyregexp.New(`^\.gitconfig[.-]`)},
	{Obeyed: Obeyed{What: "an agent obeys it as instructions", Topics: append([]string{"agents", "rules file", "instructions", "skill", "skills", "prompt", "prompts"}, agentTopics...)},
		base:   lazyregexp.New(`\.(?:instructions|prompt|chatmode|agent)\.md$|^SKILL\.md$`),
		within: lazyregexp.New(agents + `|github)/(?:commands?|prompts?|rules|agents?|skills|hooks|workflows|steering|instructions|output-styles|chatmodes|modes|plugins)(?:-[\w-]+)?/[^/]+\.(?:md|mdc|toml|json|sh|py|js|ts)$`)},
	{Obeyed: Obeyed{What: "the host's build or its automation runs it", Project: true, Topics: append([]string{"actions", "github", "gitlab", "jenkins"}, projectTopics...)},
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

// others are conventions by which a file in a home belongs to the program that a part of its path names.
var others = []struct {
	form *lazyregexp.Regexp // its group is the program
	what string
}{
	{lazyregexp.New(homes + `/\.(?:config/|local/share/)?([\w.-]+)/(?:[^/]+/)*[^/]+\.(?:sh|bash|zsh|fish|py|[cm]?js|lua|rb|pl|el|vim|so|jar)$`), "a program runs it as a part of its own"},
	{lazyregexp.New(homes + `/\.(?:config/|local/share/)?([\w.-]+)/(?:[^/]+/)?[\w-]*(?:argv?|args|flags|settings|config|conf|prefs|preferences|launch|tasks|keybindings|plugins?|extensions?|hooks?|policies|launchers?)[\w-]*\.(?:jsonc?|json5|toml|ya?ml|conf|ini|cfg|xml)$`), "a program obeys it at its start, and runs what it names"},
	{lazyregexp.New(homes + `/\.([\w-]+?)_?rc(?:\.\w+)?$`), "a program obeys it at its start, and runs what it names"},
	{lazyregexp.New(homes + `/\.([\w-]+)\.(?:sh|bash|zsh|fish)$`), "a shell runs it at every start"},
	{lazyregexp.New(homes + `/\.config/([\w-]+)-flags\.conf$`), "a program obeys it at its start, and runs what it names"},
	{lazyregexp.New(homes + `/\.config/([\w .-]+)/User/(?:profiles/[^/]+/)?(?:mcp|settings|tasks|keybindings|launch)\.json$`), "an editor or an agent runs or obeys it"},
	{lazyregexp.New(homes + `/\.local/share/(jupyter)/kernels/`), "a program runs it as a part of its own"},
}

// homes matches the homes of users.
const homes = `^(?:/root|/home/[^/]+)`

// extensible are programs that have such files. Another name may be that of the server's own directory.
var extensible = words.SetOf(strings.Fields(`aider alacritty anki ansible antigen arduino asdf atom atuin awesome bat bpython bspwm btop calibre cargo chezmoi chrome chromium
	claude cline codeium codex coc conky continue copilot cursor devcontainer direnv doom dunst elvish emacs eww fastfetch fish fluxbox foot fzf gdb gemini ghci ghostty gimp git
	goose gtkrc helix herbstluftwm htop hypr i3 inkscape inputrc ipython irb irssi jj joe jshell julia jupyter k9s kak kiro kitty latexmk lazygit less lf lftp libreoffice lldb
	logseq lua mc mise mocp mozilla mplayer mpv mutt nano navi ncmpcpp neofetch neomutt newsboat nnn node_repl nu nushell nvim nvm obsidian octave ollama omf oh-my-bash
	oh-my-fish oh-my-zsh openbox opencode p10k picom polybar powershell pry psql pulse pwsh python qtile qutebrowser r radare2 ranger rbenv rofi roo ruby rvm screen
	sdkman sqlite ssh starship stumpwm subl sublime-text sway swaync swaylock taskwarrior tcsh telescope tig tmux tmux-powerline topgrade trae urxvt vagrant vifm vim vis vscode vscode-insiders
	vscodium code codium code-insiders warp waybar weechat wezterm windsurf wofi wtf xmonad xonsh yazi zathura zed zellij zim zinit zplug zprezto zsh zoxide brave microsoft-edge-stable google-chrome electron firefox thunderbird`)...)

// ofAnother returns the kind of a file of a program's own in a home. The program may be the server: see Owner. Secrets, such
// as ~/.netrc, configure nothing.
func ofAnother(name string) (Obeyed, bool) {
	if _, secret := Locate(name); secret {
		return Obeyed{}, false
	}
	for _, o := range others {
		if of := o.form.FindStringSubmatch(name); of != nil && extensible[strings.ToLower(of[1])] {
			program := strings.ToLower(of[1])
			return Obeyed{What: o.what, Owner: program, Topics: []string{strings.NewReplacer("-", " ", "_", " ", ".", " ").Replace(program), "config", "configuration", "configures", "plugin", "plugins", "script", "scripts"}}, true
		}
	}
	return Obeyed{}, false
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
