package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// usage is the command-line syntax of a program. An option that is not listed may take the
// next word as its value.
type usage struct {
	// alone are letters of options without a value, switches the long ones.
	alone    string
	switches []string
	// takes are options with the next word as value; last are options that end the
	// program's own words.
	takes, last []string
	// own is how many words that are no options belong to the program before those of a
	// script or command; 0 if all do.
	own int
}

// usages are by names of programs; see usageOf for subcommands.
var usages = map[string]usage{
	"bash": {own: 1, takes: []string{"-o", "-O"}, last: []string{"-c"}},
	"bun":  {own: 1, takes: []string{"-r", "--preload"}},
	"curl": {alone: "#012346aBfgGiIjJklLMnNOpqRsSvVZ", switches: strings.Fields(
		"--compressed --fail --fail-with-body --get --globoff --head --include --insecure --location --no-progress-meter --show-error --silent --verbose")},
	"deno": {own: 2},
	"git": {alone: "aipqvwz", switches: strings.Fields(`--abbrev-commit --abbrev-ref --all --bare --branches --cached --date-order --decorate --dry-run --first-parent --follow
		--force --full-index --graph --hard --heads --ignore-case --left-right --merges --mixed --name-only --name-status --no-abbrev
		--no-color --no-decorate --no-edit --no-ext-diff --no-ff --no-merges --no-pager --no-patch --no-prefix --no-renames --no-tags
		--no-textconv --no-verify --numstat --oneline --patch --porcelain --prune --quiet --raw --reverse --shortstat --show-current
		--soft --staged --stat --summary --tags --topo-order --verbose --verify --word-diff`)},
	"grep":    {alone: "abcEFGhHiIlLnoPqrRsTUvVwxzZ"},
	"java":    {own: 1, takes: []string{"-cp", "-classpath", "--class-path", "-p", "--module-path", "--add-modules"}, last: []string{"-jar", "-m", "--module"}},
	"node":    {own: 1, takes: strings.Fields("-C -e -p -pe -r --conditions --env-file --eval --experimental-loader --import --loader --print --require")},
	"npx":     {own: 1, alone: "yq", switches: []string{"--yes", "--no-install"}, takes: []string{"-p", "--package"}, last: []string{"-c", "--call"}},
	"perl":    {own: 1, takes: []string{"-e", "-E"}},
	"php":     {own: 1, takes: []string{"-c", "-d", "-r"}, last: []string{"-f"}},
	"psql":    {alone: "01aAbeEHlnqsStwWxXz"},
	"python":  {own: 1, alone: "bBdEiIOPqsSuvx", takes: []string{"-W", "-X"}, last: []string{"-c", "-m"}},
	"rg":      {alone: "0acFHiIlLnNoPpsSuUvwxz"},
	"rsync":   {alone: "acDghHikKlLnopPqrRStuUvWxzX"},
	"ruby":    {own: 1, takes: []string{"-e", "-r", "-I", "-C"}},
	"scp":     {alone: "346ABCOpqrRTv"},
	"sed":     {alone: "nErsuz"},
	"sftp":    {alone: "46AaCfNpqrv"},
	"sort":    {alone: "bcCdfghiMmnRrsuVz"},
	"ssh":     {own: 2, alone: "46AaCfGgKkMNnqsTtVvXxYy", takes: strings.Fields("-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -P -p -Q -R -S -W -w")},
	"tar":     {alone: "acdhjJkmopPrStuUvxzZ"},
	"ts-node": {own: 1},
	"tsx":     {own: 1},
	"uvx":     {own: 1, takes: []string{"-p", "--python", "--from", "--with"}},
	"wget":    {alone: "46bcdEFHkKLNpqrSvx"},
	"xargs":   {own: 1, alone: "0prtx", takes: strings.Fields("-a -d -E -I -L -n -P -s")},
}

// runIn are options of docker run and exec with the next word as value.
var runIn = strings.Fields("-e -p -u -v -w --entrypoint --env --mount --name --network --platform --user --volume --workdir")

// modules are Python modules with options like a program's.
var modules = strings.Fields("black build coverage flake8 isort mypy pip pylint pytest ruff twine unittest venv")

// usageOf returns the syntax of a command line.
func usageOf(words []string) usage {
	name := path.Base(words[0])
	switch behind := words[1:]; {
	case len(behind) == 0:
	case name == "docker" || name == "podman":
		switch behind[0] {
		case "exec":
			return usage{own: 3, alone: "dit", takes: runIn}
		case "run":
			return usage{own: 2, alone: "dit", switches: []string{"--rm", "--init", "--read-only"}, takes: runIn}
		}
	case name == "uv" && behind[0] == "run":
		return usage{own: 2, takes: []string{"-p", "--python", "--with", "--directory", "--project"}, last: []string{"-m"}}
	}
	switch base := strings.TrimRight(name, "0123456789."); base {
	case "sh", "dash", "zsh", "ksh", "ash":
		return usages["bash"]
	case "nodejs":
		return usages["node"]
	case "pythonw", "pypy":
		return usages["python"]
	default:
		return usages[base]
	}
}

// mayObey reports whether a program may read the word at an index as an option: options are allowed
// there, and it is not the value of one.
func mayObey(words []string, at int) bool {
	before := words[at-1]
	return isOwn(words, at) && (at == 1 || !valued.MatchString(before) || usageOf(words).isSwitch(before))
}

// isOwn reports whether a program looks for options at an index: no word before ends the options, and the
// word is neither another program's nor known to be a value.
func isOwn(words []string, at int) bool {
	u, own := usageOf(words), 0
	for i := 1; i < at; i++ {
		switch word := words[i]; {
		case word == "-m" && i+1 < at && slices.Contains(u.last, word) && slices.Contains(modules, words[i+1]):
			return isOwn(words[i+1:], at-i-1)
		case word == "--", word == "--end-of-options", slices.Contains(u.last, word):
			return false
		case slices.Contains(u.takes, word):
			if i++; i == at {
				return false
			}
		case u.own > 0 && !strings.HasPrefix(word, "-"):
			if own++; own == u.own {
				return false
			}
		}
	}
	return true
}

// isSwitch reports whether an option takes no value.
func (u usage) isSwitch(word string) bool {
	if strings.HasPrefix(word, "--") {
		return slices.Contains(u.switches, word)
	}
	return u.alone != "" && strings.Trim(word[1:], u.alone) == "" // of letters in one word, the last may take a value
}

// valued are options that may take the next word for their value.
var valued = lazyregexp.New(`^--?[A-Za-z][\w-]*$`)

// unknownOption matches complaints about unknown options. "invalid argument" does not count: it is
// said of values.
var unknownOption = lazyregexp.New(`(?i)(?:\b(?:unrecogni[sz]ed|unknown|invalid|illegal|unsupported|bad) (?:option|switch|flag|predicate)s?|` +
	`\b(?:unrecogni[sz]ed|unknown|unexpected) arguments?|\bno such (?:option|switch|flag)|\bflag provided but not defined)\b[^\w\n]{0,8}$`)

// complainsOf reports whether a text calls a word an unknown option, with its dashes or without.
func complainsOf(text, word string) bool {
	word = strings.TrimLeft(word, "-")
	for {
		at := strings.Index(text, word)
		if at < 0 {
			return false
		}
		before, behind := text[max(0, at-64):at], text[at+len(word):]
		if unknownOption.MatchString(before) && strings.TrimLeft(behind, "0123456789") == behind {
			return true
		}
		text = behind
	}
}
