package packages

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/decoy"
)

// serverJSON holds the fields of a server.json that are used (static.modelcontextprotocol.io/schemas/2025-12-11).
type serverJSON struct {
	Version  string          `json:"version"`
	Packages []serverPackage `json:"packages"`
	Remotes  []struct {
		URL string `json:"url"`
	} `json:"remotes"`
}

type serverPackage struct {
	RegistryType     string        `json:"registryType"`
	RegistryBaseURL  string        `json:"registryBaseUrl"`
	Identifier       string        `json:"identifier"`
	Version          string        `json:"version"`
	FileSHA256       string        `json:"fileSha256"`
	RuntimeArguments []serverInput `json:"runtimeArguments"`
	PackageArguments []serverInput `json:"packageArguments"`
	Environment      []serverInput `json:"environmentVariables"`
}

// serverInput is an argument or a variable of the environment.
type serverInput struct {
	Name        string                 `json:"name"`
	ValueHint   string                 `json:"valueHint"`
	Value       string                 `json:"value"`
	Default     string                 `json:"default"`
	Placeholder string                 `json:"placeholder"`
	Format      string                 `json:"format"`
	Choices     []string               `json:"choices"`
	Required    bool                   `json:"isRequired"`
	Secret      bool                   `json:"isSecret"`
	Variables   map[string]serverInput `json:"variables"`
}

// launch chooses the first package that can be run here, an image last, and returns how a client starts it: with defaults, or plausible
// values, for what the user has to set.
func (s serverJSON) launch() (l Launched, err error) {
	for _, p := range s.Packages {
		switch Registry(p.RegistryType) {
		case NPM, PyPI, MCPB:
			return p.launch()
		}
	}
	for _, p := range s.Packages {
		if Registry(p.RegistryType) == OCI {
			return p.container()
		}
	}
	switch {
	case len(s.Packages) > 0:
		return l, fmt.Errorf("it comes as %.200q of %q, and not from npm, PyPI, as a bundle or as an image: audit its program by mcpaudit run -- COMMAND",
			s.Packages[0].Identifier, s.Packages[0].RegistryType)
	case len(s.Remotes) > 0:
		return l, fmt.Errorf("it is a remote server: audit its manifest and answers with mcpaudit connect %.200q", s.Remotes[0].URL)
	}
	return l, errors.New("its server.json has no packages")
}

// official are the default registries of npm and pip.
var official = map[Registry][]string{NPM: {"", "https://registry.npmjs.org"}, PyPI: {"", "https://pypi.org"}}

func (p serverPackage) launch() (l Launched, err error) {
	registry := Registry(p.RegistryType)
	if at, limited := official[registry]; limited && !slices.Contains(at, strings.TrimRight(p.RegistryBaseURL, "/")) {
		return l, fmt.Errorf("its package is in the registry %.200q: set %s up for that, and audit it by its name there", p.RegistryBaseURL, registry)
	}
	for _, a := range p.RuntimeArguments {
		if word := cmp.Or(a.Name, a.Value); word != "-y" && word != "--yes" {
			return l, fmt.Errorf("it is started with the argument %.200q of its runtime: audit it by mcpaudit run -- COMMAND", word)
		}
	}
	named := p.Identifier
	switch {
	case p.Version != "" && registry == NPM:
		named += "@" + p.Version
	case p.Version != "" && registry == PyPI:
		named += "==" + p.Version
	}
	if l.Package, _, err = Parse(p.RegistryType + ":" + named); err != nil {
		return l, err
	}
	l.SHA256 = p.FileSHA256
	for _, a := range p.PackageArguments {
		l.Arguments = append(l.Arguments, a.arguments()...)
	}
	l.Env, l.Secrets = p.variables()
	return l, nil
}

// container returns how a client starts an image. Nothing of this machine goes into it: neither its variables nor its files.
func (p serverPackage) container() (l Launched, err error) {
	var words []string
	for _, a := range p.RuntimeArguments {
		words = append(words, a.arguments()...)
	}
	if slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, "--env-file") }) {
		return l, errors.New("it is started with --env-file, a file of this machine: audit the image by mcpaudit run oci:NAME")
	}
	name := p.Identifier
	if host := strings.TrimPrefix(strings.TrimRight(p.RegistryBaseURL, "/"), "https://"); host != "" {
		name = host + "/" + name
	}
	if p.Version != "" && !strings.ContainsAny(name[strings.LastIndex(name, "/")+1:], ":@") {
		name += ":" + p.Version
	}
	if !imageName.MatchString(name) {
		return l, fmt.Errorf("its image %.200q: invalid name", name)
	}
	c, err := containerOf(append(words, name))
	if err != nil {
		return l, fmt.Errorf("its runtimeArguments: %w", err)
	}
	env, secrets := p.variables()
	for _, entry := range c.Env {
		name, value, set := strings.Cut(entry, "=")
		switch {
		case decoy.Secret(name):
			secrets = append(secrets, name)
		case set:
			env = append(env, name+"="+value)
		}
	}
	c.Env = nil
	for _, a := range p.PackageArguments {
		c.Arguments = append(c.Arguments, a.arguments()...)
	}
	l = c.Launched()
	l.Env, l.Secrets = env, secrets
	return l, nil
}

// variables returns the variables of the environment, and the names of those that are secrets.
func (p serverPackage) variables() (env, secrets []string) {
	for _, v := range p.Environment {
		value, secret, set := v.fill(v.Name)
		switch {
		case secret || decoy.Secret(v.Name):
			secrets = append(secrets, v.Name)
		case set:
			env = append(env, v.Name+"="+value)
		}
	}
	return env, secrets
}

// arguments returns the words of an argument on the command line; none for an optional one.
func (in serverInput) arguments() []string {
	value, _, set := in.fill(cmp.Or(in.Name, in.ValueHint))
	switch {
	case set && in.Name != "":
		return []string{in.Name, value}
	case set:
		return []string{value}
	case in.Name != "" && !in.Secret && in.Format == "" && in.ValueHint == "" && in.Placeholder == "" && len(in.Choices) == 0:
		return []string{in.Name} // a switch
	}
	return nil
}

// fill returns the value of an input called name. set: it is given or required.
func (in serverInput) fill(name string) (value string, secret, set bool) {
	switch {
	case in.Value != "":
		value, secret = Fill(braces, in.Value, func(name string) (string, bool, bool) {
			of, known := in.Variables[name]
			if !known {
				return "", false, false
			}
			of.Value, of.Required, of.Variables = "", true, nil // variables do not nest
			value, secret, _ := of.fill(name)
			return value, secret, true
		})
		return value, secret || in.Secret, true
	case in.Secret:
		return decoy.Asked(variableOf(name), "").Value, true, in.Required
	case in.Default != "":
		return in.Default, false, true
	case !in.Required:
		return "", false, false
	case len(in.Choices) > 0:
		return in.Choices[0], false, true
	case in.Placeholder != "" && in.Format == "":
		return in.Placeholder, false, true
	}
	return plausible(in.Format, name), false, true
}
