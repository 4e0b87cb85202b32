package report

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// A rule has the struct tags of a field of the report:
//
//	cap:"256"          the most items of a list, or bytes of UTF-8 of a text
//	cap:"64x512"       the most texts of a list, and bytes of each of them
//	shrink:"effects"   the row of shrinks that lowers the cap of a list or text
//	counted:"message"  what is cut makes the report Truncated, under this name; the texts
//	                   of a list have a name of their own, if any: "errors,errors.text"
//	tally:"Dropped"    what is cut is added to this field of the nearest struct that has it
//	keep:"end"         a text that is cut keeps its end
//	keep:"whole"       left out if it does not fit whole
//	redact:"secrets"   it may quote the server, see Redact
//
// A list or text without a cap has words or digests of our own, or was capped before.
type rule struct {
	index      int
	most, each int
	shrink     string
	counted    string
	eachName   string
	tally      string
	keep       string
	redact     bool
	// always: the list is [] in JSON, not null or absent.
	always bool
}

// rulesOf returns the rules of the fields of a struct.
func rulesOf(of reflect.Type) []rule {
	if known, ok := ruleCache.Load(of); ok {
		return known.([]rule)
	}
	var all []rule
	for i := range of.NumField() {
		field := of.Field(i)
		tag := field.Tag
		r := rule{index: i, shrink: tag.Get("shrink"), tally: tag.Get("tally"), keep: tag.Get("keep"), redact: tag.Get("redact") != ""}
		r.counted, r.eachName, _ = strings.Cut(tag.Get("counted"), ",")
		r.always = field.Type.Kind() == reflect.Slice && !strings.Contains(tag.Get("json"), ",omit")
		if most, each, isList := strings.Cut(tag.Get("cap"), "x"); most != "" {
			r.most = number(most)
			if isList {
				r.each = number(each)
			}
		}
		all = append(all, r)
	}
	ruleCache.Store(of, all)
	return all
}

var ruleCache sync.Map

func number(tag string) int {
	n, err := strconv.Atoi(tag)
	if err != nil {
		panic(fmt.Sprintf("report: the cap %q of a field is no number", tag))
	}
	return n
}

var timeType = reflect.TypeFor[Time]()

// visit calls at for the fields of a struct and of all structs below it, outer fields first.
// tally is the field Dropped of the nearest struct that has it.
func visit(v reflect.Value, at func(r rule, field, tally reflect.Value)) {
	descend(v, reflect.Value{}, at)
}

func descend(v, tally reflect.Value, at func(r rule, field, tally reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			descend(v.Elem(), tally, at)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Struct {
			for i := range v.Len() {
				descend(v.Index(i), tally, at)
			}
		}
	case reflect.Struct:
		if v.Type() == timeType {
			return
		}
		if own := v.FieldByName("Dropped"); own.IsValid() {
			tally = own
		}
		for _, r := range rulesOf(v.Type()) {
			at(r, v.Field(r.index), tally)
			descend(v.Field(r.index), tally, at)
		}
	}
}

// Normalise makes a report encode the same after a round trip: it truncates times as At does,
// and makes required lists [] instead of null.
func (r *Report) Normalise() {
	visit(reflect.ValueOf(r).Elem(), func(is rule, field, _ reflect.Value) {
		switch at, isTime := field.Interface().(Time); {
		case isTime:
			field.Set(reflect.ValueOf(At(at.Time)))
		case is.always && field.IsNil():
			field.Set(reflect.MakeSlice(field.Type(), 0, 0))
		}
	})
}

// Redact replaces each text that may quote the server by without(text).
func (r *Report) Redact(without func(string) string) {
	visit(reflect.ValueOf(r).Elem(), func(is rule, field, _ reflect.Value) {
		switch {
		case !is.redact:
		case field.Kind() == reflect.String:
			field.SetString(without(field.String()))
		default:
			for i := range field.Len() {
				text := field.Index(i)
				hidden := without(text.String())
				if is.keep == "whole" && hidden != text.String() {
					field.SetZero()
					return
				}
				text.SetString(hidden)
			}
		}
	})
}
