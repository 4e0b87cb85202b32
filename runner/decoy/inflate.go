package decoy

import (
	"bytes"
	"compress/flate"
	"io"
	"sync"
)

// The compressions: one method (RFC 1951) in different formats.
const (
	gzipped  = "gzip"    // RFC 1952
	zlibbed  = "zlib"    // RFC 1950; what HTTP calls "deflate"
	deflated = "deflate" // RFC 1951, as it is
)

// compressed undoes gzip and zlib wherever their headers are.
func (h *searcher) compressed(data []byte, l decoding) {
	places, most := 0, maxPlaces+len(data)/placeBytes
	for at := 0; at < len(data) && places < most; places++ {
		gzip := next(data, at, "\x1f\x8b\x08")
		if gzip < 0 {
			break
		}
		if start := gzipHeader(data[gzip:]); start > 0 {
			h.inflate(data, gzip+start, gzipped, l)
		}
		at = gzip + 1
	}
	for at := 0; places < most; places++ {
		zlib := nextZlib(data, at)
		if zlib < 0 {
			return
		}
		h.inflate(data, zlib+2, zlibbed, l)
		at = zlib + 1
	}
	h.missed++
}

func next(data []byte, at int, what string) int {
	i := bytes.Index(data[at:], []byte(what))
	if i < 0 {
		return -1
	}
	return at + i
}

// nextZlib returns the place of the next header for windows of 32 KiB without a
// dictionary, at one of the four levels (RFC 1950, 2.2).
func nextZlib(data []byte, at int) int {
	for {
		if at = next(data, at, "\x78"); at < 0 || at+1 >= len(data) {
			return -1
		}
		switch data[at+1] {
		case 0x01, 0x5e, 0x9c, 0xda:
			return at
		}
		at++
	}
}

// gzipHeader returns the length of a member's header, 0 if it is none or not whole
// (RFC 1952, 2.3).
func gzipHeader(data []byte) int {
	const fixed, check, extra, name, comment = 10, 1 << 1, 1 << 2, 1 << 3, 1 << 4
	if len(data) < fixed {
		return 0
	}
	flags, at := data[3], fixed
	if flags&extra != 0 {
		if len(data) < at+2 {
			return 0
		}
		at += 2 + int(data[at]) + int(data[at+1])<<8
	}
	for _, flag := range []byte{name, comment} {
		if flags&flag == 0 {
			continue
		}
		if at >= len(data) {
			return 0
		}
		end := bytes.IndexByte(data[at:], 0)
		if end < 0 {
			return 0
		}
		at += end + 1
	}
	if flags&check != 0 {
		at += 2
	}
	if at >= len(data) {
		return 0
	}
	return at
}

// inflate decompresses the data from a place on, and searches the result, up to the
// point where the data end too early or are invalid.
func (h *searcher) inflate(data []byte, at int, encoding string, l decoding) {
	if at >= len(data) {
		return
	}
	limit := min(h.inflatableAtOnce, h.inflatable)
	if limit <= 0 {
		h.missed++
		return
	}
	from := bytes.NewReader(data[at:])
	out, whole := expand(from, limit)
	h.inflatable -= len(out)
	h.decodable += 12 * len(out)
	if !whole {
		h.missed++
	}
	h.decoded(out, l.inner(encoding, at, len(data)-from.Len()))
}

// inflaters are large, and a search needs many in turn.
var inflaters = sync.Pool{New: func() any { return flate.NewReader(nil) }}

// expand inflates at most limit bytes, up to an error.
func expand(from io.Reader, limit int) (out []byte, whole bool) {
	inflater := inflaters.Get()
	defer inflaters.Put(inflater)
	reader, ok := inflater.(interface {
		io.Reader
		flate.Resetter
	})
	if !ok || reader.Reset(from, nil) != nil {
		return nil, false
	}
	out, err := io.ReadAll(io.LimitReader(reader, int64(limit)))
	return out, err != nil || len(out) < limit
}
