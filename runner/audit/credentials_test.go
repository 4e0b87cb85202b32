package audit

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/api/environ"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

func TestVariablesIn(t *testing.T) {
	for text, want := range map[string]string{
		"Error: NOTION_API_KEY is not set":                                        "NOTION_API_KEY",
		"Missing required environment variables:\n  - ACME_TOKEN\n  - ACME_URL\n": "ACME_TOKEN ACME_URL",
		"KeyError: 'TOKEN'": "TOKEN",
		"❌ Invalid environment variables: { LINKUP_API_KEY: [ 'Required' ] }":                            "LINKUP_API_KEY",
		"  \"path\": [ \"WEATHER_KEY\" ],\n  \"message\": \"Required\"":                                  "WEATHER_KEY",
		"Please set the environment variable ACME to your key":                                           "ACME",
		"1 validation error for Settings\nnotion_token\n  Field required [type=missing, input_value={}]": "NOTION_TOKEN",
		"Missing environment variables:\n    ACME_HOST: undefined":                                       "ACME_HOST",
		"code: 'ERR_MODULE_NOT_FOUND', INVALID_ARGUMENT is required":                                     "",
		"process.env.ACME_KEY is not set":                                                                "ACME_KEY",
		"ACME_URL is required, input_value={'a': 'https://q...ME_LOCAL_PATH': '/tmp'}":                   "ACME_URL",
		"No commands are allowed. Please set ALLOW_COMMANDS environment variable.":                       "ALLOW_COMMANDS",
		"listening, API_KEY=x":      "",
		"the file must have a NAME": "",
	} {
		if got := strings.Join(variablesIn(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// dies is a run that ended before it listed anything, and said why.
func dies(how launch, stderr string) observation {
	return watched(incompleteProbe(report.ReasonServerExited, "the server exited"), func(o *observation) {
		o.how, o.result.Listed, o.exited, o.stderr = how, false, true, stderr
	})
}

// TestServerIsGivenWhatItAsksFor: one variable after the other, in the shape that it says,
// and never one that decides which code runs.
func TestServerIsGivenWhatItAsksFor(t *testing.T) {
	plan := Plan{Env: []string{"OWN_TOKEN=x"}}
	var runs []observation
	for _, says := range []string{
		"ACME_TOKEN is required, and OWN_TOKEN must be valid", "ACME_TOKEN must start with acme_", "please set ACME_URL, LD_PRELOAD_PATH and NODE_PATH", "ACME_URL is required",
	} {
		how, ok := plan.next(runs)
		if !ok {
			t.Fatalf("no launch after %d", len(runs))
		}
		runs = append(runs, dies(how, says))
	}
	if _, more := plan.next(runs); more {
		t.Error("it is started again though it asks for nothing new")
	}
	last := runs[3].how
	if got := strings.Join(namesOf(last.asked), " "); got != "ACME_TOKEN ACME_URL" || !strings.HasPrefix(last.asked[0].Value, "acme_") || last.asked[1].Value != "https://acme.example.com" {
		t.Errorf("%+v", last.asked)
	}
	if env := last.environment(Plan{}); len(env) != 2 || env[1] != "ACME_URL=https://acme.example.com" {
		t.Errorf("%v", env)
	}
	if g := gaps(nil, runs, observation{}, observation{}, report.NetworkSinkhole); len(g) != 1 || g[0].What != "MissingVariables" || g[0].Count != 2 || !strings.Contains(g[0].Detail, "ACME_TOKEN, ACME_URL") {
		t.Errorf("%+v", g)
	}
}

// TestDemandedValues: what a refusal says about a variable decides its value.
func TestDemandedValues(t *testing.T) {
	for says, want := range map[string]string{
		"Invalid environment variables {\n  _errors: [],\n  MCP_USER_ROLE: {\n    _errors: [\n      \"Invalid discriminator value. Expected 'developer' | 'editor'\"\n": "MCP_USER_ROLE=developer",
		"ACME_MODE must be one of: fast, slow":                                                   "ACME_MODE=fast",
		"OAuth credentials not found. Set ACME_CREDENTIALS to the path of your credentials file": "ACME_CREDENTIALS=" + accountFile("ACME_CREDENTIALS", nil).Value,
		"ACME_MODE must be a number":                                                             "",
	} {
		o := dies(launch{}, says)
		if got := strings.Join(settings(Plan{}.demanded(o)), " "); got != want {
			t.Errorf("%s: %q, want %q", says, got, want)
		}
	}
}

// TestDrawnNames: a file that a variable names has the name by which it was planted.
func TestDrawnNames(t *testing.T) {
	file := accountFile("SHOP_CREDENTIALS_PATH", nil)
	names := inputs.DrawNames(false)
	env := launch{asked: []decoy.Var{file}}.environment(Plan{Names: names})
	if want := "SHOP_CREDENTIALS_PATH=" + names.Out(file.Value); len(env) != 1 || env[0] != want || strings.Contains(env[0], inputs.Word) {
		t.Errorf("%v, want %s", env, want)
	}
}

// TestSettingIsNoSecret: a server may print a variable that it asked for, unless its name or its form makes it a secret.
func TestSettingIsNoSecret(t *testing.T) {
	for says, want := range map[string]struct {
		secrets int
		value   string
	}{
		"this tool is disabled: set the ACME_MARK_TOOL environment variable to true":         {0, "true"},
		"missing environment variable ACME_LEVEL":                                            {0, ""},
		"ACME_TOKEN is required":                                                             {1, ""},
		"DATABASE_URL is required":                                                           {1, ""},
		"missing environment variable ACME_SID. It must start with 'sid_'; got an empty one": {1, ""},
	} {
		given := asks(dies(launch{}, says))
		if len(given) != 1 || len(given[0].Secrets) != want.secrets || want.value != "" && given[0].Value != want.value {
			t.Errorf("%s: %+v, want %+v", says, given, want)
		}
	}
	plan := Plan{Secrets: []string{"ACME_LEVEL"}}
	how, _ := plan.next(nil)
	if given, _ := plan.asked(dies(how, "missing environment variable ACME_LEVEL")); len(given) != 1 || len(given[0].Secrets) != 1 {
		t.Errorf("the user's secret: %+v", given)
	}
}

// asks returns the variables of the launch after this one.
func asks(o observation) []decoy.Var {
	given, _ := (Plan{}).asked(o)
	return given
}

// TestExcludedVariableStaysAway: although the server's code reads it, and the next error names it.
func TestExcludedVariableStaysAway(t *testing.T) {
	how := launch{asked: []decoy.Var{decoy.Asked("ACME_URL", ""), decoy.Asked("ACME_LOCAL_PATH", "")}}
	for _, says := range []string{
		"if 'local_path' is set, 'url' and 'api_key' must be None", "no collection", "set ACME_COLLECTION_NAME, and either ACME_URL or ACME_LOCAL_PATH",
	} {
		o := dies(how, says)
		o.variables = []string{"ACME_LOCAL_PATH", "ACME_API_KEY"}
		how = o.how.same()
		how.asked, how.excluded = Plan{}.asked(o)
	}
	if got := strings.Join(namesOf(how.asked), " "); got != "ACME_API_KEY ACME_COLLECTION_NAME ACME_URL" {
		t.Errorf("is given %s", got)
	}
}

// TestVariablesThatExclude: of variables that exclude each other, one is taken back.
func TestVariablesThatExclude(t *testing.T) {
	for says, want := range map[string]string{
		"Value error, If 'local_path' is set, 'location' and 'api_key' must be None.": "ACME_API_KEY ACME_URL",
		"url and local_path are mutually exclusive":                                   "ACME_API_KEY ACME_URL",
		"if path is set, nothing must be missing":                                     "ACME_API_KEY ACME_LOCAL_PATH ACME_URL",
		"the key is wrong": "ACME_API_KEY ACME_LOCAL_PATH ACME_URL",
	} {
		var given []decoy.Var
		for _, name := range []string{"ACME_API_KEY", "ACME_LOCAL_PATH", "ACME_URL"} {
			given = append(given, decoy.Asked(name, ""))
		}
		left := asks(dies(launch{asked: given}, says))
		if got := strings.Join(namesOf(left), " "); got != want {
			t.Errorf("%q: %q, want %q", says, got, want)
		}
	}
}

// TestRefusingToolsGetVariables: in a launch that the others do not depend on.
func TestRefusingToolsGetVariables(t *testing.T) {
	first := watched(func(o *observation) {
		o.result.Outputs = []report.Output{{Kind: report.OutputError, Text: "ACME_API_KEY is not configured"}}
	})
	how := first.how.same()
	standIn(Plan{}, &how, []observation{first})
	if how = unmissed(how, Plan{}, []observation{first}); how.impossible != nil || strings.Join(namesOf(how.asked), " ") != "ACME_API_KEY" {
		t.Errorf("%+v", how)
	}
	webhook := watched(func(o *observation) {
		o.result.Outputs = []report.Output{{Kind: report.OutputError, Text: "RuntimeError: SLACK_WEBHOOK_URL is not set"}}
	})
	if asked := strings.Join(namesOf(asks(webhook)), " "); asked != "SLACK_WEBHOOK_URL" {
		t.Errorf("asks for %q", asked)
	}
	other := watched(func(o *observation) {
		o.result.Outputs = []report.Output{{Kind: report.OutputError, Text: "REPO_PATH is required"}}
	})
	if len(asks(other)) > 0 {
		t.Error("the name of an argument is taken for that of a variable")
	}
	how.moment = report.LaunchStandIns
	second := watched(func(o *observation) {
		o.how, o.result.Outputs = how, []report.Output{{Kind: report.OutputError, Text: "ACME_API_KEY must begin with 'ak-'"}}
	})
	if !(Plan{}).asksOn([]observation{first, second}) || (Plan{}).asksOn([]observation{first}) {
		t.Error("what it asks for then")
	}
	standIn(Plan{}, &how, []observation{first, second})
	if !strings.HasPrefix(how.asked[0].Value, "ak-") {
		t.Errorf("%+v", how)
	}
	second.how = how
	if (Plan{}).asksOn([]observation{first, second}) {
		t.Error("it asks for nothing new")
	}
}

// TestServerIsGivenWhatItsCodeReads: where it ends, or refuses, for want of a key and names
// none; first secrets, then where the service is, and nothing by which it would listen.
func TestServerIsGivenWhatItsCodeReads(t *testing.T) {
	reads := []string{"ACME_URL", "ACME_API_KEY", "NODE_OPTIONS", "MCP_PORT", "ACME_PORT", "HOME", "ACME_DEBUG"}
	var runs []observation
	for _, want := range []string{"", "ACME_API_KEY", "ACME_API_KEY ACME_URL"} {
		how, ok := (Plan{}).next(runs)
		if got := strings.Join(namesOf(how.asked), " "); !ok || got != want {
			t.Fatalf("launch %d: %q, want %q", len(runs), got, want)
		}
		died := dies(how, "usage: acme")
		died.variables = reads
		runs = append(runs, died)
	}
	if how, more := (Plan{}).next(runs); more {
		t.Errorf("once more, with %v", namesOf(how.asked))
	}
	for text, want := range map[string]string{
		"Error: No API key provided": "ACME_API_KEY", "Error: not authenticated, please log in": "ACME_API_KEY", "Error: no such note": "",
		"Error: the argument token is required": "",
	} {
		o := watched(func(o *observation) {
			o.result.Outputs = []report.Output{{Kind: report.OutputError, Text: text}}
		})
		if o.lacksCredential() {
			o.variables = reads
		}
		if got := strings.Join(namesOf(asks(o)), " "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestOperational: variables of how a server listens are left alone; those of its service may have the same prefix.
func TestOperational(t *testing.T) {
	for name, want := range map[string]bool{
		"MCP_HOST": true, "MCP_SERVER_URL": true, "HTTP_HOST": true, "PORT": true, "MCP_EMAIL_IMAP_HOST": false, "ACME_URL": false,
	} {
		if got := operational.MatchString(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestServerThatRefusesMostIsExercisedAnew: with the key that its refusals name, where there is time; and once, when that is
// all it asks for.
func TestServerThatRefusesMostIsExercisedAnew(t *testing.T) {
	plan := Plan{Timeout: time.Minute}
	refusing := func(how launch, accepted int, took time.Duration) observation {
		return watched(func(o *observation) {
			o.how, o.took, o.result.Coverage.Tools = how, took, report.Exercised{Listed: 4, Called: 4, Accepted: accepted}
			o.result.Outputs = []report.Output{{Kind: report.OutputError, Text: "Acme token is required. Send a header, or set ACME_TOKEN."}}
		})
	}
	first, _ := plan.next(nil)
	second, ok := plan.next([]observation{refusing(first, 1, time.Second)})
	if got := namesOf(second.asked); !ok || second.moment != "" || strings.Join(got, " ") != "ACME_TOKEN" {
		t.Fatalf("started again with %q as %q", got, second.moment)
	}
	if third, _ := plan.next([]observation{refusing(first, 1, time.Second), refusing(second, 1, time.Second)}); third.moment == "" {
		t.Error("a third time, for nothing new")
	}
	for name, run := range map[string]observation{"half accept": refusing(first, 2, time.Second), "no time": refusing(first, 1, 31*time.Second), "nobody": refusing(first, 1, time.Minute)} {
		if how, _ := plan.next([]observation{run}); how.moment == "" {
			t.Errorf("%s: exercised anew", name)
		}
	}
}

// TestBarrenServerIsGivenVariables: who has nothing to offer may want to know its service first.
func TestBarrenServerIsGivenVariables(t *testing.T) {
	barren := func(how launch, reads ...string) observation {
		return watched(func(o *observation) { o.how, o.variables, o.result.Coverage = how, reads, report.Coverage{} })
	}
	first, _ := (Plan{}).next(nil)
	second, ok := (Plan{}).next([]observation{barren(first, "ACME_URL", "ACME_TOKEN")})
	if got := namesOf(second.asked); !ok || second.moment != "" || strings.Join(got, " ") != "ACME_TOKEN" || !barren(first).lacksCredential() {
		t.Errorf("started again with %q as %q", got, second.moment)
	}
	second, _ = (Plan{}).next([]observation{barren(first, "ACME_URL", "ACME_PASSWORD", "ACME_IMAP_HOST", "ACME_EMAIL_ADDRESS")})
	if got := strings.Join(namesOf(second.asked), " "); got != "ACME_EMAIL_ADDRESS ACME_IMAP_HOST ACME_PASSWORD" {
		t.Errorf("of an account: %q", got)
	}
	if how, _ := (Plan{}).next([]observation{barren(first)}); how.moment == "" {
		t.Error("started anew for nothing")
	}
}

func TestRegisteredVariables(t *testing.T) {
	plan := Plan{ServerJSON: json.RawMessage(`{"name":"io.github.acme/acme","description":"d","packages":[{"environmentVariables":[
		{"name":"ACME_KEY","isRequired":true,"isSecret":true},{"name":"ACME_MODE","isRequired":true,"choices":["fast","slow"]},
		{"name":"ACME_URL","isRequired":true,"default":"https://acme.test"},{"name":"ACME_DEBUG"},{"name":"LD_PRELOAD","isRequired":true}]}]}`)}
	how, _ := plan.next(nil)
	if strings.Join(namesOf(how.asked), " ") != "ACME_KEY ACME_MODE" || how.asked[1].Value != "fast" || len(how.asked[0].Secrets) != 1 {
		t.Errorf("%+v", how.asked)
	}
}

// FuzzVariablesIn: whatever a server says, few variables are set, and none that it must not have.
func FuzzVariablesIn(f *testing.F) {
	f.Add("ACME_KEY must start with 'ak-'")
	f.Add("KeyError: 'LD_PRELOAD'")
	f.Add("a_key\n  Field required [type=missing")
	f.Fuzz(func(t *testing.T, text string) {
		for _, v := range asks(dies(launch{}, text)) {
			if len(v.Name) > len(text) || environ.Problem([]string{v.Name}, func(string) string { return v.Value }) != "" || strings.ContainsAny(v.Name+v.Value, "\x00\n") {
				t.Errorf("%q: %+v", text, v)
			}
		}
	})
}

// The rules are told of the hosts that the audit gave to a server: the server did not choose them.
func TestRulesKnowTheVariablesThatWereGiven(t *testing.T) {
	wiki := decoy.Asked("WIKI_URL", "")
	runs := []observation{{}, {how: launch{asked: []decoy.Var{wiki}}}}
	if got := seenBy(Plan{}, runs, scope.Scope{}, profile.Profile{}, nil, time.Time{}).Asked; !slices.Equal(got, []string{"WIKI_URL=https://wiki.example.com"}) {
		t.Errorf("%q", got)
	}
}

// TestCredentialsInFiles: a server that looks for its credentials in a file finds one there,
// whether the variable's name says so or only what it does with the value.
func TestCredentialsInFiles(t *testing.T) {
	given := asks(dies(launch{}, "Please set ACME_OAUTH_PATH and ACME_LOGIN_CREDENTIALS."))
	if len(given) != 2 || given[0].Value != "/tmp/"+inputs.AccountFiles[0] || len(given[1].Secrets) == 0 {
		t.Fatalf("%+v", given)
	}
	looked := dies(launch{asked: given}, "no such file")
	looked.filed = []string{"ACME_LOGIN_CREDENTIALS"}
	given = asks(looked)
	if len(given) != 2 || given[1].Value != "/tmp/"+inputs.AccountFiles[1] || !given[1].Asked {
		t.Errorf("%+v", given)
	}
	looked.how.asked = given
	if again := asks(looked); !reflect.DeepEqual(again, given) {
		t.Errorf("it is given something else: %+v", again)
	}
}
