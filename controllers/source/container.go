package source

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"
)

// Container describes an audit of a server, for comparison with actual audits.
type Container struct {
	// Image as in the object, which may be invalid.
	Image         string
	Command, Args []string
	Env           []EnvVar
	WorkingDir    string
	// Additions in the object; its operator may add others.
	Additions Additions
	// Unclear is a sentence that says why no audit can match; empty if one can.
	Unclear string
}

// The groups whose MCPServer kind is supported.
const (
	GroupToolHive  = "toolhive.stacklok.dev"
	GroupKmcp      = "kagent.dev"
	GroupLifecycle = "mcp.x-k8s.io"
)

// Server returns the server's container of an MCPServer object. Servers that can only be
// audited by hand, such as those with TLS, are included. It is nil if another object runs the
// server, or for an unknown kind.
func Server(kind schema.GroupKind, object []byte) *Container {
	into := serverOf(kind)
	if into == nil {
		return nil
	}
	if err := Decode(object, into); err != nil {
		return &Container{Unclear: notAuditable("It cannot be read: %s.", err)}
	}
	r := into.recipe()
	if r.remote {
		return nil
	}
	c := &Container{Image: r.image, Command: r.command, Args: r.args, Env: r.env, WorkingDir: r.workingDir, Additions: r.additions}
	isKnown := true
	if !r.verbatim {
		c.Command, c.Args, isKnown = Expand(r.env, r.command, r.args)
	}
	switch named := r.image != "" && !strings.Contains(r.image, "://"); {
	case !named && r.problem != "":
		c.Unclear = r.problem
	case !named:
		c.Unclear = noImage
	case !isKnown:
		c.Unclear = NotExpanded
	}
	return c
}

func serverOf(kind schema.GroupKind) server {
	switch kind {
	case schema.GroupKind{Group: GroupToolHive, Kind: KindServer}:
		return &toolHive{}
	case schema.GroupKind{Group: GroupKmcp, Kind: KindServer}:
		return &kmcp{}
	case schema.GroupKind{Group: GroupLifecycle, Kind: KindServer}:
		return &lifecycle{}
	}
	return nil
}

// KindServer is the kind that Server reads.
const KindServer = "MCPServer"

// Decode decodes JSON as the API server does: names are case-sensitive and unique.
func Decode(object []byte, into any) error {
	repeated, err := kjson.UnmarshalStrict(object, into, kjson.DisallowDuplicateFields)
	if err == nil && len(repeated) > 0 {
		err = repeated[0]
	}
	return err
}

// NotExpanded is Unclear for a command line that Expand does not know.
const NotExpanded = "It is not known what a kubelet makes of the $ in its command line, which is too long."

// Expand expands $(NAME) and $$ in a command line as a kubelet does, with the literal values in
// env. ok is false if the result is longer than that of any audit's spec: an image's own command
// line, which an audit runs literally, may be as long. command and args count together, as the
// words of an audit may be split otherwise.
func Expand(env []EnvVar, command, args []string) (expandedCommand, expandedArgs []string, ok bool) {
	switch {
	case !expands(command) && !expands(args):
		return command, args, true
	case len(command)+len(args) > 2*maxWords:
		return command, args, false
	}
	if len(env) > maxVariables {
		env = nil // an unexpanded $(NAME) matches nothing
	}
	variables := recipe{env: env}.variables()
	expandedCommand, expandedArgs = variables.expandAll(command), variables.expandAll(args)
	if tooLong := func(word string) bool { return !fits(word, maxWord) }; slices.ContainsFunc(expandedCommand, tooLong) || slices.ContainsFunc(expandedArgs, tooLong) {
		return command, args, false
	}
	return expandedCommand, expandedArgs, true
}

// Literals returns the variables with literal values, as a kubelet sets them and discovery
// gives them to an audit. ok is false if there are too many, one exceeds an audit's limits, or
// one refers to a missing value: then no audit had the same.
func Literals(env []EnvVar) (values map[string]string, ok bool) {
	if len(env) > maxVariables {
		return nil, false
	}
	of := recipe{env: env}.variables()
	if of.hidden {
		return nil, false
	}
	for _, variable := range of.list {
		if strings.Contains(variable.Value, "$(") {
			return nil, false
		}
		if values == nil {
			values = map[string]string{}
		}
		values[variable.Name] = variable.Value
	}
	return values, true
}

// expands reports whether a kubelet would change any of the words.
func expands(words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(word, "$(") || strings.Contains(word, "$$") })
}
