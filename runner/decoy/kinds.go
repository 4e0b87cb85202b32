package decoy

// kind is one file that a thief looks for.
type kind struct {
	name    string
	routine bool
	hosts   []string
	make    func() (content string, secrets []string, err error)
}

// The services that several decoys are for.
var (
	amazon    = []string{"amazonaws.com", "amazonaws.com.cn"}
	github    = []string{"github.com", "githubcopilot.com", "ghcr.io"}
	google    = []string{"googleapis.com", "google.com"}
	microsoft = []string{"microsoftonline.com", "azure.com", "microsoft.com", "windows.net"}
	anthropic = []string{"anthropic.com", "claude.ai"}
)

// kinds lists the files, in the formats of the tools that they belong to.
var kinds = []kind{
	{name: ".ssh/id_rsa", make: rsaKey},
	{name: ".ssh/id_ed25519", make: ed25519Key},
	{name: ".aws/credentials", hosts: amazon, make: template(
		"[default]\naws_access_key_id = AKIA{u16}\naws_secret_access_key = {a40}\nregion = us-east-1\n")},
	{name: ".azure/msal_token_cache.json", hosts: microsoft, make: template(
		`{"RefreshToken":{"{x32}-login.microsoftonline.com-refreshtoken":{"environment":"login.microsoftonline.com","secret":"0.A{b120}"}}}` + "\n")},
	{name: ".env", make: template(
		"APP_ENV=production\nPAYMENT_SECRET_KEY=sk_live_{a32}\n")},
	{name: ".netrc", routine: true, hosts: []string{"git.example.com"}, make: template(
		"machine git.example.com\n  login deploy\n  password {a32}\n")},
	{name: ".npmrc", routine: true, hosts: []string{"npm.example.com"}, make: template(
		"//npm.example.com/:_authToken=npm_{a36}\n")},
	{name: ".pypirc", hosts: []string{"pypi.org"}, make: template(
		"[distutils]\nindex-servers = pypi\n\n[pypi]\nusername = __token__\npassword = pypi-{a64}\n")},
	{name: ".pgpass", hosts: []string{"db.example.com"}, make: template(
		"db.example.com:5432:app:app:{a32}\n")},
	{name: ".my.cnf", hosts: []string{"db.example.com"}, make: template(
		"[client]\nhost=db.example.com\nuser=app\npassword={a32}\n")},
	{name: ".git-credentials", hosts: github, make: template(
		"https://deploy:ghp_{a36}@github.com\n")},
	{name: ".kube/config", hosts: []string{"kubernetes.example.com"}, make: template(kubeConfig)},
	{name: ".docker/config.json", hosts: []string{"registry.example.com"}, make: dockerConfig},
	{name: ".config/gcloud/application_default_credentials.json", hosts: google, make: template(
		`{"client_id":"764086051850.apps.googleusercontent.com","client_secret":"d-{a22}","refresh_token":"1//0{a60}","type":"authorized_user"}` + "\n")},
	{name: ".config/gh/hosts.yml", hosts: github, make: template(
		"github.com:\n    user: deploy\n    oauth_token: gho_{a36}\n    git_protocol: https\n")},
	{name: ".vault-token", hosts: []string{"vault.example.com"}, make: template("hvs.{a24}{a66}\n")},
	{name: ".terraform.d/credentials.tfrc.json", hosts: []string{"app.terraform.io"}, make: template(
		`{"credentials":{"app.terraform.io":{"token":"{a14}.atlasv1.{a67}"}}}` + "\n")},
	{name: ".claude.json", hosts: anthropic, make: template(
		`{"numStartups":12,"primaryApiKey":"sk-ant-api03-{a64}"}` + "\n")},
	{name: ".cursor/mcp.json", hosts: github, make: template(
		`{"mcpServers":{"github":{"command":"github-mcp-server","args":["stdio"],"env":{"GITHUB_PERSONAL_ACCESS_TOKEN":"ghp_{a36}"}}}}` + "\n")},
	{name: ".mozilla/firefox/k3x81f2q.default-release/logins.json", make: template(
		`{"nextId":2,"logins":[{"id":1,"hostname":"https://mail.example.com","encryptedUsername":"MDIEEPgAAAAAAAAAAAAAAAAAAAEwFAYIKoZIhvcNAwcECA{b22}==",` +
			`"encryptedPassword":"MDoEEPgAAAAAAAAAAAAAAAAAAAEwFAYIKoZIhvcNAwcECA{b64}==","encType":1,"timesUsed":14}],"version":3}` + "\n")},
	{name: ".config/google-chrome/Default/Login Data", make: template(sqlite + "https://mail.example.com/login\x00ada.lovelace\x00v11{b64}\n")},
	{name: ".config/google-chrome/Default/Cookies", make: template(sqlite + ".mail.example.com\x00session\x00v11{b64}\n")},
	{name: ".bash_history", make: template(history)},
	{name: ".ethereum/keystore/UTC--2024-05-11T09-14-02.318Z--5aaeb6053f3e94c9b9a09f33669435e7ef1beaed", make: template(
		`{"address":"5aaeb6053f3e94c9b9a09f33669435e7ef1beaed","crypto":{"cipher":"aes-128-ctr","cipherparams":{"iv":"{x32}"},"ciphertext":"{x64}",` +
			`"kdf":"scrypt","kdfparams":{"dklen":32,"n":262144,"p":1,"r":8,"salt":"{x64}"},"mac":"{x64}"},"version":3}` + "\n")},
}

// sqlite is the beginning of a database (sqlite.org/fileformat.html).
const sqlite = "SQLite format 3\x00\x10\x00\x01\x01\x00\x40\x20\x20"

// history is as long as a real user's: a short one would be a sign of a sandbox.
const history = `ls
cd src/app
git status
git pull
npm ci
npm test
vim README.md
git add -p
git commit -m "show prices with tax"
git push
cd ..
df -h
du -sh Downloads
sudo apt update
sudo apt upgrade
ssh build
top
history | grep rsync
rsync -av Documents/ backup:documents/
cd src/app
git checkout -b checkout-form
code .
npm run dev
curl -I localhost:3000
git diff
git stash
git checkout main
git pull --rebase
docker compose up -d
docker compose logs -f web
docker compose down
export DEPLOY_TOKEN=dp_{a40}
./deploy.sh production
kubectl -n shop get pods
kubectl -n shop logs deploy/web --tail 100
git log --oneline | head
man tar
tar czf photos.tgz Pictures
mv photos.tgz /tmp
python3 -m venv .venv
. .venv/bin/activate
pip install requests
python3 report.py --month 2026-02
deactivate
less Documents/budget.csv
exit
`

const kubeConfig = `apiVersion: v1
kind: Config
clusters:
- name: production
  cluster:
    server: https://kubernetes.example.com:6443
contexts:
- name: production
  context:
    cluster: production
    user: admin
current-context: production
users:
- name: admin
  user:
    token: {a48}
`
