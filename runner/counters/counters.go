// Package counters finds what a server counts in its files, such as its launches, and says what the files would hold
// after long use. An audit launches a server a dozen times; a server that waits for the fiftieth would never act.
//
// The audit feeds one Launch from the trace of each launch. Only files whose whole content the trace shows count.
package counters

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

const (
	maxFiles = 64       // of one launch; others are ignored
	maxBytes = 8 << 10  // of one file
	maxAged  = 24 << 10 // of all that Aged returns
	// longUse is added to what grows, and how often what is appended is repeated, as far as maxBytes allows.
	longUse = 5000
	// maxCount is the largest number that counts something. Larger ones are times.
	maxCount = 1_000_000
)

// File is a file after long use.
type File struct {
	Path string `json:"path"`
	// Was is the content that it has to have, Is the one that it gets.
	Was []byte `json:"was"`
	Is  []byte `json:"is"`
}

// Launch has what a server wrote in one launch. The zero value is empty.
type Launch struct{ files map[string]*written }

// written is what one file got.
type written struct {
	// whole: it was emptied first, so that now is all of it. Otherwise now is what was appended.
	whole bool
	// first is the first content that was replaced; nil if none was.
	first, now []byte
	// unknown: the trace does not show the content.
	unknown bool
}

// Event takes in one event of the launch's trace.
func (l *Launch) Event(e trace.Event) {
	switch {
	case e.Failed():
	case e.Op == trace.OpWrite && slices.Contains(e.Flags, "O_TRUNC"):
		l.replace(e.Path, &written{whole: true})
	case e.Op == trace.OpStore:
		if f := l.at(e.Path); f != nil {
			f.store(e)
		}
	case e.Op == trace.OpRename:
		if f := l.files[e.Path]; f != nil {
			delete(l.files, e.Path)
			l.replace(e.Target, f)
		}
	case e.Op == trace.OpSeek || e.Op == trace.OpMap || e.Op == trace.OpDelete:
		if f := l.files[e.Path]; f != nil {
			f.unknown = true
		}
	}
}

// at returns the entry of a file; nil if there is no room for another.
func (l *Launch) at(name string) *written {
	if f := l.files[name]; f != nil || len(l.files) == maxFiles {
		return f
	}
	if l.files == nil {
		l.files = map[string]*written{}
	}
	l.files[name] = &written{}
	return l.files[name]
}

// replace puts another content in place of a file's.
func (l *Launch) replace(name string, with *written) {
	f := l.at(name)
	if f == nil {
		return
	}
	before := f.first
	if before == nil && f.whole && !f.unknown && len(f.now) > 0 {
		before = f.now
	}
	if with.first == nil {
		with.first = before
	}
	*f = *with
}

func (f *written) store(e trace.Event) {
	if e.Cut || e.From != "" || strings.HasPrefix(e.Syscall, "pwrite") || len(f.now)+len(e.Data) > maxBytes {
		f.unknown = true
		return
	}
	f.now = append(f.now, e.Data...)
}

// Aged returns the files of some launches, in order, that hold a count or grow, as they would be after long use.
func Aged(launches []*Launch) (all []File) {
	versions := map[string][][]byte{}
	for _, l := range launches {
		for name, f := range l.files {
			versions[name] = f.after(versions[name])
		}
	}
	left := maxAged
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		of := versions[name]
		if is := aged(of); is != nil && len(is) <= left/2 {
			all, left = append(all, File{name, of[len(of)-1], is}), left-2*len(is)
		}
	}
	return all
}

// after returns the versions of a file with those of one more launch; none if they are unknown.
func (f *written) after(before [][]byte) [][]byte {
	switch {
	case f.unknown:
		return nil
	case !f.whole && len(before) > 0:
		return append(before, slices.Concat(before[len(before)-1], f.now))
	case f.first != nil:
		before = append(before, f.first)
	}
	return append(before, f.now)
}

// aged returns the last version of a file after long use; nil if nothing in it grows.
func aged(versions [][]byte) []byte {
	if len(versions) < 2 {
		return nil
	}
	last, previous := versions[len(versions)-1], versions[len(versions)-2]
	for _, earlier := range [][]byte{versions[0], previous} {
		if is := counted(earlier, last); is != nil {
			return is
		}
	}
	return extended(previous, last)
}

// extended returns a file to whose list something was added, anywhere in it, with more of the same, from earlier days; nil
// if nothing was.
func extended(previous, last []byte) []byte {
	from := 0
	for from < min(len(previous), len(last)) && previous[from] == last[from] {
		from++
	}
	end := previous[from:]
	more, grew := bytes.CutSuffix(last[from:], end)
	if !grew || len(more) == 0 || len(previous) == 0 || len(last) >= maxBytes || len(end) > 0 && !bytes.ContainsAny(more, ",\n") {
		return nil
	}
	again := bytes.Repeat(more, min(longUse, (maxBytes-len(last))/len(more)))
	return daysApart(slices.Concat(last[:from+len(more)], again, end))
}

// dates matches the days of a text.
var dates = lazyregexp.New(`20\d\d-[01]\d-[0-3]\d`)

// daysApart returns a text in which each day that came before is replaced by an earlier one.
func daysApart(text []byte) []byte {
	times := map[string]int{}
	return []byte(dates.ReplaceAllStringFunc(string(text), func(is string) string {
		day, err := time.Parse(time.DateOnly, is)
		times[is]++
		if err != nil {
			return is
		}
		return day.AddDate(0, 0, 1-times[is]).Format(time.DateOnly)
	}))
}

// counts matches a number that is no part of a date, a version, an address or a word.
var counts = lazyregexp.New(`(^|[\s,\[({=]|":|^\w+:)(\d{1,7})($|[\s,\])};])`)

// counted returns a text with all its numbers that were smaller in an earlier one increased; nil if there is none, or
// if something else differs.
func counted(earlier, last []byte) []byte {
	before, now := counts.FindAllStringSubmatchIndex(string(earlier), -1), counts.FindAllStringSubmatchIndex(string(last), -1)
	if len(before) != len(now) {
		return nil
	}
	const from, to = 4, 5 // the indices of the second group
	var is []byte
	grown, start, startBefore := false, 0, 0
	for i, at := range now {
		if !bytes.Equal(last[start:at[from]], earlier[startBefore:before[i][from]]) {
			return nil
		}
		n, _ := strconv.Atoi(string(last[at[from]:at[to]]))
		was, _ := strconv.Atoi(string(earlier[before[i][from]:before[i][to]]))
		is = append(is, last[start:at[from]]...)
		if n > was && n < maxCount {
			n, grown = n+longUse, true
		}
		is = strconv.AppendInt(is, int64(n), 10)
		start, startBefore = at[to], before[i][to]
	}
	if !grown || !bytes.Equal(last[start:], earlier[startBefore:]) {
		return nil
	}
	return append(is, last[start:]...)
}
