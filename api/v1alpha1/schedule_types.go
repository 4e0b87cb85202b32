package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Schedule is when a server is audited again: by cron, or by interval. Audits of one
// schedule are spread: each begins a little later than the schedule says, by a part
// of the period that its UID decides (a tenth, and at most 10 minutes). It counts
// from the end of the last audit, whatever that was made for: runs that were missed
// since are made up for by one, and what falls into a running audit is done by it.
// +kubebuilder:validation:XValidation:rule="has(self.cron) != has(self.interval)",message="schedule needs either cron or interval"
// +kubebuilder:validation:XValidation:rule="has(self.cron) || !has(self.timeZone)",message="timeZone is only used with cron"
type Schedule struct {
	// cron is a time in five fields (minute, hour, day of month, month, day of
	// week), or one of @hourly, @daily, @weekly, @monthly and @yearly.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Cron string `json:"cron,omitempty"`

	// timeZone of cron, by its name in the IANA database, such as "Europe/Berlin";
	// UTC by default.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	TimeZone string `json:"timeZone,omitempty"`

	// interval between the end of one audit and the next, from 5m to 8760h.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('5m') && duration(self) <= duration('8760h')",message="interval must be between 5m and 8760h"
	Interval *metav1.Duration `json:"interval,omitempty"`
}
