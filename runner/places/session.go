package places

const (
	// RuntimeDir is the directory of the session that a user of a sandbox seems to have (XDG_RUNTIME_DIR).
	RuntimeDir = "/run/user/1000"
	// HomeDomain is the search domain of a machine in a home (resolv.conf(5)). Routers give it out.
	HomeDomain = "lan"
)
