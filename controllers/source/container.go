package source

import (
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Container describes what an audit of a server would run: it is compared with what one did.
type Container struct {
	// Image as the object names it, which may be no image.
	Image         string
	Command, Args []string
	Env           []EnvVar
	WorkingDir    string
	// Additions that the object itself names: its operator may make others.
	Additions Additions
	// Unclear is the sentence that says why no audit can be of it; empty if one can.
	Unclear string
}

// The groups whose kind MCPServer is read.
const (
	GroupToolHive  = "toolhive.stacklok.dev"
	GroupKmcp      = "kagent.dev"
	GroupLifecycle = "mcp.x-k8s.io"
)

// Server reads the container of the server of an MCPServer object. What can be audited
// by hand only, such as a server that speaks TLS, has its image and its command here as
// well. It is nil if another object runs the server, and for a kind that is not known.
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
	if !r.verbatim {
		c.Command, c.Args = Expand(r.env, r.command, r.args)
	}
	switch named := r.image != "" && !strings.Contains(r.image, "://"); {
	case !named && r.problem != "":
		c.Unclear = r.problem
	case !named:
		c.Unclear = noImage
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

// KindServer is the kind of the objects that Server reads.
const KindServer = "MCPServer"

// Decode reads JSON as the API server does: the case of names counts, and no name may
// be there twice.
func Decode(object []byte, into any) error {
	repeated, err := kjson.UnmarshalStrict(object, into, kjson.DisallowDuplicateFields)
	if err == nil && len(repeated) > 0 {
		err = repeated[0]
	}
	return err
}

// Expand is the command line as a kubelet hands it on, with the values of env that the
// object itself gives in the place of $(NAME). One that is longer than any audit's is
// left as it is: it is compared with none.
func Expand(env []EnvVar, command, args []string) (expandedCommand, expandedArgs []string) {
	if !expands(command) && !expands(args) || len(command) > maxWords || len(args) > maxWords {
		return command, args
	}
	if len(env) > maxVariables {
		env = nil // what is left of $(NAME) is compared with nothing
	}
	variables := recipe{env: env}.variables()
	expandedCommand, expandedArgs = variables.expandAll(command), variables.expandAll(args)
	if !wordsFit(expandedCommand) || !wordsFit(expandedArgs) {
		return command, args
	}
	return expandedCommand, expandedArgs
}

// Literals are the variables whose values the object itself gives, as a kubelet sets them
// and as discovery gives them to an audit. ok is false if there are too many of them, if
// one is more than an audit takes, or if one refers to a value that the object does not
// give: then no audit had the same.
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
