package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

type file struct {
	name    string
	content []byte
}

// repack rewrites a packed chart with one time for all files, sorted by name: helm uses the
// current time.
func repack(from, to string, made time.Time) error {
	files, err := unpack(from)
	if err != nil {
		return err
	}
	// Chart.yaml first, as in helm: stream readers expect it.
	slices.SortFunc(files, func(a, b file) int {
		if first := strings.HasSuffix(a.name, "/Chart.yaml"); first != strings.HasSuffix(b.name, "/Chart.yaml") {
			if first {
				return -1
			}
			return 1
		}
		return strings.Compare(a.name, b.name)
	})
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	return errors.Join(pack(out, files, made), out.Close())
}

func unpack(chart string) ([]file, error) {
	in, err := os.Open(chart)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	stream, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	var files []file
	for entries := tar.NewReader(stream); ; {
		h, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(entries)
		if err != nil {
			return nil, err
		}
		files = append(files, file{h.Name, content})
	}
}

func pack(w io.Writer, files []file, made time.Time) error {
	zip := gzip.NewWriter(w)
	out := tar.NewWriter(zip)
	for _, f := range files {
		h := tar.Header{Format: tar.FormatPAX, Typeflag: tar.TypeReg, Name: f.name, Mode: 0o644, Size: int64(len(f.content)), ModTime: made}
		if err := out.WriteHeader(&h); err != nil {
			return err
		}
		if _, err := out.Write(f.content); err != nil {
			return err
		}
	}
	return errors.Join(out.Close(), zip.Close())
}
