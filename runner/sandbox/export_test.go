package sandbox

// BindOnly has the sandbox do as where the kernel refuses overlays.
func (l *Launcher) BindOnly() { l.bindOnly = true }

// Renamed is a table of hosts in which the machine has another name.
var Renamed = renamed
