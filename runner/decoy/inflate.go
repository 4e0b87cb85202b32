package decoy

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"io"
	"sync"
)

// The compressions: one method (RFC 1951) in different formats.
const (
	archived = "zip"     // a file of an archive, as office documents are
	gzipped  = "gzip"    // RFC 1952
	zlibbed  = "zlib"    // RFC 1950; what HTTP calls "deflate"
	deflated = "deflate" // RFC 1951, as it is
)

// compressed undoes gzip, zlib and zip wherever a header is.
func (h *searcher) compressed(data []byte, l decoding) {
	places, most := 0, maxPlaces+len(data)/placeBytes
	for _, format := range []struct {
		encoding, begins string
		header           func([]byte) int
	}{{gzipped, "\x1f\x8b\x08", gzipHeader}, {archived, "PK\x03\x04", zipHeader}} {
		for at := 0; at < len(data) && places < most; places++ {
			found := next(data, at, format.begins)
			if found < 0 {
				break
			}
			if start := format.header(data[found:]); start > 0 {
				h.inflate(data, found+start, format.encoding, l)
			}
			at = found + 1
		}
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

// zipHeader returns the length of the header of a compressed file, 0 if it is none or not whole (APPNOTE 4.3.7).
func zipHeader(data []byte) int {
	const fixed, method, lengths = 30, 8, 26
	if len(data) < fixed || data[method] != 8 {
		return 0
	}
	size := fixed + int(binary.LittleEndian.Uint16(data[lengths:])) + int(binary.LittleEndian.Uint16(data[lengths+2:]))
	if size >= len(data) {
		return 0
	}
	return size
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
	out, whole := h.expand(from, limit)
	h.inflatable -= len(out)
	h.decodable += 12 * len(out)
	if !whole {
		h.missed++
	}
	h.decoded(out, l.inner(encoding, at, len(data)-from.Len()))
}

// inflaters are large, and a search needs many in turn.
var inflaters = sync.Pool{New: func() any { return flate.NewReader(nil) }}

// expand inflates up to an error, at most limit bytes, and then what is plain: a picture of one colour is compressed
// to a thousandth.
func (h *searcher) expand(from io.Reader, limit int) (out []byte, whole bool) {
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
	return out, err != nil || len(out) < limit || h.onlyPlain(reader)
}

// onlyPlain reads to the end of inflated data, and reports whether no piece of them can hold a secret.
func (h *searcher) onlyPlain(from io.Reader) bool {
	var piece [4 << 10]byte
	for h.plain >= len(piece) {
		n, err := io.ReadFull(from, piece[:])
		h.plain -= n
		if !plain(piece[:n]) {
			return false
		}
		if err != nil {
			return true
		}
	}
	return false
}

// plain reports whether data have fewer distinct bytes than a secret in any known encoding.
func plain(data []byte) bool {
	const fewest = 8
	var seen [256]bool
	different := 0
	for _, b := range data {
		if seen[b] {
			continue
		}
		seen[b] = true
		if different++; different == fewest {
			return false
		}
	}
	return true
}
