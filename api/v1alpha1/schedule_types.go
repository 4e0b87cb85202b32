package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Schedule says when a server is audited again, by cron or by interval. To spread the load,
// each audit starts up to a tenth of the period later, at most 10 minutes, as its UID
// decides. The schedule counts from the end of the last audit, whatever triggered that: one
// audit makes up for all missed ones, and none is due while an audit runs.
// +kubebuilder:validation:XValidation:rule="has(self.cron) != has(self.interval)",message="schedule needs either cron or interval"
// +kubebuilder:validation:XValidation:rule="has(self.cron) || !has(self.timeZone)",message="timeZone is only used with cron"
type Schedule struct {
	// cron has five fields (minute, hour, day of month, month, day of week), or is one of
	// @hourly, @daily, @weekly, @monthly and @yearly.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Cron string `json:"cron,omitempty"`

	// timeZone of cron by its IANA name, such as "Europe/Berlin"; UTC by default.
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
