package v1alpha1

// AuditedServer is what the last audit ran. Admission compares it with workloads: the
// spec may be another by now.
type AuditedServer struct {
	// image as the spec named it.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// digests are all by which a kubelet may report the image: of the index, of the
	// platform's manifest, of the config.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=4
	Digests []Digest `json:"digests,omitempty"`

	// platform that was run, such as "linux/amd64", if the image is for several, or if
	// only the kubelet could have it, so that this is not known; empty if it is for one.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Platform string `json:"platform,omitempty"`

	// commandDigest is over command and args of the spec, see CommandDigest.
	// +optional
	CommandDigest Digest `json:"commandDigest,omitempty"`

	// argvDigest is over the whole command line that was run, the image's part
	// included, as if all of it were in command; empty if it is not known.
	// +optional
	ArgvDigest Digest `json:"argvDigest,omitempty"`

	// unsuppressed counts the findings that no suppression was about.
	// +optional
	Unsuppressed *FindingCounts `json:"unsuppressed,omitempty"`
}
