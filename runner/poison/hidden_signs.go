package poison

import (
	"strconv"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// Signs that stand for letters.
var (
	morseRun   = lazyregexp.New(`(?:[.·•\-−–—_]{1,7}(?:\s*[/|]\s*|\s+)){12,}[.·•\-−–—_]{1,7}`)
	brailleRun = lazyregexp.New(`[\x{2800}-\x{28ff}](?:\s?[\x{2800}-\x{28ff}]){11,}`)
	ordinalRun = lazyregexp.New(`(?:[12]?\d[-. ,/|]{1,3}){15,}[12]?\d`)
)

var (
	strokes = strings.NewReplacer("·", ".", "•", ".", "−", "-", "–", "-", "—", "-", "_", "-", "/", " / ", "|", " / ")
	morse   = letterOf(".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.. "+
		"----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----. .-.-.- --..-- ..--.. -....- -..-. ---... ..--.- .--.-. -.--. -.--.- .----. / ...-.-",
		"abcdefghijklmnopqrstuvwxyz0123456789.,?-/:_@()'  ")
	braille = letterOf("⠁ ⠃ ⠉ ⠙ ⠑ ⠋ ⠛ ⠓ ⠊ ⠚ ⠅ ⠇ ⠍ ⠝ ⠕ ⠏ ⠟ ⠗ ⠎ ⠞ ⠥ ⠧ ⠺ ⠭ ⠽ ⠵ ⠀ ⠲ ⠂ ⠌ ⠤ ⠄", "abcdefghijklmnopqrstuvwxyz .,/-'")
)

// letterOf maps signs to letters.
func letterOf(signs, letters string) map[string]byte {
	of := map[string]byte{}
	for i, sign := range strings.Fields(signs) {
		of[sign] = letters[i]
	}
	return of
}

func fromMorse(run string) string { return spell(strings.Fields(strokes.Replace(run)), morse) }

func fromBraille(run string) string { return spell(strings.Split(run, ""), braille) }

// spell decodes signs; one in ten may be unknown. Whitespace is a blank.
func spell(signs []string, letters map[string]byte) string {
	var b strings.Builder
	unknown := 0
	for _, sign := range signs {
		switch letter, ok := letters[sign]; {
		case ok:
			b.WriteByte(letter)
		case strings.TrimSpace(sign) == "":
			b.WriteByte(' ')
		default:
			unknown++
		}
	}
	if unknown*10 > len(signs) {
		return ""
	}
	return b.String()
}

// fromOrdinals decodes positions in the alphabet. A slash or a bar separates words, and a
// blank if hyphens or dots join the letters.
func fromOrdinals(run string) string {
	var b strings.Builder
	joined := strings.ContainsAny(run, "-.")
	for len(run) > 0 {
		digits := len(run) - len(strings.TrimLeft(run, "0123456789"))
		n, err := strconv.Atoi(run[:digits])
		if err != nil || n < 1 || n > 26 {
			return ""
		}
		b.WriteByte(byte('a' + n - 1))
		rest := strings.TrimLeft(run[digits:], "-. ,/|")
		gap := run[digits : len(run)-len(rest)]
		if strings.ContainsAny(gap, "/|") || joined && strings.TrimSpace(gap) == "" && gap != "" {
			b.WriteByte(' ')
		}
		run = rest
	}
	return b.String()
}
