package gate_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/api/codepath"
	"github.com/mcpaudit/mcpaudit/api/environ"
	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

func strictly(action v1alpha1.GateAction) *gate.Policy {
	return policyOf(gated(func(g *v1alpha1.Gate) { g.OnAltered = action }))
}

// traced is a verdict of an audit that recorded what the strict mode compares.
func traced(v *gate.Verdict) {
	v.WorkingDir, v.CodePaths = "/app", []string{"/app", "/etc/ssl/openssl.cnf"}
	v.Exercise = &v1alpha1.AuditedExercise{Network: report.NetworkSinkhole, Rounds: 3, MaxCallsPerTool: 24}
}

func mounting(paths ...string) func(*gate.Container) {
	return func(c *gate.Container) { c.Additions.Mounts = paths }
}

func setting(name, value string) func(*gate.Container) {
	return func(c *gate.Container) { c.Environment.Variables = map[string]string{name: value} }
}

// TestS16Altered: each way by which a container of a passing image runs what was not audited.
func TestS16Altered(t *testing.T) {
	unknown := func(v *gate.Verdict) { v.CodePaths, v.WorkingDir = nil, "" }
	for name, c := range map[string]struct {
		alter    func(*gate.Container)
		verdict  func(*gate.Verdict)
		sentence string // empty: it is not altered
	}{
		"nothing":                    {func(*gate.Container) {}, nil, ""},
		"a variable that loads code": {setting("NODE_OPTIONS", "--require /x"), nil, "but sets NODE_OPTIONS, and Node.js loads the modules it names: remove the variable"},
		"one that tunes":             {setting("NODE_OPTIONS", "--max-old-space-size=512"), nil, ""},
		"any other variable":         {setting("LOG_LEVEL", "debug"), nil, ""},
		"one from a Secret":          {func(c *gate.Container) { c.Environment.Unread = []string{"API_KEY", "LD_PRELOAD"} }, nil, "but sets LD_PRELOAD"},
		"a key from a Secret":        {func(c *gate.Container) { c.Environment.Unread = []string{"API_KEY", "HOME"} }, nil, ""},
		"R14 the home of an interpreter": {func(c *gate.Container) { c.Environment.Unread = []string{"HOME"} }, func(v *gate.Verdict) { v.CodePaths = append(v.CodePaths, codepath.Home) },
			"but sets HOME, and its interpreter loads code from below it"},
		"U10 what an interpreter looks for in the home": {setting("XDG_CONFIG_HOME", "/data"), func(v *gate.Verdict) { v.CodePaths = append(v.CodePaths, codepath.Home) },
			"but sets XDG_CONFIG_HOME, and its interpreter loads code from below it"},
		"the same, without an interpreter": {setting("XDG_CONFIG_HOME", "/data"), nil, ""},
		"envFrom":                          {func(c *gate.Container) { c.Environment.From = true }, nil, "but has an envFrom"},
		"a mount over the code":            {mounting("/app"), nil, "but mounts a volume at /app, and has code at /app: mount it elsewhere"},
		"a mount in it":                    {mounting("/data", "/app/plugins"), nil, "but mounts a volume at /app/plugins"},
		"a mount above it":                 {mounting("/etc"), nil, "but mounts a volume at /etc"},
		"a mount over libraries":           {mounting("/usr/lib/x86_64-linux-gnu"), nil, "and has code at /usr/lib"},
		"a mount of modules":               {mounting("/node_modules"), nil, "but mounts a volume at /node_modules"},
		"mounts of settings and data":      {mounting("/data", "/etc/app/config.yaml", "/tmp", "/var/run/creds", "/var/run/secrets/kubernetes.io/serviceaccount"), nil, ""},
		"a mount, code not known":          {mounting("/data"), unknown, "and it is not known where its code is: have it audited again"},
		"the token only, code not known":   {mounting("/var/run/secrets/kubernetes.io/serviceaccount"), unknown, ""},
		"another working directory":        {func(c *gate.Container) { c.Environment.WorkingDir = "/tmp" }, nil, "but is run in the working directory /tmp: remove workingDir"},
		"the image's working directory":    {func(c *gate.Container) { c.Environment.WorkingDir = "/app/" }, nil, ""},
		"a working directory, not known":   {func(c *gate.Container) { c.Environment.WorkingDir = "/app" }, unknown, "but is run in the working directory /app"},
		"a hook":                           {func(c *gate.Container) { c.Additions.Commands = []string{"lifecycle.postStart.exec"} }, nil, "but has a lifecycle.postStart.exec: remove it"},
		"a probe":                          {func(c *gate.Container) { c.Additions.Commands = []string{"livenessProbe.exec"} }, nil, "but has a livenessProbe.exec: probe it by httpGet"},
		"an image volume runs nothing":     {func(c *gate.Container) { c.Role, c.Additions.Mounts = gate.RoleImageVolume, []string{"/app"} }, nil, ""},
		"an init container as well":        {func(c *gate.Container) { c.Role, c.Additions.Mounts = gate.RoleInitContainer, []string{"/app"} }, nil, "init container server runs"},
		"a debug container as well":        {func(c *gate.Container) { c.Role, c.Additions.Mounts = gate.RoleEphemeralContainer, []string{"/app"} }, nil, "ephemeral container server runs"},
		"the server of an MCPServer":       {func(c *gate.Container) { c.Role, c.Additions.Mounts = gate.RoleServer, []string{"/app"} }, nil, "server runs"},
		"what is hostile is cut and kept":  {mounting("/app/\n\u202e" + strings.Repeat("x", 4000)), nil, "but mounts a volume at /app/"},
	} {
		t.Run(name, func(t *testing.T) {
			container := runs(pinned)
			c.alter(&container)
			verdict := verdictOf("a", traced)
			if c.verdict != nil {
				c.verdict(verdict)
			}
			for _, action := range []v1alpha1.GateAction{deny, warn, allow} {
				got := gate.Decide(containers(container), factsOf(strictly(action), verdict))
				altered := c.sentence != "" && action != allow
				if reason := got.Opinions[0].Reason; (reason == v1alpha1.GateAltered) != altered || got.Allowed == (altered && action == deny) || (len(got.Warnings) > 0) != (altered && action == warn) {
					t.Errorf("%s: %s, allowed %t, warnings %q", action, reason, got.Allowed, got.Warnings)
				}
				if said := got.Opinions[0].Sentence; altered && !strings.Contains(said, c.sentence) || len(said) > 1024 {
					t.Errorf("%s: said %q", action, said)
				}
			}
		})
	}
}

// A variable that the audit had as well alters nothing, whichever other audits there are.
func TestS16TheAuditsOwnEnvironment(t *testing.T) {
	key, variables := []byte("key"), map[string]string{"UV_CACHE_DIR": "/cache"}
	own := verdictOf("own", traced, func(v *gate.Verdict) {
		v.Environment = &report.Environment{Names: []string{"UV_CACHE_DIR"}, Digest: environ.Digest(key, variables)}
	})
	container := runs(pinned)
	container.Environment.Variables = variables
	for name, verdicts := range map[string][]*gate.Verdict{"alone": {own}, "beside one without": {own, verdictOf("bare", traced, aged(0))}} {
		facts := factsOf(strictly(deny), verdicts...)
		facts.EnvironmentKey = key
		if got := gate.Decide(containers(container), facts); !got.Allowed {
			t.Errorf("%s: %s", name, got.Message)
		}
		container := container
		container.Environment.Unread = []string{"PATH"} // whose value no digest has
		if got := gate.Decide(containers(container), facts); got.Allowed {
			t.Errorf("%s: admitted with a PATH from elsewhere", name)
		}
	}
}

// What is denied anyway has its own reason, and an image that no audit counts for is not
// judged by what is added to it.
func TestS16OtherReasonsComeFirst(t *testing.T) {
	container := runs(pinned)
	mounting("/app")(&container)
	for name, c := range map[string]struct {
		policy   *gate.Policy
		verdicts []*gate.Verdict
		want     v1alpha1.GateReason
	}{
		"failed":            {strictly(deny), []*gate.Verdict{verdictOf("a", traced, failed)}, v1alpha1.GateFailed},
		"never audited":     {policyOf(gated(func(g *v1alpha1.Gate) { g.OnAltered, g.OnMissing = deny, allow })), nil, v1alpha1.GateNotAudited},
		"a drift, admitted": {policyOf(gated(func(g *v1alpha1.Gate) { g.OnAltered, g.OnDrift = deny, allow })), []*gate.Verdict{verdictOf("a", traced, drifted)}, v1alpha1.GateAltered},
	} {
		if got := gate.Decide(containers(container), factsOf(c.policy, c.verdicts...)); got.Opinions[0].Reason != c.want {
			t.Errorf("%s: %s", name, got.Opinions[0].Reason)
		}
	}
}

// TestS16LittleExercised: a pass that was earned by less than the default exercise.
func TestS16LittleExercised(t *testing.T) {
	for name, c := range map[string]struct {
		less     func(*v1alpha1.AuditedExercise)
		sentence string
	}{
		"the default":       {func(*v1alpha1.AuditedExercise) {}, ""},
		"more":              {func(e *v1alpha1.AuditedExercise) { e.Rounds, e.MaxCallsPerTool, e.Inputs = 9, 100, 3 }, ""},
		"all, said so":      {func(e *v1alpha1.AuditedExercise) { e.Calls = report.CallsAll }, ""},
		"a real network":    {func(e *v1alpha1.AuditedExercise) { e.Network = report.NetworkAllow }, ""},
		"no calls":          {func(e *v1alpha1.AuditedExercise) { e.Calls = report.CallsNever }, "its probe.calls was Never"},
		"some tools":        {func(e *v1alpha1.AuditedExercise) { e.Calls = report.CallsReadOnlyHinted }, "its probe.calls was ReadOnlyHinted"},
		"a tool left out":   {func(e *v1alpha1.AuditedExercise) { e.SkippedTools = 1 }, "its probe.skipTools left out"},
		"fewer rounds":      {func(e *v1alpha1.AuditedExercise) { e.Rounds = 1 }, "its probe.rounds was 1, not 3"},
		"fewer calls":       {func(e *v1alpha1.AuditedExercise) { e.MaxCallsPerTool = 2 }, "its probe.maxCallsPerTool was 2, not 24"},
		"less time":         {func(e *v1alpha1.AuditedExercise) { e.Timeout.Duration = time.Minute }, "its timeout was 1m0s, not 5m0s"},
		"more time":         {func(e *v1alpha1.AuditedExercise) { e.Timeout.Duration = 10 * time.Minute }, ""},
		"shorter calls":     {func(e *v1alpha1.AuditedExercise) { e.CallTimeout.Duration = time.Second }, "its probe.callTimeout was 1s, not 30s"},
		"longer calls":      {func(e *v1alpha1.AuditedExercise) { e.CallTimeout.Duration = time.Minute }, ""},
		"few launches":      {func(e *v1alpha1.AuditedExercise) { e.Depth = report.DepthQuick }, "its probe.depth was Quick"},
		"no attack":         {func(e *v1alpha1.AuditedExercise) { e.Attack = plan.AttackOff }, "its probe.attack was Off"},
		"no network at all": {func(e *v1alpha1.AuditedExercise) { e.Network = report.NetworkDeny }, "its sandbox.network was Deny"},
	} {
		t.Run(name, func(t *testing.T) {
			little := verdictOf("a", traced, func(v *gate.Verdict) { c.less(v.Exercise) })
			got := gate.Decide(containers(runs(pinned)), factsOf(strictly(deny), little))
			if want := c.sentence == ""; got.Allowed != want || !strings.Contains(got.Message, c.sentence) {
				t.Errorf("allowed %t: %s", got.Allowed, got.Message)
			}
			if !gate.Decide(containers(runs(pinned)), factsOf(policyOf(), little)).Allowed {
				t.Error("denied without onAltered")
			}
			if got := gate.Decide(containers(runs(pinned)), factsOf(strictly(deny), little, verdictOf("b", traced, aged(0)))); !got.Allowed {
				t.Errorf("denied beside a whole pass: %s", got.Message)
			}
		})
	}
	if gate.Decide(containers(runs(pinned)), factsOf(strictly(deny), verdictOf("a", traced, func(v *gate.Verdict) { v.Exercise = nil }))).Allowed {
		t.Error("admitted by an audit that records no exercise")
	}
}

// The strict mode admits nothing that was denied without it.
func TestStrictNeverAdmits(t *testing.T) {
	eachWorld(t, func(_ *rand.Rand, w world, d gate.Decision) string {
		w.policies = slices.Clone(w.policies)
		for i, p := range w.policies {
			strict := *p
			strict.Gate.OnAltered = deny
			w.policies[i] = &strict
		}
		if after := w.decide(); after.Allowed && !d.Allowed {
			return "admitted, and denied before: " + d.Message
		}
		return ""
	})
}
