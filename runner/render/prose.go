package render

import "strings"

// prose returns Markdown (CommonMark, and GitHub's and GitLab's extensions) that shows a
// text as it is. Plain words stay as they are; everything else goes into code spans, in
// which there are no links, images, HTML, mentions, references to issues and commits, or
// autolinks. A backslash would not do: later filters ignore it.
func prose(text string) string {
	var out, held []string
	flush := func() {
		if text := strings.Join(held, " "); text != "" {
			if bare := strings.TrimRight(text, ".,;:!?"); bare != "" {
				out = append(out, code(bare)+text[len(bare):])
			} else {
				out = append(out, code(text))
			}
		}
		held = nil
	}
	for _, word := range strings.Fields(Escape(text)) {
		if plainWord(word) {
			flush()
			out = append(out, word)
		} else {
			held = append(held, word)
		}
	}
	flush()
	return strings.Join(out, " ")
}

// plainWord reports whether a word has only letters, with the punctuation of a sentence
// around them, or is a small number.
func plainWord(word string) bool {
	if len(word) < 5 && strings.Trim(word, "0123456789") == "" {
		return word != "" // a number; one that a full stop follows could begin a list
	}
	word = strings.TrimRight(strings.TrimLeft(word, `("'`), `)"'.,;:!?`)
	letter := false
	for i, r := range word {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z':
			letter = true
		case (r == '-' || r == '\'') && i > 0 && i < len(word)-1:
		default:
			return false
		}
	}
	return letter
}

// code returns a text as a code span that the text cannot end (CommonMark 0.31, 6.1). "|"
// becomes \x7c, which would end the cell of a table, and "<" becomes \x3c, for readers of
// Markdown that ignore code spans.
func code(text string) string {
	text = strings.NewReplacer("|", `\x7c`, "<", `\x3c`).Replace(Escape(text))
	if strings.TrimSpace(text) == "" {
		return ""
	}
	longest, run := 0, 0
	for _, r := range text {
		if r == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	fence := strings.Repeat("`", longest+1)
	if longest > 0 || strings.HasPrefix(text, " ") && strings.HasSuffix(text, " ") {
		return fence + " " + text + " " + fence
	}
	return fence + text + fence
}
