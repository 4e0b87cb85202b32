package report

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A frame is a report in a container's log, between other lines:
//
//	-----BEGIN MCPAUDIT REPORT-----
//	base64 of the gzip of the JSON, 4096 characters a line
//	-----END MCPAUDIT REPORT-----
//
// Lines stay far below the 16 KiB at which the container runtime splits them, and the frame
// far below the 10 MiB at which the kubelet rotates a log. Lines of stderr may get between
// those of a frame: ReadFrame skips lines that are not base64. The digest in the Summary
// proves that the frame is whole.
const (
	FrameBegin = "-----BEGIN MCPAUDIT REPORT-----"
	FrameEnd   = "-----END MCPAUDIT REPORT-----"

	frameWidth = 4096

	base64Letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
)

// The errors of ReadFrame.
var (
	// ErrRotated: the log begins within a frame.
	ErrRotated = errors.New("the log of the runner was rotated before it was read")
	// ErrNoFrame: the log has no beginning of a frame.
	ErrNoFrame = errors.New("no report in the log")
	// ErrBadFrame: the frame is cut short, larger than MaxBytes, or not base64 of gzip.
	ErrBadFrame = errors.New("damaged report in the log")
)

// WriteFrame writes an encoded report as one frame.
func WriteFrame(w io.Writer, encoded []byte) error {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := zip.Write(encoded); err != nil {
		return fmt.Errorf("compress report: %w", err)
	}
	if err := zip.Close(); err != nil {
		return fmt.Errorf("compress report: %w", err)
	}
	lines := []string{FrameBegin}
	for line := range slices.Chunk([]byte(base64.StdEncoding.EncodeToString(packed.Bytes())), frameWidth) {
		lines = append(lines, string(line))
	}
	if _, err := io.WriteString(w, strings.Join(append(lines, FrameEnd, ""), "\n")); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// ReadFrame returns the encoded report in the last frame of a log. A frame that decompresses
// to more than MaxBytes is ErrBadFrame.
func ReadFrame(log io.Reader) ([]byte, error) {
	var text strings.Builder
	began, ended, orphaned := false, false, false
	lines := bufio.NewScanner(log)
	lines.Buffer(make([]byte, 0, 64<<10), 1<<20)
	for lines.Scan() {
		switch line := strings.TrimRight(lines.Text(), "\r"); {
		case line == FrameBegin:
			began, ended = true, false
			text.Reset()
		case line == FrameEnd && !began:
			orphaned = true
		case line == FrameEnd:
			ended = true
		case began && !ended && strings.Trim(line, base64Letters) == "":
			if text.Len()+len(line) > 2*MaxBytes {
				return nil, fmt.Errorf("%w: larger than %d bytes", ErrBadFrame, 2*MaxBytes)
			}
			text.WriteString(line)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read log: %w", err)
	}
	if orphaned && !began {
		return nil, ErrRotated
	}
	if !began {
		return nil, ErrNoFrame
	}
	if !ended {
		return nil, fmt.Errorf("%w: it has no end", ErrBadFrame)
	}
	return unpack(text.String())
}

func unpack(text string) ([]byte, error) {
	packed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadFrame, err)
	}
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadFrame, err)
	}
	encoded, err := io.ReadAll(io.LimitReader(zip, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadFrame, err)
	}
	if len(encoded) > MaxBytes {
		return nil, fmt.Errorf("%w: larger than %d bytes", ErrBadFrame, MaxBytes)
	}
	return encoded, nil
}
