package options

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/imageref"
)

// file is the configuration file. Every key is optional. Durations use Go's syntax ("1h30m").
type file struct {
	Slots struct {
		Total        *int `json:"total"`
		PerNamespace *int `json:"perNamespace"`
	} `json:"slots"`
	Workers            *int   `json:"workers"`
	ImageCheckInterval string `json:"imageCheckInterval"`
	MaxVerdictAge      string `json:"maxVerdictAge"`
	AuditNewRules      *bool  `json:"auditNewRules"`
	Platform           string `json:"platform"`
	Server             struct {
		CPU              string `json:"cpu"`
		Memory           string `json:"memory"`
		EphemeralStorage string `json:"ephemeralStorage"`
	} `json:"server"`
	Deadlines struct {
		ResolveAttempt string `json:"resolveAttempt"`
		Resolve        string `json:"resolve"`
		Pull           string `json:"pull"`
		Start          string `json:"start"`
		Queue          string `json:"queue"`
		Margin         string `json:"margin"`
	} `json:"deadlines"`
	PodTemplate      *v1alpha1.PodTemplate `json:"podTemplate"`
	AllowedMetadata  []string              `json:"allowedMetadata"`
	RuntimeClassName string                `json:"runtimeClassName"`
	UserNamespaces   UserNamespaces        `json:"userNamespaces"`
	Gate             struct {
		Certificate Certificate `json:"certificate"`
	} `json:"gate"`
	Discovery     Discovery     `json:"discovery"`
	PolicyReports PolicyReports `json:"policyReports"`
	Attestation   struct {
		KeySecret  string   `json:"keySecret"`
		Namespaces []string `json:"namespaces"`
	} `json:"attestation"`
	Registries imageref.Registries `json:"registries"`
	Runner     struct {
		ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets"`
	} `json:"runner"`
	Allowed struct {
		Networks           []report.Network `json:"networks"`
		URLs               bool             `json:"urls"`
		Placement          Placement        `json:"placement"`
		PriorityClassNames []string         `json:"priorityClassNames"`
		RuntimeClassNames  []string         `json:"runtimeClassNames"`
		MaxTimeout         string           `json:"maxTimeout"`
		MaxImageSize       string           `json:"maxImageSize"`
		NodeImages         bool             `json:"nodeImages"`
	} `json:"allowed"`
}

// Load applies the file, if there is one, to the options and validates them.
func (o *Options) Load() error {
	if o.File == "" {
		return o.Validate()
	}
	content, err := os.ReadFile(o.File)
	if err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	if err := o.decode(content); err != nil {
		return fmt.Errorf("configuration %s: %w", o.File, err)
	}
	if err := o.Validate(); err != nil {
		return fmt.Errorf("configuration %s: %w", o.File, err)
	}
	return nil
}

// decode applies a file's content to the options. Absent keys change nothing; unknown ones are
// errors of one line.
func (o *Options) decode(content []byte) error {
	encoded, err := yaml.YAMLToJSONStrict(content)
	if err != nil {
		return oneLine(err)
	}
	var f file
	unknown, err := kjson.UnmarshalStrict(encoded, &f)
	if err := errors.Join(append(unknown, err)...); err != nil {
		return oneLine(err)
	}
	for _, number := range []struct{ from, to *int }{
		{f.Slots.Total, &o.Slots}, {f.Slots.PerNamespace, &o.NamespaceSlots}, {f.Workers, &o.Concurrency},
	} {
		if number.from != nil {
			*number.to = *number.from
		}
	}
	for _, text := range []struct {
		from string
		to   *string
	}{
		{f.Platform, &o.Platform}, {f.RuntimeClassName, &o.RuntimeClass}, {string(f.UserNamespaces), (*string)(&o.UserNamespaces)},
		{string(f.Gate.Certificate), (*string)(&o.GateCertificate)}, {string(f.PolicyReports), (*string)(&o.PolicyReports)}, {string(f.Discovery), (*string)(&o.Discovery)}, {f.Attestation.KeySecret, &o.AttestationKey},
		{string(f.Allowed.Placement), (*string)(&o.Allowed.Placement)},
		{f.Server.CPU, &o.ServerCPU}, {f.Server.Memory, &o.ServerMemory}, {f.Server.EphemeralStorage, &o.ServerStorage},
	} {
		if text.from != "" {
			*text.to = text.from
		}
	}
	o.AttestedNamespaces = append(o.AttestedNamespaces, f.Attestation.Namespaces...)
	if f.PodTemplate != nil {
		o.PodTemplate = f.PodTemplate
	}
	if f.AllowedMetadata != nil {
		o.AllowedMetadata = f.AllowedMetadata
	}
	for _, list := range []struct{ from, to *[]string }{
		{&f.Registries.Internal, &o.Registries.Internal}, {&f.Registries.PlainHTTP, &o.Registries.PlainHTTP},
		{&f.Registries.PrivateNetworks, &o.Registries.PrivateNetworks},
		{&f.Allowed.PriorityClassNames, &o.Allowed.PriorityClassNames}, {&f.Allowed.RuntimeClassNames, &o.Allowed.RuntimeClassNames},
	} {
		if len(*list.from) > 0 {
			*list.to = *list.from
		}
	}
	if secrets := f.Runner.ImagePullSecrets; len(secrets) > 0 {
		o.RunnerPullSecrets = secrets
	}
	if err := o.decodeAllowed(f); err != nil {
		return err
	}
	if f.AuditNewRules != nil && !*f.AuditNewRules {
		o.RulesetDigest = ""
	}
	return o.decodeDurations(f)
}

// decodeAllowed applies the section allowed, except for its names and duration, which are
// decoded with the others.
func (o *Options) decodeAllowed(f file) error {
	if f.Allowed.Networks != nil {
		o.Allowed.Networks = f.Allowed.Networks
	}
	o.Allowed.URLs, o.Allowed.NodeImages = f.Allowed.URLs, f.Allowed.NodeImages
	switch size := f.Allowed.MaxImageSize; size {
	case "":
	case "0":
		o.Allowed.MaxImageBytes = NoLimit
	default:
		quantity, err := resource.ParseQuantity(size)
		if err != nil || quantity.Value() <= 0 {
			return fmt.Errorf("allowed.maxImageSize: invalid size %q; write it like 10Gi, or 0 for no limit", size)
		}
		o.Allowed.MaxImageBytes = quantity.Value()
	}
	return nil
}

func (o *Options) decodeDurations(f file) error {
	texts := map[string]string{
		"imageCheckInterval": f.ImageCheckInterval, "maxVerdictAge": f.MaxVerdictAge,
		"deadlines.resolveAttempt": f.Deadlines.ResolveAttempt, "deadlines.resolve": f.Deadlines.Resolve,
		"deadlines.pull": f.Deadlines.Pull, "deadlines.start": f.Deadlines.Start,
		"deadlines.queue": f.Deadlines.Queue, "deadlines.margin": f.Deadlines.Margin,
		"allowed.maxTimeout": f.Allowed.MaxTimeout,
	}
	var problems []error
	for _, d := range o.durations() {
		text := texts[d.key]
		if text == "" {
			continue
		}
		value, err := time.ParseDuration(text)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: invalid duration %q (want a duration such as 90s, 10m or 1h30m)", d.key, text))
			continue
		}
		*d.value = value
	}
	return errors.Join(problems...)
}

// oneLine puts an error on one line.
func oneLine(err error) error {
	return errors.New(strings.Join(strings.Fields(err.Error()), " "))
}
