package attack

import (
	"encoding/binary"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// The parts of an OP_MSG (MongoDB Wire Protocol), and the bound on the depth of a filter.
const (
	mongoHeader = 16
	mongoMsg    = 2013
	maxFilter   = 16
)

// compared are operators whose values are not filters.
var compared = []string{"$eq", "$in", "$nin", "$literal", "$expr"}

// Operators returns, as JSON, the operators with a mark in the filters that a client of MongoDB sent, and not those in
// stored documents or literals.
func Operators(sent []byte) (all []Asked) {
	for len(sent) > mongoHeader+5 {
		size := int(binary.LittleEndian.Uint32(sent))
		if binary.LittleEndian.Uint32(sent[12:]) != mongoMsg || size <= mongoHeader+5 || size > len(sent) {
			sent = sent[1:]
			continue
		}
		for _, command := range documents(sent[mongoHeader+4 : size]) {
			all = append(all, filters(command)...)
		}
		sent = sent[size:]
	}
	return all
}

// documents returns the documents in the sections of a message.
func documents(sections []byte) (all []bson.Raw) {
	for len(sections) > 5 {
		at, end := 1, 1+int(binary.LittleEndian.Uint32(sections[1:]))
		if end <= at || end > len(sections) {
			return all
		}
		if sections[0] == 1 { // a sequence of them, behind its length and name
			name := slices.Index(sections[5:end], 0)
			if name < 0 {
				return all
			}
			at = 5 + name + 1
		}
		for at+4 < end {
			size := int(binary.LittleEndian.Uint32(sections[at:]))
			if size < 5 || at+size > end || bson.Raw(sections[at:at+size]).Validate() != nil {
				return all
			}
			all = append(all, bson.Raw(sections[at:at+size]))
			at += size
		}
		sections = sections[end:]
	}
	return all
}

// filters returns the operators in the filters of a command, an update or a deletion.
func filters(command bson.Raw) (all []Asked) {
	for _, name := range []string{"filter", "query", "q"} {
		if filter, is := command.Lookup(name).DocumentOK(); is {
			all = append(all, operators(filter, 0)...)
		}
	}
	for _, name := range []string{"updates", "deletes", "pipeline"} {
		list, _ := command.Lookup(name).ArrayOK()
		values, _ := bson.Raw(list).Values() // none of no list
		for _, value := range values {
			each, is := value.DocumentOK()
			if !is {
				continue
			}
			for _, key := range []string{"q", "$match"} {
				if filter, is := each.Lookup(key).DocumentOK(); is {
					all = append(all, operators(filter, 0)...)
				}
			}
		}
	}
	return all
}

// operators returns the operators with a mark in a filter.
func operators(filter bson.Raw, depth int) (all []Asked) {
	elements, err := filter.Elements()
	if err != nil || depth > maxFilter {
		return nil
	}
	for _, e := range elements {
		key, value := e.Key(), e.Value()
		if text, is := value.StringValueOK(); is && strings.HasPrefix(key, "$") {
			for _, mark := range inputs.Marks([]byte(text)) {
				if mark == text && !slices.Contains(compared, key) {
					all = append(all, Asked{Text: `{"` + key + `":"` + mark + `"}`})
				}
			}
		}
		if slices.Contains(compared, key) {
			continue
		}
		if inner, is := value.DocumentOK(); is {
			all = append(all, operators(inner, depth+1)...)
		} else if list, is := value.ArrayOK(); is {
			all = append(all, operators(bson.Raw(list), depth+1)...)
		}
	}
	return all
}
