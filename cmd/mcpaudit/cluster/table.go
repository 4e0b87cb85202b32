package cluster

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/mcpaudit/mcpaudit/runner/render"
)

// gap separates columns.
const gap = "   "

// cell is a table cell: paint, if set, colours the padded text. Texts are escaped.
type cell struct {
	text  string
	paint func(padded string) string
}

func plain(texts ...string) []cell {
	var cells []cell
	for _, text := range texts {
		cells = append(cells, cell{text: text})
	}
	return cells
}

// table writes aligned rows without trailing blanks.
func table(w io.Writer, prefix string, rows [][]cell) error {
	var widths []int
	for _, row := range rows {
		for i := range row {
			row[i].text = render.Escape(row[i].text)
			if row[i].text == "" {
				row[i].text = "-"
			}
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i].text))
		}
	}
	var text strings.Builder
	for _, row := range rows {
		text.WriteString(prefix)
		for i, c := range row {
			padded := c.text
			if i < len(row)-1 {
				padded += strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c.text)) + gap
			}
			if c.paint != nil {
				padded = c.paint(padded)
			}
			text.WriteString(padded)
		}
		text.WriteByte('\n')
	}
	_, err := io.WriteString(w, text.String())
	return err
}
