package scope

// The words that speak of a use. A word may be two, with a space between. They
// are read generously, because a declared use gives no finding, and what they
// excuse is only that use by that capability.
var (
	networkWords = set("url", "urls", "http", "https", "fetch", "fetches", "fetching", "download", "downloads",
		"downloading", "upload", "uploads", "web", "website", "websites", "webpage", "webpages", "internet", "online",
		"network", "api", "apis", "graphql", "grpc", "remote", "remotely", "email", "emails", "smtp", "imap", "ftp",
		"sftp", "ssh", "scrape", "scrapes", "crawl", "crawls", "browse", "browses", "browser", "websocket", "webhook",
		"webhooks", "endpoint", "endpoints", "hostname", "dns", "ping", "proxy", "cloud", "saas", "cdn", "rss", "telemetry",
		"connects", "connect to", "database", "databases", "postgres", "postgresql",
		"mysql", "redis", "mongodb", "elasticsearch", "kafka", "s3", "aws", "azure", "gcp", "github", "gitlab", "slack",
		"jira", "notion", "kubernetes", "cluster", "google", "wikipedia", "youtube", "twitter", "weather", "forecast",
		"news", "external service", "external services", "clone",
		// German, French, Spanish
		"netzwerk", "webseite", "webseiten", "herunterladen", "hochladen", "wetter", "réseau", "télécharge", "télécharger",
		"météo", "courriel", "descarga", "descargar", "meteorológico", "correo")

	subprocessWords = set("run", "runs", "running", "execute", "executes", "executing", "execution", "exec", "command",
		"commands", "shell", "bash", "zsh", "powershell", "terminal", "cli", "script", "scripts", "spawn", "spawns",
		"subprocess", "subprocesses", "process id", "processes", "launch", "launches", "invoke", "invokes", "git",
		"docker", "podman", "kubectl", "helm", "terraform", "npm", "pip", "cargo",
		"ffmpeg", "pandoc", "browser", "program", "programs", "executable", "binary",
		"befehl", "befehle", "commande", "exécute", "ejecuta")

	fileWords = set("file", "files", "filename", "filepath", "path", "paths", "directory", "directories", "folder",
		"folders", "disk", "filesystem", "save", "saves", "load", "loads", "workspace", "repository", "document",
		"documents", "csv", "pdf", "log", "logs",
		"datei", "dateien", "verzeichnis", "ordner", "fichier", "fichiers", "dossier", "archivo", "archivos", "directorio", "carpeta")

	// negations deny what follows within a few words of the same sentence.
	negations = set("no", "not", "never", "without", "cannot", "can't", "cant", "doesn't", "doesnt", "don't", "dont",
		"won't", "isn't", "aren't", "nor", "neither", "nothing", "zero", "avoids", "avoid")
)

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}
