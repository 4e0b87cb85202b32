package environ

import (
	"path"
	"slices"
	"strings"
	"testing"
)

func TestS2VariablesThatLoadCode(t *testing.T) {
	for _, variable := range []string{
		"NODE_OPTIONS=--import=data:text/javascript,x", "NODE_OPTIONS=--max-old-space-size=512 --require /x.js", "NODE_OPTIONS=\t-r\n/x", "NODE_PATH=/x",
		"LD_PRELOAD=/x.so", "LD_AUDIT=/x.so", "LD_LIBRARY_PATH=/x", "PATH=/x", "PYTHONPATH=/x", "PYTHONSTARTUP=/x", "PYTHONHOME=/x",
		"PYTHONWARNINGS=all:0:antigravity.x:0:0", "PYTHONBREAKPOINT=os.system", "BROWSER=/x", "JAVA_TOOL_OPTIONS=-javaagent:/x.jar",
		"JAVA_TOOL_OPTIONS=-Xmx1g -XX:OnOutOfMemoryError=/x", "JDK_JAVA_OPTIONS=@/x", "_JAVA_OPTIONS=-cp /x", "CLASSPATH=/x", "MAVEN_OPTS=-agentlib:x",
		"BASH_ENV=/x", "ENV=/x", "ENV=$(id)", "BASH_FUNC_ls%%=() { id; }", "SHELLOPTS=xtrace", "PS4=$(id)", "PROMPT_COMMAND=id", "PERL5OPT=-Mx", "PERL5LIB=/x", "PERL5DB=x",
		"RUBYOPT=-rx", "RUBYLIB=/x", "GEM_PATH=/x", "BUNDLE_GEMFILE=/x", "PHP_INI_SCAN_DIR=/x", "PHPRC=/x", "DOTNET_STARTUP_HOOKS=/x",
		"DOTNET_CORECLR_PROFILER_PATH=/x", "CORECLR_PROFILER=x", "COR_PROFILER=x", "GCONV_PATH=/x", "GIO_EXTRA_MODULES=/x", "GTK_MODULES=/x", "OPENSSL_CONF=/x",
		"OPENSSL_MODULES=/x", "LUA_INIT=@/x", "LUA_PATH=/x", "R_PROFILE_USER=/x", "JULIA_LOAD_PATH=/x", "ERL_FLAGS=-x", "ELIXIR_ERL_OPTIONS=-x", "DENO_DIR=/x",
		"BUN_OPTIONS=--preload x", "NPM_CONFIG_REGISTRY=http://x", "npm_config_script_shell=/x", "UV_INDEX=x", "PIP_INDEX_URL=x", "GIT_SSH_COMMAND=id",
		"GIT_EXTERNAL_DIFF=id", "GIT_CONFIG_COUNT=1", "EDITOR=id", "VISUAL=id", "PAGER=id", "LESSOPEN=|id", "SHELL=/x",
		"GIT_PYTHON_GIT_EXECUTABLE=/data/git", "PUPPETEER_EXECUTABLE_PATH=/usr/bin/../../data/x", "PUPPETEER_EXECUTABLE_PATH=chrome", "CHROME_PATH=/tmp/bin/x",
		"PLAYWRIGHT_CHROMIUM_EXECUTABLE_PATH=/x", "PLAYWRIGHT_BROWSERS_PATH=/data", "PLAYWRIGHT_NODEJS_PATH=/x", "IMAGEIO_FFMPEG_EXE=/x", "PYENV_HOOK_PATH=/x", "PIPX_DEFAULT_PYTHON=/x",
		"PKG_EXECPATH=PKG_INVOKE_NODEJS", "_MEIPASS2=/data", "_PYI_APPLICATION_HOME_DIR=/data", "PEX_EXTRA_SYS_PATH=/data", "SHIV_ENTRY_POINT=x:y",
		"GUNICORN_CMD_ARGS=--bind=0.0.0.0:80 --config=/data/x.py", "GUNICORN_CMD_ARGS=--pythonpath /data", "GUNICORN_CMD_ARGS=-c/data/x.py", "GUNICORN_CMD_ARGS=-b 0.0.0.0 -k x.y",
		"UVICORN_LOG_CONFIG=/data/x.json", "FLASK_APP=/data/x.py", "MPLBACKEND=module://x", "JUPYTER_CONFIG_DIR=/data", "ANSIBLE_CALLBACK_PLUGINS=/data", "NODE_CONFIG_DIR=/data",
		"PRISMA_QUERY_ENGINE_LIBRARY=/data/x.so", "ESBUILD_BINARY_PATH=/data/x", "RIPGREP_CONFIG_PATH=/data/rc", "GST_PLUGIN_PATH=/data", "GDK_PIXBUF_MODULE_FILE=/data/x", "HDF5_PLUGIN_PATH=/data",
		"DOTNET_BUNDLE_EXTRACT_BASE_DIR=/data", "NUMBA_CACHE_DIR=/data", "TRITON_CACHE_DIR=/data", "TORCH_EXTENSIONS_DIR=/data", "BOOTSNAP_CACHE_DIR=/data", "PKG_NATIVE_CACHE_PATH=/data",
		"GI_TYPELIB_PATH=/data", "ALSA_CONFIG_PATH=/data/x", "QT_QPA_PLATFORM_PLUGIN_PATH=/data",
	} {
		name, value, _ := strings.Cut(variable, "=")
		if Loads(name, value) == "" {
			t.Errorf("%s loads nothing", variable)
		}
	}
}

// What honest servers are commonly given must not make their audits Inconclusive.
func TestHarmlessVariables(t *testing.T) {
	for _, variable := range []string{
		"NODE_ENV=production", "NODE_OPTIONS=--max-old-space-size=512 --enable-source-maps", "NODE_EXTRA_CA_CERTS=/ca.pem", "NODE_OPTIONS=", "PYTHONUNBUFFERED=1",
		"PYTHONDONTWRITEBYTECODE=1", "PYTHONWARNINGS=ignore", "JAVA_TOOL_OPTIONS=-XX:MaxRAMPercentage=75.0 -Xss1m", "JAVA_OPTS=-Xmx512m -Dfile.encoding=UTF-8", "ENV=production",
		"HTTP_PROXY=http://proxy:3128", "https_proxy=http://proxy:3128", "NO_PROXY=.svc", "TZ=Europe/Berlin", "LANG=C.UTF-8", "LC_ALL=C", "LOG_LEVEL=debug", "GITHUB_TOKEN=x", "GIT_TERMINAL_PROMPT=0",
		"XDG_CONFIG_HOME=/config", "GODEBUG=x", "GOMAXPROCS=2", "MALLOC_ARENA_MAX=2", "PORT=8080", "SHELL=/bin/sh", "SSL_CERT_FILE=/ca.pem", "NPM_CONFIG_LOGLEVEL=error", "UV_NO_CACHE=1", "DATABASE_URL=postgres://x",
		"PUPPETEER_EXECUTABLE_PATH=/usr/bin/chromium-browser", "CHROME_BIN=/usr/local/bin/chrome", "PLAYWRIGHT_BROWSERS_PATH=/ms-playwright", "PYENV_VERSION=3.12", "PUPPETEER_SKIP_DOWNLOAD=1",
		"GUNICORN_CMD_ARGS=--bind=0.0.0.0:8080 --workers 2 --access-logfile=- -t 60", "MPLBACKEND=Agg", "UVICORN_HOST=0.0.0.0", "UVICORN_PORT=8080", "ANSIBLE_HOST_KEY_CHECKING=False",
		"PRISMA_CLI_QUERY_ENGINE_TYPE=binary", "ESBUILD_BINARY_PATH=/usr/bin/esbuild", "PEX_VERBOSE=1", "KUBECONFIG=/config/kubeconfig", "AWS_CONFIG_FILE=/config/aws",
	} {
		name, value, _ := strings.Cut(variable, "=")
		if why := Loads(name, value); why != "" {
			t.Errorf("%s: %s", variable, why)
		}
	}
}

func TestTable(t *testing.T) {
	for _, f := range families {
		for pattern := range strings.FieldsSeq(f.names) {
			if _, err := path.Match(pattern, ""); err != nil || pattern != strings.ToUpper(pattern) {
				t.Errorf("pattern %q: %v", pattern, err)
			}
		}
		if f.harmless != nil && f.harmless.MatchString("\x00") {
			t.Errorf("%s: an unknown value is harmless", f.names)
		}
	}
}

// TestX1FamilyOfANameIsTheFirst: the look-up by parts of a name finds what matching every pattern
// in order finds.
func TestX1FamilyOfANameIsTheFirst(t *testing.T) {
	names := []string{"", "_", "A", "X_OPTS", "LD_", "LD", "R_LIBS_USER", "PRISMA_X_BINARY", "PRISMA_BINARY", "QML2_IMPORT_PATH", "DOTNET_X_PROFILER_Y"}
	for _, f := range families {
		for pattern := range strings.FieldsSeq(f.names) {
			for _, star := range []string{"", "X", "PATH", "_OPTS"} {
				name := strings.ReplaceAll(pattern, "*", star)
				names = append(names, name, name+"X", "X"+name, strings.TrimSuffix(name, "S"))
			}
		}
	}
	for _, name := range names {
		want := slices.IndexFunc(families, func(f family) bool {
			return slices.ContainsFunc(strings.Fields(f.names), func(pattern string) bool { ok, _ := path.Match(pattern, name); return ok })
		})
		if want < 0 {
			want = len(families)
		}
		if got := familyOf(name); got != want {
			t.Errorf("%s is of family %d, want %d", name, got, want)
		}
	}
}

// BenchmarkLoads looks up a name that is in no family.
func BenchmarkLoads(b *testing.B) {
	for b.Loop() {
		LoadsUnknown("A40000X")
	}
}

func TestDigest(t *testing.T) {
	seen := map[string]int{}
	for i, env := range []map[string]string{
		nil, {"A": ""}, {"A": "B"}, {"A=B": ""}, {"A": "", "B": ""}, {"A": "\nB="}, {"A": "1", "B": "2"}, {"A": "2", "B": "1"}, {"A": "\xff"}, {"A": "\xfe"}, {"A": "�"},
	} {
		d := Digest([]byte("key"), env)
		if before, ok := seen[d]; ok {
			t.Errorf("environments %d and %d have one digest", before, i)
		}
		seen[d] = i
		if d == Digest([]byte("other"), env) {
			t.Errorf("the key does not matter for %v", env)
		}
	}
}
