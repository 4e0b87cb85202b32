package places

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// Obeyed is a kind of file that other programs run or obey on their own.
type Obeyed struct {
	// What describes it in a clause: "a shell runs it at every start".
	What string
	// bases are names of files, below (with slashes) parts of paths, installed extensions of
	// files among packages: any of them matches.
	bases, below, installed []string
	// Topics are the words by which a declaration mentions such files. A topic of several words
	// needs all of them.
	Topics []string
	// Project: it belongs to a project like its sources, so many tools write one on request.
	Project bool
	// Owner is the program that keeps it, and may write it; "" for none.
	Owner string
	// OnPath: it is found along PATH, so package managers put programs there.
	OnPath bool
}

var (
	// UnitTopics are those of systemd units.
	UnitTopics  = []string{"systemd", "systemctl", "daemon", "daemons"}
	agentTopics = []string{"claude", "cursor ide", "cursor editor", "cursor rules", "cursor config", "cursor settings", "cursor agent",
		"vscode", "windsurf", "gemini", "codex", "copilot", "zed", "cline", "kiro"}
	editorTopics  = []string{"vscode", "editor", "editors", "ide", "vim", "neovim", "emacs", "jetbrains", "sublime"}
	projectTopics = []string{"project", "projects", "scaffold", "scaffolds", "template", "boilerplate", "build", "workflow", "workflows", "ci", "pipeline"}
)

// obeyed lists files that stay in effect after the server has ended, the most specific first.
var obeyed = []Obeyed{
	{What: "a shell runs it at every start",
		bases: []string{".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile",
			".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login", ".xprofile", ".xinitrc", ".xsessionrc", ".pam_environment", ".envrc",
			".xsession", ".inputrc", ".aliases", ".mkshrc"},
		below: []string{"/.config/fish/", "/.config/environment.d/", "/etc/profile", "/etc/bash.bashrc", "/etc/zsh/", "/etc/environment", "/.oh-my-zsh/custom/", "/.bashrc.d/", "/.profile.d/", "/.cargo/env", "/.config/bash_completion",
			"/.config/zsh/", "/.config/bash/", "/.zsh/", "/.bash_completion", "/.local/share/bash-completion/completions/", "/.zfunc/", "/.vscode-server/", "/.cursor-server/", "/.windsurf-server/"},
		Topics: []string{"bash", "bashrc", "zsh", "fish", "shell", "dotfile", "dotfiles", "direnv"}},
	{What: "cron runs it", bases: []string{"crontab"}, below: []string{"/etc/cron", "/var/spool/cron/", "/var/spool/at/"},
		Topics: []string{"cron", "crontab", "scheduler"}},
	{What: "the desktop runs it at login", below: []string{"/.config/autostart/", "/etc/xdg/autostart/", "/.config/autostart-scripts/", "/.config/plasma-workspace/env/",
		"/Library/LaunchAgents/", "/Library/LaunchDaemons/", "/Start Menu/Programs/Startup/"}, Topics: []string{"autostart"}},
	{What: "it says who may log in by SSH", bases: []string{"authorized_keys", "authorized_keys2"}, below: []string{"/.ssh/rc", "/.ssh/environment"},
		Topics: SSHTopics},
	{What: "SSH obeys it at every connection", below: []string{"/.ssh/config", "/etc/ssh/"}, Topics: SSHTopics},
	{What: "systemd runs it", below: []string{"/systemd/user/", "/systemd/system/", "/systemd/user.control/", "/user-tmpfiles.d/", "/etc/init.d/", "/etc/rc.local", "/etc/rc.d/"}, Topics: UnitTopics},
	// git itself writes only samples there: the topic "git" is not enough.
	{What: "git runs it", below: []string{"/.git/hooks/", "/.githooks/", "/.husky/", "/.config/git/hooks/", "/.git-templates/", "/.git_template/", "/.git-hooks/", "/.git_hooks/", "/git/hooks/"},
		bases: []string{".pre-commit-config.yaml", "lefthook.yml"}, Topics: []string{"hook", "hooks", "husky", "lfs", "pre commit"}},
	{What: "git obeys it, and runs the programs that it names", bases: []string{".gitconfig", ".gitmodules", ".gitattributes"}, below: []string{"/.git/config", "/.config/git/", "/etc/gitconfig", "/.git/info/attributes"},
		Topics: []string{"git", "github", "gitlab", "repository", "repositories"}},
	{What: "every program loads what it names", below: []string{"/etc/ld.so.preload", "/etc/ld.so.conf"}},
	{What: "every Python runs it", bases: []string{"sitecustomize.py", "usercustomize.py", ".pythonrc", ".pythonrc.py"}, below: []string{"/.ipython/profile_default/startup/"},
		installed: []string{".pth"}, Topics: []string{"python", "pip", "ipython", "jupyter"}},
	{What: "package managers take packages from where it says", bases: []string{".npmrc", ".yarnrc", ".yarnrc.yml", "pip.conf", ".condarc", ".bunfig.toml", "bunfig.toml", ".gemrc"},
		below:  []string{"/.config/pip/", "/.pip/", "/.config/uv/", "/.cargo/config", "/.m2/settings.xml", "/.gradle/init", "/.config/pypoetry/", "/etc/apt/sources.list"},
		Topics: []string{"npm", "node", "yarn", "pnpm", "pip", "pypi", "package", "packages", "cargo", "maven", "gradle", "uv", "registry", "bun", "conda"}},
	{What: "a program of that name is run in place of another", below: []string{"/.local/bin/", "/usr/local/bin/", "/usr/local/sbin/", "/.cargo/bin/", "/go/bin/", "/.npm-global/bin/", "/.bun/bin/", "/.asdf/shims/",
		"/.local/share/pnpm/", "/.volta/bin/", "/.deno/bin/", "/.pyenv/shims/", "/.rbenv/shims/", "/.nodenv/shims/", "/.goenv/shims/", "/.jenv/shims/", "/.nvm/versions/", "/.rye/shims/", "/.pixi/bin/",
		"/.krew/bin/", "/.dotnet/tools/", "/.nimble/bin/", "/.ghcup/bin/", "/.pub-cache/bin/", "/.composer/vendor/bin/", "/mise/shims/", "/.proto/shims/", "/.rvm/bin/", "/miniconda3/bin/", "/anaconda3/bin/"},
		OnPath: true, Topics: []string{"install", "installs", "installer", "installation", "binary", "binaries", "executable", "executables"}},
	{What: "every Node.js finds packages there that a program has not of its own", below: []string{"/.node_modules/", "/.node_libraries/"}, Topics: []string{"npm", "node"}},
	{What: "a program runs it for each file that is shown, or each mail that comes", bases: []string{".lessfilter", ".lesspipe", ".forward", ".procmailrc", ".qmail"},
		Topics: []string{"less", "pager", "mail", "email", "procmail"}},
	{What: "an agent starts what it names",
		bases: []string{".claude.json", "claude_desktop_config.json", ".mcp.json", "cline_mcp_settings.json", "mcp_settings.json", "mcp_config.json", "opencode.json", ".aider.conf.yml"},
		below: []string{"/.claude/settings", "/.claude/commands/", "/.claude/agents/", "/.claude/hooks/", "/.claude/skills/", "/.claude/plugins/", "/.cursor/mcp.json", "/.vscode/mcp.json",
			"/.codeium/windsurf/mcp_config.json", "/.gemini/settings.json", "/.codex/config.toml", "/Claude/claude_desktop_config.json", "/Code/User/mcp.json", "/.roo/mcp.json",
			"/.kiro/settings/", "/.config/zed/settings.json", "/.aws/amazonq/mcp.json", "/.lmstudio/mcp.json", "/.continue/", "/.config/goose/", "/.config/opencode/", "/.copilot/mcp-config.json"},
		Topics: agentTopics},
	{What: "an agent obeys it as instructions",
		bases: []string{"CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENT.md", "GEMINI.md", "QWEN.md", "WARP.md", "CONVENTIONS.md", ".cursorrules", ".windsurfrules", ".clinerules", ".roorules", ".goosehints",
			".aider.conf.yml", "copilot-instructions.md", ".rules"},
		below: []string{"/.cursor/rules/", "/.github/instructions/", "/.github/prompts/", "/.windsurf/rules/", "/.clinerules/", "/.roo/rules", "/.kiro/steering/", "/.claude/CLAUDE", "/.codex/AGENTS", "/.codex/memories/", "/.claude/memory/", "/.claude/projects/", "/.codeium/windsurf/memories/", "/.gemini/memory", "/.cursor/memories/", "/.continue/rules/",
			"/.github/copilot-instructions", "/.junie/", "/.amazonq/rules/", "/.augment/rules/", "/.trae/rules/"},
		Topics: append([]string{"agents", "rules file", "instructions file"}, agentTopics...)},
	{What: "an editor runs or obeys it", bases: []string{".vimrc", ".gvimrc", ".exrc", ".nvimrc", ".emacs", ".editorconfig", ".tmux.conf", ".screenrc", ".gdbinit", ".lldbinit", ".Xmodmap", ".sqliterc", ".psqlrc", ".irbrc", ".curlrc", ".wgetrc"},
		below: []string{"/.vscode/tasks.json", "/.vscode/settings.json", "/.vscode/launch.json", "/.vscode/extensions/", "/Code/User/settings.json", "/Code/User/tasks.json", "/Code/User/keybindings.json", "/Cursor/User/settings.json", "/Windsurf/User/settings.json", "/VSCodium/User/settings.json",
			"/.idea/", "/.fleet/", "/.run/", "/.theia/", "/.helix/", "/.config/nvim/", "/nvim/site/", "/.vim/", "/.emacs.d/", "/.config/emacs/", "/.config/sublime-text/", "/.devcontainer/", "/.config/tmux/"},
		Topics: append([]string{"tmux", "curl", "wget", "gdb"}, editorTopics...)},
	{What: "a program obeys it at its start, and runs what it names",
		bases: []string{".selected_editor", ".dircolors", ".Xresources", ".Xdefaults", ".erlang", ".iex.exs", ".rspec", ".bazelrc", ".Rprofile", ".Renviron", ".octaverc", ".hgrc", ".ansible.cfg", ".terraformrc", ".wezterm.lua", ".direnvrc", ".perldb", ".mailcap", ".muttrc", ".guile", ".pdbrc", ".pryrc", ".rdebugrc", ".sbclrc", ".ghci", ".xonshrc", ".taskrc"},
		below: []string{"/.vnc/xstartup", "/.lftp/rc", "/.w3m/config", "/.julia/config/", "/.jupyter/", "/.config/go/env", "/.nuget/NuGet/", "/.sbt/", "/.gnupg/gpg.conf", "/.gnupg/gpg-agent.conf", "/.docker/cli-plugins/", "/.config/direnv/", "/.config/powershell/", "/.config/pnpm/rc",
			"/.config/containers/", "/.config/kitty/", "/.config/alacritty/", "/.config/ghostty/", "/.config/hypr/", "/.config/sway/", "/.config/i3/", "/.config/nushell/", "/.config/xonsh/", "/.config/gh/config",
			"/.config/mise/", "/.config/starship.toml", "/.config/zellij/", "/.config/helix/", "/.config/mpv/", "/.config/micro/", "/.config/kak/", "/.config/ranger/", "/.config/lf/", "/.config/yazi/",
			"/.config/qutebrowser/", "/.config/awesome/", "/.config/bspwm/", "/.config/polybar/", "/.config/waybar/", "/.config/rofi/", "/.config/openbox/", "/.config/xfce4/helpers.rc", "/.config/ipython/", "/.config/R/", "/.config/lazygit/", "/.config/tmuxinator/", "/.kube/config", "/.aws/config", "/.mutt/"},
		Topics: []string{"bazel", "rstudio", "octave", "mercurial", "ansible", "terraform", "wezterm", "direnv", "julia", "jupyter", "notebook", "notebooks", "golang", "nuget", "sbt", "scala", "gpg", "gnupg", "docker", "powershell",
			"pnpm", "podman", "container", "containers", "terminal", "kubernetes", "kubectl", "kubeconfig", "aws", "mutt", "lisp", "haskell", "mpv"}},
	{What: "the desktop obeys it", bases: []string{"user-dirs.dirs", "user-dirs.conf", "kdeglobals", "kwinrc", "kglobalshortcutsrc", "khotkeysrc", "kded5rc", "plasmarc"},
		below: []string{"/.config/dconf/", "/.config/menus/", "/.config/xdg-desktop-portal/", "/.config/gtk-"}, Topics: []string{"gnome", "kde", "plasma", "gtk", "dconf", "xdg", "user dirs"}},
	{What: "the desktop or a browser starts what it names", bases: []string{"mimeapps.list", "mimeinfo.cache", "defaults.list"},
		below: []string{"/.local/share/nemo/", "/.local/share/kio/", "/.local/share/plasma/", "/.local/share/cinnamon/", "/.local/share/file-manager/", "/.local/share/contractor/", "/.local/share/mime/",
			"/.local/share/applications/", "/native-messaging-hosts/", "/NativeMessagingHosts/", "/.local/share/dbus-1/services/", "/.local/share/nautilus/scripts/", "/.local/share/kservices5/"},
		Topics: []string{"desktop", "browser", "browsers", "shortcut", "shortcuts", "launcher"}},
	{What: "the host's build or its automation runs it", below: []string{"/.github/workflows/", "/.gitlab-ci.yml", "/.circleci/", "/.gitea/workflows/"}, bases: []string{"Jenkinsfile", "azure-pipelines.yml", ".travis.yml"},
		Topics: append([]string{"actions", "github", "gitlab", "jenkins"}, projectTopics...)},
	{What: "whoever builds or tests the project runs it", Project: true,
		bases: []string{"Makefile", "makefile", "GNUmakefile", "package.json", "setup.py", "setup.cfg", "pyproject.toml", "conftest.py", "Justfile", "justfile", "Taskfile.yml", "Rakefile", "Gemfile", "build.gradle",
			"build.rs", "CMakeLists.txt", "Dockerfile", "docker-compose.yml", "compose.yaml", "noxfile.py", "tox.ini", "gulpfile.js", "Gruntfile.js", "Vagrantfile",
			"tsconfig.json", "requirements.txt", "Pipfile", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", ".pnpmfile.cjs", "Cargo.toml", "go.mod", "pom.xml", "build.sbt", "composer.json",
			"deno.json", "flake.nix", "shell.nix", "mise.toml", ".tool-versions", "Procfile", "BUILD.bazel", "WORKSPACE", "main.tf", "Tiltfile", "Earthfile", "Brewfile", ".swcrc", ".babelrc", "meson.build", "configure.ac", "Containerfile", "ansible.cfg",
			"Snakefile", "fabfile.py", "dodo.py", ".pylintrc", "mypy.ini", "pytest.ini", "MODULE.bazel", "build.zig", "Package.swift", "Podfile", "mix.exs", "Directory.Build.props", "Directory.Build.targets", "NuGet.Config", "nuget.config",
			"gradlew", "gradle.properties", "settings.gradle", "build.gradle.kts", "settings.gradle.kts", "gradle-wrapper.properties", "mvnw", "uv.toml", "nodemon.json", ".clangd", ".ycm_extra_conf.py", ".node-version", ".python-version", ".ruby-version", "turbo.json", "nx.json", "lerna.json", "pnpm-workspace.yaml", ".lintstagedrc"},
		Topics: append([]string{"make", "npm", "node", "python", "package", "docker", "dependency", "dependencies", "init"}, projectTopics...)},
}

// homePrograms matches the directories of a home that shells put on PATH (~/.profile of Debian).
var homePrograms = lazyregexp.New(`^(?:/root|/home/[^/]+)/\.?bin/`)

// atHome matches what lies in a home itself: the configuration of a user's programs, and of no project.
var atHome = lazyregexp.New(homes + `/[^/]+$`)

// configures matches configuration files of JavaScript tools, which are programs (postcss.config.js, .mocharc.cjs) or name
// plugins (.eslintrc.json). Any other .NAMErc may be the server's own settings.
var configures = lazyregexp.New(`^(?:(?:[\w-]+\.config|\.[\w-]+rc)\.[cm]?[jt]s|\.(?:eslint|prettier|babel|stylelint|mocha|nyc|swc|lintstaged|commitlint|release-it|graphql|postcss|remark)rc(?:\.(?:json5?|ya?ml|toml))?)$`)

// ObeyedBelow returns the kind of such files that a directory may contain, as ~/.config/systemd does in user. It
// knows only hidden directories and /etc, because others may be called "go" or "var" by chance.
func ObeyedBelow(dir string) (Obeyed, bool) {
	dir = strings.TrimSuffix(dir, "/") + "/"
	if strings.Contains(dir, "/node_modules/") || !strings.Contains(dir, "/.") && !strings.HasPrefix(dir, "/etc/") {
		return Obeyed{}, false
	}
	for _, o := range obeyed {
		if slices.ContainsFunc(o.below, func(part string) bool { return !o.OnPath && leads(dir, part) }) {
			return o, true
		}
	}
	return Obeyed{}, false
}

// leads reports whether a directory's name ends with the first directories of a part of paths.
func leads(dir, part string) bool {
	for i := 1; i < len(part)-1; i++ {
		if part[i] == '/' && strings.HasSuffix(dir, part[:i+1]) {
			return true
		}
	}
	return false
}

// ObeyedAt returns the kind of such a file that a path names.
func ObeyedAt(name string) (Obeyed, bool) {
	base := path.Base(name)
	if strings.HasSuffix(base, ".sample") || strings.Contains(name, "/node_modules/") {
		return Obeyed{}, false
	}
	for _, o := range obeyed {
		if o.OnPath && homePrograms.MatchString(name) || slices.Contains(o.bases, base) || o.Project && configures.MatchString(base) && !atHome.MatchString(name) || hasPart(name, o.below) ||
			Packaged(name) && slices.Contains(o.installed, path.Ext(base)) {
			return o, true
		}
	}
	if o, ok := conventional(name, base); ok {
		return o, true
	}
	if program := configuredProgram(name); program != "" {
		return Obeyed{What: "a program obeys it at its start, and runs what it names", Owner: program, Topics: []string{program, "config", "configuration", "configures"}}, true
	}
	return ofAnother(name)
}
