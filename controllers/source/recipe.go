package source

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
)

// The limits of v1alpha1.Server in its CRD, in characters.
const (
	maxImage       = 512
	maxWords       = 32
	maxWord        = 1024
	maxEnv         = 64
	maxEnvName     = 128
	maxEnvValue    = 4096
	maxWorkingDir  = 1024
	maxPath        = 512
	maxPullSecrets = 8
	maxPort        = 65535
)

const (
	// maxServer bounds the texts of a server in bytes: the spec of an audit has 64 KiB at most.
	maxServer = 48 << 10
	// maxVariables bounds the variables considered: some of them may be omitted.
	maxVariables = 4 * maxEnv
	// maxExpanded bounds a text that grows by $(NAME), in bytes: by then it exceeds all limits.
	maxExpanded = 8 * maxEnvValue
	// maxOmitted and maxNote bound the list of what is omitted.
	maxOmitted, maxNote = 16, 120
)

var (
	imagePattern   = regexp.MustCompile(`^[!-~]+$`)
	pathPattern    = regexp.MustCompile(`^/[^\s#]*$`)
	envNamePattern = regexp.MustCompile(`^[-._a-zA-Z][-._a-zA-Z0-9]*$`)
)

// recipe describes how an object runs its server. In the end every kind makes a container of a Pod,
// and recipe does what a kubelet would do.
type recipe struct {
	image         string
	command, args []string
	workingDir    string
	env           []EnvVar
	envFrom       []envFrom
	// additions are only compared: no audit has any.
	additions   Additions
	pullSecrets []string
	transport   report.Transport
	port        int64
	path        string
	// verbatim means that no kubelet expands $(NAME) in command and args.
	verbatim bool
	// omitted by the source itself.
	omitted []string
	// problem says why the server cannot be audited; empty if it can.
	problem string
	// remote means that another object runs the server.
	remote bool
}

// EnvVar has the relevant fields of a corev1.EnvVar.
type EnvVar struct {
	Name      string     `json:"name"`
	Value     string     `json:"value"`
	ValueFrom *ValueFrom `json:"valueFrom"`
}

// ValueFrom is a value outside the object. Secrets and ConfigMaps are not read: an audit has no
// business with them.
type ValueFrom struct {
	SecretKeyRef    *Named `json:"secretKeyRef"`
	ConfigMapKeyRef *Named `json:"configMapKeyRef"`
}

type envFrom struct {
	SecretRef    *Named `json:"secretRef"`
	ConfigMapRef *Named `json:"configMapRef"`
}

// Named is a reference by name.
type Named struct {
	Name string `json:"name"`
}

// names returns the names of references without empty ones, which a Pod ignores.
func names(references []Named) []string {
	var list []string
	for _, r := range references {
		if r.Name != "" {
			list = append(list, r.Name)
		}
	}
	return list
}

// reading returns the server of the recipe, or why there is none.
func (r recipe) reading() Reading {
	if r.problem != "" {
		return Reading{NotAuditable: r.problem}
	}
	if len(r.env) > maxVariables || len(r.command) > maxWords || len(r.args) > maxWords {
		return NotAuditable("Its command line or its environment is longer than an audit takes: %d words, and %d variables.", maxWords, maxEnv)
	}
	variables := r.variables()
	command, args := r.command, r.args
	if !r.verbatim {
		command, args = variables.expandAll(command), variables.expandAll(args)
	}
	server := v1alpha1.Server{
		Image: r.image, Transport: r.transport, Path: r.path,
		Command: command, Args: args, WorkingDir: r.workingDir, Env: variables.list,
	}
	if problem := check(server, r.port); problem != "" {
		return NotAuditable("%s", problem)
	}
	if server.Speaks() == report.TransportStdio {
		server.Path = ""
	} else {
		server.Port = int32(r.port)
	}
	slices.Sort(r.pullSecrets)
	for _, name := range slices.Compact(r.pullSecrets) {
		server.ImagePullSecrets = append(server.ImagePullSecrets, v1alpha1.SecretReference{Name: name})
	}
	if len(server.ImagePullSecrets) > maxPullSecrets {
		return NotAuditable("It has %d image pull secrets; an audit takes %d.", len(server.ImagePullSecrets), maxPullSecrets)
	}
	return Reading{Server: server, Omitted: short(append(variables.omitted, r.omitted...))}
}

// short bounds a list of texts from an object.
func short(list []string) []string {
	var shortened []string
	for i, text := range list {
		if i == maxOmitted {
			return append(shortened, fmt.Sprintf("%d more", len(list)-i))
		}
		shortened = append(shortened, excerpt.Line(text, maxNote))
	}
	return shortened
}

const noImage = "It names no image."

// check returns what exceeds an audit's limits. Nothing is cut to fit: half a command line is
// another server.
func check(server v1alpha1.Server, port int64) string {
	switch {
	case server.Image == "":
		return noImage
	case !fits(server.Image, maxImage) || !imagePattern.MatchString(server.Image):
		return fmt.Sprintf("Its image is no image reference of at most %d characters.", maxImage)
	case !wordsFit(server.Command) || !wordsFit(server.Args):
		return fmt.Sprintf("Its command line is longer than an audit takes: command and args have at most %d words of %d characters each.", maxWords, maxWord)
	case len(server.Env) > maxEnv:
		return fmt.Sprintf("It has %d environment variables; an audit takes %d.", len(server.Env), maxEnv)
	case server.WorkingDir != "" && (!fits(server.WorkingDir, maxWorkingDir) || !strings.HasPrefix(server.WorkingDir, "/")):
		return fmt.Sprintf("Its working directory is no absolute path of at most %d characters.", maxWorkingDir)
	case bytesOf(server) > maxServer:
		return fmt.Sprintf("Its command line and environment take more than %d KiB, which an audit has no room for.", maxServer>>10)
	case server.Speaks() != report.TransportStdio:
		return checkEndpoint(server, port)
	}
	return ""
}

func bytesOf(server v1alpha1.Server) int {
	total := 0
	for _, word := range slices.Concat(server.Command, server.Args) {
		total += len(word)
	}
	for _, e := range server.Env {
		total += len(e.Name) + len(e.Value)
	}
	return total
}

// checkEndpoint checks where a server listens.
func checkEndpoint(server v1alpha1.Server, port int64) string {
	switch {
	case port < 0, port > maxPort, port == 0 && server.Speaks() != plan.TransportAuto:
		return fmt.Sprintf("Its port is %d: set it to one from 1 to %d.", port, maxPort)
	case server.Path != "" && (!fits(server.Path, maxPath) || !pathPattern.MatchString(server.Path)):
		return fmt.Sprintf("The path of its endpoint does not begin with /, has a blank or #, or has more than %d characters.", maxPath)
	}
	return ""
}

func fits(s string, limit int) bool { return utf8.RuneCountInString(s) <= limit }

func wordsFit(words []string) bool {
	return len(words) <= maxWords && !slices.ContainsFunc(words, func(word string) bool { return !fits(word, maxWord) })
}

// variables is the environment that an audit can have.
type variables struct {
	list    []v1alpha1.EnvVar
	value   map[string]string
	omitted []string
	// hidden means that the object has a value that is not in list or may not apply: an
	// optional reference may leave an earlier entry of the same name in effect.
	hidden bool
}

// variables returns the literal variables, and names the others.
func (r recipe) variables() variables {
	v := variables{value: map[string]string{}}
	for _, from := range r.envFrom {
		switch {
		case from.SecretRef != nil:
			v.omitted = append(v.omitted, "the variables of Secret "+from.SecretRef.Name)
		case from.ConfigMapRef != nil:
			v.omitted = append(v.omitted, "the variables of ConfigMap "+from.ConfigMapRef.Name)
		}
	}
	var order []string
	for _, e := range r.env {
		value := e.Value
		if e.ValueFrom == nil {
			value = v.expand(value)
		}
		if why := e.omitted(value); why != "" {
			_, before := v.value[e.Name]
			v.hidden = v.hidden || before || e.ValueFrom == nil && !e.isSandboxed()
			delete(v.value, e.Name)
			v.omitted = append(v.omitted, "variable "+e.Name+" ("+why+")")
			continue
		}
		v.value[e.Name] = value
		order = append(order, e.Name)
	}
	seen := map[string]bool{}
	for _, name := range order { // the last of several entries counts
		value, set := v.value[name]
		if !set || seen[name] {
			continue
		}
		seen[name] = true
		v.list = append(v.list, v1alpha1.EnvVar{Name: name, Value: value})
	}
	return v
}

// isSandboxed reports whether an audit sets the variable itself.
func (e EnvVar) isSandboxed() bool {
	return e.Name == "HOME" || strings.HasPrefix(e.Name, "MCPAUDIT_")
}

// omitted returns why an audit cannot have a variable.
func (e EnvVar) omitted(value string) string {
	switch {
	case e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil:
		return "from Secret " + e.ValueFrom.SecretKeyRef.Name
	case e.ValueFrom != nil && e.ValueFrom.ConfigMapKeyRef != nil:
		return "from ConfigMap " + e.ValueFrom.ConfigMapKeyRef.Name
	case e.ValueFrom != nil:
		return "from the Pod"
	case e.isSandboxed():
		return "the sandbox has its own"
	case !fits(e.Name, maxEnvName) || !envNamePattern.MatchString(e.Name):
		return "not a name that an audit takes"
	case !fits(value, maxEnvValue):
		return fmt.Sprintf("more than %d characters", maxEnvValue)
	}
	return ""
}

func (v variables) expandAll(words []string) []string {
	if words == nil {
		return nil
	}
	expanded := make([]string, 0, len(words))
	for _, word := range words {
		expanded = append(expanded, v.expand(word))
	}
	return expanded
}

// expand expands $(NAME) as a kubelet does: $$ is a dollar, and unknown names stay as they are
// (corev1.Container, command).
func (v variables) expand(s string) string {
	var b strings.Builder
	for i := 0; i < len(s) && b.Len() <= maxExpanded; i++ {
		if s[i] != '$' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		if s[i+1] == '$' {
			b.WriteByte('$')
			i++
			continue
		}
		end := strings.IndexByte(s[i:], ')')
		if s[i+1] != '(' || end < 0 {
			b.WriteByte('$')
			continue
		}
		reference := s[i : i+end+1]
		if value, ok := v.value[reference[2:len(reference)-1]]; ok {
			reference = value
		}
		b.WriteString(reference)
		i += end
	}
	return b.String()
}
