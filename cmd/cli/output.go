package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/render"
)

// Write writes a text that a server influenced. On a terminal control sequences are escaped; a
// program gets every byte.
func Write(w io.Writer, text []byte) error {
	if IsTerminal(w) {
		text = EscapeLines(text)
	}
	_, err := w.Write(text)
	return err
}

// Replace writes a whole file or leaves it unchanged. It follows no links: in a hostile
// checkout one may point to any of the user's files. It refuses /dev/stdout, which root would
// otherwise replace.
func Replace(name string, content []byte) error {
	if whole, err := filepath.Abs(name); err == nil && (strings.HasPrefix(whole, "/proc/") || strings.HasPrefix(whole, "/dev/") && !strings.HasPrefix(whole, "/dev/shm/")) {
		return fmt.Errorf("%s is not a regular file; name a file to replace", name)
	}
	fresh, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = fresh.Write(content)
	if err = errors.Join(err, fresh.Chmod(0o644), fresh.Close()); err == nil {
		err = os.Rename(fresh.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(fresh.Name()))
	}
	return nil
}

// WriteReport writes a report in a format.
func WriteReport(w io.Writer, format render.Format, r report.Report) error {
	var text bytes.Buffer
	if err := format.Write(&text, r); err != nil {
		return err
	}
	return Write(w, text.Bytes())
}

// exitDiffers is the exit code of the diff commands for reports that differ.
const exitDiffers = 3

// WriteDifference writes a difference as a table or as JSON. It returns an error unless both
// reports are known to be equal.
func WriteDifference(w io.Writer, d render.Difference, output string) error {
	var text bytes.Buffer
	var err error
	if output == "json" {
		if err = render.DifferenceJSON(&text, d); err == nil {
			err = Write(w, text.Bytes())
		}
	} else {
		err = render.DifferenceTable(w, d, Colours(w))
	}
	if err != nil {
		return err
	}
	switch same, known := d.Same(); {
	case !same:
		return Exit(exitDiffers, nil)
	case !known:
		return errors.New("one of the audits did not observe everything; no difference in what both observed")
	}
	return nil
}
