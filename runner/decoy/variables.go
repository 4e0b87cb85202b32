package decoy

// variable is one secret in the environment. None changes what a runtime, a
// package manager, git or an SDK does when it starts: there is no proxy,
// endpoint, profile, region, option or file name among them.
type variable struct {
	name  string
	hosts []string
	value string
}

// database is the host of the URLs; the name is reserved (RFC 2606).
var database = []string{"db.example.com"}

// variables lists the names under which programs expect secrets.
var variables = []variable{
	{"AWS_ACCESS_KEY_ID", amazon, "AKIA{u16}"},
	{"AWS_SECRET_ACCESS_KEY", amazon, "{a40}"},
	{"AZURE_CLIENT_SECRET", microsoft, "{a3}8Q~{a34}"},
	{"GOOGLE_API_KEY", google, "AIzaSy{a33}"},
	{"GEMINI_API_KEY", google, "AIzaSy{a33}"},
	{"GITHUB_TOKEN", github, "ghp_{a36}"},
	{"GITHUB_PERSONAL_ACCESS_TOKEN", github, "github_pat_{a22}_{a59}"},
	{"GITLAB_TOKEN", []string{"gitlab.com"}, "glpat-{a20}"},
	{"NPM_TOKEN", []string{"npmjs.org", "npmjs.com"}, "npm_{a36}"},
	{"PYPI_TOKEN", []string{"pypi.org"}, "pypi-{a64}"},
	{"DOCKER_PASSWORD", []string{"docker.io", "docker.com"}, "dckr_pat_{a27}"},
	{"OPENAI_API_KEY", []string{"openai.com"}, "sk-proj-{a48}"},
	{"ANTHROPIC_API_KEY", anthropic, "sk-ant-api03-{a64}"},
	{"MISTRAL_API_KEY", []string{"mistral.ai"}, "{a32}"},
	{"GROQ_API_KEY", []string{"groq.com"}, "gsk_{a52}"},
	{"HF_TOKEN", []string{"huggingface.co", "hf.co"}, "hf_{a34}"},
	{"SLACK_BOT_TOKEN", []string{"slack.com"}, "xoxb-{d12}-{d13}-{a24}"},
	{"DISCORD_TOKEN", []string{"discord.com", "discord.gg"}, "{a24}.{a6}.{a38}"},
	{"TELEGRAM_BOT_TOKEN", []string{"telegram.org"}, "{d10}:AA{a33}"},
	{"NOTION_TOKEN", []string{"notion.com", "notion.so"}, "ntn_{a46}"},
	{"LINEAR_API_KEY", []string{"linear.app"}, "lin_api_{a40}"},
	{"STRIPE_SECRET_KEY", []string{"stripe.com"}, "sk_live_{a48}"},
	{"TWILIO_AUTH_TOKEN", []string{"twilio.com"}, "{x32}"},
	{"SENDGRID_API_KEY", []string{"sendgrid.com"}, "SG.{a22}.{a43}"},
	{"CLOUDFLARE_API_TOKEN", []string{"cloudflare.com"}, "{a40}"},
	{"DIGITALOCEAN_ACCESS_TOKEN", []string{"digitalocean.com"}, "dop_v1_{x64}"},
	{"HEROKU_API_KEY", []string{"heroku.com"}, "HRKU-{a60}"},
	{"VAULT_TOKEN", []string{"vault.example.com"}, "hvs.{a90}"},
	{"DATABASE_URL", database, "postgresql://app:{a32}@db.example.com:5432/app"},
	{"DATABASE_PASSWORD", database, "{x32}"},
	{"REDIS_PASSWORD", database, "{a32}"},
	{"JWT_SECRET", nil, "{a48}"},
	{"SECRET_KEY", nil, "{a50}"},
	{"ENCRYPTION_KEY", nil, "{x64}"},
}
