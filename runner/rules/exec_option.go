package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// obeying are programs with options that write or read files, or run programs.
var obeying = strings.Fields(`7z adb ansible aws awk az bq chrome chromium convert curl docker ffmpeg ffprobe find gcc gcloud gem gh git go gpg gs
	gsutil hg helm java kubectl magick make man mysql nmap node npm npx openssl pandoc pip pip3 pnpm pg_dump podman psql
	python python3 rclone restic rg rsync ruby s3cmd scp sed sftp sort sqlite3 ssh svn tar tcpdump terraform tshark unzip
	uv uvx vault vim wget xargs xdg-open yarn yt-dlp zip`)

// optional are names of arguments for options.
var optional = []string{"args", "arguments", "argv", "flags", "flag", "options", "option", "extra", "params", "parameters"}

func findOptions(in Input) (all []draft) {
	for _, a := range in.Attack.Attempts {
		if a.Family != attack.Option || inputs.Commands(a.Field) || in.shells(a.Of) || speaksOf(a.Field, optional) {
			continue
		}
		for _, e := range in.Attack.Profile.Effects {
			if e.Kind != profile.KindExec || e.Capability != a.Of || !obeys(e, a) {
				continue
			}
			all = append(all, draft{
				severity: report.SeverityMedium, phase: report.PhaseCall, capability: a.Of, behind: e.AlternativeCause, object: e.Path,
				message: sentence("%s gave its argument %s to %s where that takes options, as %s", capital(name(a.Of)), quoted(a.Field),
					clean(path.Base(e.Path), 64), program(e)),
				evidence: e.Evidence(),
			})
			break
		}
	}
	return all
}

// obeys reports whether a program took the value of an attempt for an option: it has harmful options
// and looks for them there, or it complained that it has no such option.
func obeys(e profile.Effect, a attack.Attempt) bool {
	words, given := e.Argv.Words(), strings.Fields(a.Value)
	if len(given) == 0 {
		return false
	}
	option := given[len(given)-1]
	at := slices.Index(words, option)
	option, _, _ = strings.Cut(option, "=") // which is how programs name it
	return at > 0 && (slices.Contains(obeying, path.Base(words[0])) && mayObey(words, at) ||
		complainsOf(a.Answer, option) && isOwn(words, at))
}

// speaksOf reports whether the name of a field has one of some words.
func speaksOf(field string, words []string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(field), func(r rune) bool { return r < 'a' || r > 'z' }),
		func(word string) bool { return slices.Contains(words, word) })
}
