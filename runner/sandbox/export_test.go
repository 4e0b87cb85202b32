package sandbox

// BindOnly has the sandbox do as where the kernel refuses overlays.
func (l *Launcher) BindOnly() { l.bindOnly = true }
