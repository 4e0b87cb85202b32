package attack

import (
	"encoding/base64"
	"path"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// archiveForms are archives in Base64 with a file whose name leads outside.
var archiveForms = func() (all []form) {
	for _, a := range inputs.Archives {
		all = append(all, enclosed(a.Form, "", a))
	}
	for _, a := range inputs.Archives[:besides] {
		all = append(all, unpacked(a, true), unpacked(a, false))
	}
	return append(all, enclosed("as a URL of data (ZIP)", "data:application/zip;base64,", inputs.Archives[0]))
}()

// maxEnclosed bounds archiveForms.
const maxEnclosed = 24

// besides is the number of archives, one of each format, that also lead to a sibling of the directory where they are
// unpacked.
const besides = 3

// unpacked returns an archive with a file beside the directory where it is unpacked: in the Sibling, or else the
// Neighbour.
func unpacked(a inputs.Archive, sibling bool) form {
	name, to := a.Form+", to a directory beside it", inputs.Neighbour
	if sibling {
		name, to = a.Form+", to a sibling with the same beginning", inputs.Sibling
	}
	return form{name: name, archive: true, near: true, sibling: sibling, neighbour: !sibling, write: func(f field, _ inputs.Mark, number int) string {
		return f.before + base64.StdEncoding.EncodeToString(a.Beside(to(f.dir), number)) + f.behind
	}}
}

func enclosed(name, before string, a inputs.Archive) form {
	return form{name: name, archive: true, write: func(f field, _ inputs.Mark, number int) string {
		return f.before + before + base64.StdEncoding.EncodeToString(a.Pack(number, nil)) + f.behind
	}}
}

var (
	// ofArchive matches names and descriptions of archives.
	ofArchive = lazyregexp.New(`(?i)\b(?:zip(?:ped)?|archives?|tar(?:ball|gz)?|tgz|bundles?|compressed|package)\b`)
	// packedText matches descriptions of encoded bytes; packedBytes matches the beginning of a ZIP or gzip file in Base64.
	packedText  = lazyregexp.New(`(?i)base-?64|\bencoded\b`)
	packedBytes = lazyregexp.New(`^(?:UEsD|H4sI)`)
	// packedFile matches the name of an archive.
	packedFile = lazyregexp.New(`(?i)\.(?:zip|tar|tgz|gz)$`)
)

// encloses reports whether a field takes the bytes of an archive.
func (f field) encloses() bool {
	return f.text && f.variable == "" && (packedBytes.MatchString(f.core()) || packedText.MatchString(f.said) && f.speaksOf(ofArchive))
}

// archiveSteps returns the attempts of family Path with archives: at the first field for the text of one, and
// at the first for the name of its file.
func archiveSteps(fields []field, seen Seen) (all []step) {
	for _, f := range fields {
		if f.next || !f.encloses() {
			continue
		}
		for _, form := range archiveForms {
			if f.dir != "" || !form.near {
				all = append(all, step{family: Path, form: form, field: f})
			}
		}
		break
	}
	for _, f := range fields {
		if f.text && f.leads(seen) && packedFile.MatchString(f.core()) {
			for i, a := range inputs.Archives {
				all = append(all, step{family: Path, form: lying(i, a), field: f, number: inputs.ArchiveNumber(i)})
			}
			break
		}
	}
	return append(all, downloadSteps(fields)...)
}

// downloadSteps returns the attempts with names of files that a server downloads, at the first field for a URL, and those with
// archives. The sinkhole has them on every host.
func downloadSteps(fields []field) (all []step) {
	for _, f := range fields {
		found := webURL.FindStringSubmatch(f.core())
		if found == nil || f.next || f.variable != "" {
			continue
		}
		all = append(all,
			step{family: Path, form: calledForm("as the encoded name of a file that is downloaded", found[1]+found[2], inputs.EncodedPath), field: f},
			step{family: Path, form: calledForm("as the name that a download has in its header", found[1]+found[2], inputs.CalledPath), field: f})
		if !packedFile.MatchString(f.core()) && !f.speaksOf(ofArchive) {
			break
		}
		for i, a := range inputs.Archives {
			all = append(all, step{family: Path, form: downloaded(found[1]+found[2], i, a), field: f, number: inputs.ArchiveNumber(i)})
		}
		break
	}
	return all
}

// calledForm is a URL on a host whose path gives a download a name that leads outside.
func calledForm(name, host string, path func(number int) string) form {
	return form{name: name, archive: true, write: func(f field, _ inputs.Mark, number int) string { return f.before + host + path(number) + f.behind }}
}

func downloaded(host string, i int, a inputs.Archive) form {
	return form{name: a.Form + " that is downloaded", archive: true, write: func(f field, _ inputs.Mark, _ int) string {
		return f.before + host + "/" + inputs.ArchiveName(i) + f.behind
	}}
}

// lying is an archive in the directory of the value, or outside where that is not known.
func lying(i int, a inputs.Archive) form {
	return form{name: a.Form, archive: true, write: func(f field, _ inputs.Mark, _ int) string {
		name := inputs.ArchiveName(i)
		switch {
		case f.dir == "":
			name = path.Join(inputs.OutsideDir, name)
		case path.IsAbs(f.core()):
			name = path.Join(f.dir, name)
		}
		return f.before + name + f.behind
	}}
}
