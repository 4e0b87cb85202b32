package environ

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// family is a row of the table: variables with the same effect.
type family struct {
	// names are globs (path.Match) in upper case, separated by blanks.
	names string
	// loads describes how the variables make a program run other code; empty if they do not.
	loads string
	// harmless matches the values that load nothing; nil if only the empty one does.
	harmless *regexp.Regexp
}

// words matches values all of whose words match.
func words(word string) *regexp.Regexp {
	return regexp.MustCompile(`^\s*((` + word + `)(\s+|$))*$`)
}

var (
	// The flags that only tune a JVM; -agentlib, -javaagent, -cp, @file and -XX:OnError run
	// other code.
	tunesJVM = words(`-Xm[snx]\d+[kKmMgG]?|-Xss\d+[kKmMgG]?|-XX:(Max|Min|Initial)RAMPercentage=[\d.]+|-XX:\+Use(Serial|Parallel|G1|Z|Shenandoah)GC|` +
		`-XX:\+(UseContainerSupport|ExitOnOutOfMemoryError|CrashOnOutOfMemoryError)|-XX:Max(Metaspace|DirectMemory)Size=\d+[kKmMgG]?|-XX:ActiveProcessorCount=\d+|` +
		`-Dfile\.encoding=[\w-]+|-Duser\.timezone=[\w/+-]+|-Djava\.net\.preferIPv4Stack=(true|false)|-Djava\.awt\.headless=(true|false)`)
	// The flags that only tune Node.js; --require, --import, --loader and the like run other code.
	tunesNode = words(`--max[-_](old|semi)[-_]space[-_]size=\d+|--enable-source-maps|--no-warnings|--no-deprecation|--trace-(warnings|deprecation|uncaught)|` +
		`--unhandled-rejections=[a-z-]+|--dns-result-order=\w+|--use-openssl-ca|--use-bundled-ca|--use-system-ca|--max-http-header-size=\d+`)
	// The settings of Gunicorn that are numbers, addresses and levels; --config, --pythonpath and --worker-class run other code.
	tunesGunicorn = words(`(--(bind|workers|threads|timeout|graceful-timeout|keep-alive|max-requests|max-requests-jitter|log-level|access-logfile|error-logfile)[=\s]|-[bwt]\s?)[\w.:-]+`)
)

// system matches paths of programs of the distribution: a mount over one alters the code.
var system = regexp.MustCompile(`^(/usr(/local)?)?/s?bin/[\w.+-]*\w$`)

// families is searched in order; the first row with the name decides. It has the variables that
// turn an honest program into another one. Unlisted variables may still matter to some server,
// so the gate compares everything that an audit sets.
var families = []family{
	{names: "LD_*", loads: "the dynamic loader loads the libraries it names"},
	{names: "DYLD_* GCONV_PATH LOCPATH", loads: "libc loads modules from it"},
	{names: "PATH", loads: "it decides which program a name starts"},

	{names: "NODE_OPTIONS", loads: "Node.js loads the modules it names", harmless: tunesNode},
	{names: "NODE_PATH NODE_CONFIG_DIR NODE_REPL_EXTERNAL_MODULE NODE_COMPILE_CACHE TS_NODE_* TSX_* ELECTRON_RUN_AS_NODE", loads: "Node.js loads modules from it"},
	{names: "DENO_NO_UPDATE_CHECK DENO_NO_PROMPT BUN_ENV DENO_ENV"},
	{names: "DENO_* BUN_*", loads: "the runtime loads code and settings from it"},
	{names: "NPM_CONFIG_LOGLEVEL NPM_CONFIG_UPDATE_NOTIFIER NPM_CONFIG_FUND NPM_CONFIG_AUDIT NPM_CONFIG_PROGRESS NPM_CONFIG_COLOR"},
	{names: "NPM_CONFIG_* YARN_* PNPM_* COREPACK_*", loads: "it decides where packages come from and which programs run them"},

	{names: "PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONIOENCODING PYTHONUTF8 PYTHONHASHSEED PYTHONFAULTHANDLER PYTHONNOUSERSITE PYTHONSAFEPATH " +
		"PYTHONOPTIMIZE PYTHONMALLOC PYTHONTRACEMALLOC PYTHONASYNCIODEBUG PYTHONVERBOSE PYTHON_ENV PYTHON_VERSION PYTHON_GIL PYTHON_COLORS"},
	{names: "PYTHONWARNINGS", loads: "Python imports the categories it names", harmless: regexp.MustCompile(`^(default|error|always|module|once|ignore)$`)},
	{names: "PYTHON*", loads: "Python imports modules by it"},
	{names: "GUNICORN_CMD_ARGS", loads: "Gunicorn loads the modules it names", harmless: tunesGunicorn},
	{names: "MPLBACKEND", loads: "Matplotlib imports the module it names", harmless: regexp.MustCompile(`^\w+$`)},
	{names: "UVICORN_APP UVICORN_APP_DIR UVICORN_LOG_CONFIG FLASK_APP QUART_APP IPYTHONDIR JUPYTER_PATH JUPYTER_CONFIG_* INCLUDES_FOR_DYNACONF " +
		"ANSIBLE_CONFIG ANSIBLE_LIBRARY ANSIBLE_*PLUGINS ANSIBLE_MODULE_UTILS ANSIBLE_COLLECTIONS_PATH* ANSIBLE_ROLES_PATH", loads: "a framework imports modules by it"},
	{names: "PIP_NO_CACHE_DIR PIP_DISABLE_PIP_VERSION_CHECK PIP_ROOT_USER_ACTION UV_NO_CACHE UV_COMPILE_BYTECODE UV_NO_PROGRESS UV_LINK_MODE"},
	{names: "PIP_* UV_* POETRY_* VIRTUAL_ENV CONDA_*", loads: "it decides where Python packages come from"},

	{names: "JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS JAVA_OPTIONS JAVA_OPTS *_OPTS", loads: "the JVM loads the agents and classes it names", harmless: tunesJVM},
	{names: "CLASSPATH JAVA_HOME JRE_HOME LOADER_PATH LOADER_MAIN LOADER_HOME LOADER_ARGS", loads: "the JVM loads classes from it"},

	{names: "PEX_VERBOSE PEX_EMIT_WARNINGS"},
	{names: "DOTNET_BUNDLE_EXTRACT_BASE_DIR PKG_NATIVE_CACHE_PATH NUMBA_CACHE_DIR TRITON_CACHE_DIR TORCH_EXTENSIONS_DIR TORCHINDUCTOR_CACHE_DIR BOOTSNAP_CACHE_DIR",
		loads: "compiled code is loaded from the cache that it names"},
	{names: "PKG_EXECPATH _MEIPASS2 _PYI_* PEX_* SHIV_*", loads: "a program that was packed into one file runs other code by it"},

	{names: "ENV", loads: "a shell runs the file it names", harmless: regexp.MustCompile(`^[A-Za-z0-9_-]*$`)}, // ENV=production
	{names: "SHELL", loads: "programs start it as a shell", harmless: regexp.MustCompile(`^(/usr)?/bin/(ba|da|a|z)?sh$`)},
	{names: "BASH_* BASHOPTS SHELLOPTS PS4 PROMPT_COMMAND IFS CDPATH ZDOTDIR FPATH", loads: "a shell runs or reads what it says"},

	{names: "PERL5* PERLLIB PERL_*", loads: "Perl loads modules by it"},
	{names: "RUBYOPT RUBYLIB RUBYSHELL GEM_* BUNDLE_* BUNDLER_*", loads: "Ruby loads libraries by it"},
	{names: "PHP_INI_SCAN_DIR PHPRC", loads: "PHP loads extensions and scripts by it"},
	{names: "DOTNET_STARTUP_HOOKS DOTNET_ADDITIONAL_DEPS DOTNET_SHARED_STORE DOTNET_ROOT* DOTNET_*PROFILER* CORECLR_* COR_* COMPLUS_* ASPNETCORE_HOSTINGSTARTUP* MONO_*",
		loads: ".NET loads assemblies or profilers by it"},
	{names: "LUA_* R_PROFILE* R_ENVIRON* R_LIBS* R_HOME JULIA_* ERL_* ELIXIR_* GUILE_* TCLLIBPATH", loads: "the interpreter loads code by it"},
	{names: "GOFLAGS GOROOT GOTOOLCHAIN RUSTC* CARGO_* CC CXX MAKEFLAGS", loads: "a compiler or build tool starts the programs it names"},

	{names: "GIT_SSH* GIT_EXTERNAL_DIFF GIT_CONFIG* GIT_EXEC_PATH GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_ASKPASS GIT_PROXY_COMMAND GIT_TEMPLATE_DIR GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR SSH_ASKPASS*",
		loads: "Git or SSH starts the programs it names"},
	{names: "EDITOR VISUAL PAGER MANPAGER BROWSER LESSOPEN LESSCLOSE RIPGREP_CONFIG_PATH HELM_PLUGINS KUBECTL_EXTERNAL_DIFF", loads: "programs start the commands in it"},
	{names: "*_EXECUTABLE_PATH PLAYWRIGHT_NODEJS_PATH CHROME_BIN CHROME_PATH CHROMEDRIVER_PATH GIT_PYTHON_GIT_EXECUTABLE IMAGEIO_FFMPEG_EXE FFMPEG_BINARY FFMPEG_PATH " +
		"*_BINARY_PATH BIOME_BINARY PRISMA_*_BINARY PRISMA_*_LIBRARY NAPI_RS_NATIVE_LIBRARY_PATH",
		loads: "a library starts or loads the program it names", harmless: system},
	{names: "PLAYWRIGHT_BROWSERS_PATH PUPPETEER_CACHE_DIR", loads: "a library starts the browser that is there", harmless: regexp.MustCompile(`^(0|/ms-playwright)$`)},
	{names: "PYENV_VERSION RBENV_VERSION NODENV_VERSION"},
	{names: "PYENV_* RBENV_* NODENV_* PIPX_*", loads: "it decides which interpreter is started, and which hooks before it"},
	{names: "OPENSSL_CONF* OPENSSL_MODULES OPENSSL_ENGINES KRB5_CONFIG SASL_PATH ODBCINI ODBCSYSINI ODBCINSTINI", loads: "a library loads the modules it names"},
	{names: "GIO_MODULE_DIR GIO_EXTRA_MODULES GTK_MODULES GTK3_MODULES GTK_PATH GTK_EXE_PREFIX GI_TYPELIB_PATH ALSA_CONFIG_PATH QT_PLUGIN_PATH QT_QPA_PLATFORM_PLUGIN_PATH QML*_IMPORT_PATH MAGICK_* LIBVA_DRIVERS_PATH LIBGL_DRIVERS_PATH VK_* OCL_ICD_* " +
		"GST_PLUGIN_* GDK_PIXBUF_MODULE* HDF5_PLUGIN_PATH GDAL_DRIVER_PATH LIBMYSQL_PLUGIN* GVBINDIR FREI0R_PATH LADSPA_PATH LV2_PATH",
		loads: "a library loads the modules it names"},
}

// Loads describes how a variable makes a program run code that its command line does not name,
// or returns "". Names are case-insensitive, as in npm.
func Loads(name, value string) string {
	upper := strings.ToUpper(name)
	i := familyOf(upper)
	if i == len(families) {
		return ""
	}
	f := families[i]
	if f.harmless != nil && f.harmless.MatchString(value) || value == "" && upper != "PATH" {
		return ""
	}
	return f.loads
}

// LoadsUnknown is Loads for an unknown value.
func LoadsUnknown(name string) string { return Loads(name, "\x00") }

// glob is a pattern of a family that contains "*", with the text before the first and after the last "*".
type glob struct {
	begin, end, pattern string
	family              int
}

// exact has the other names by family. A tenant's object may have a hundred thousand variables, so each lookup must
// be fast.
var exact, globs = indexed(families)

func indexed(families []family) (exact map[string]int, globs []glob) {
	exact = map[string]int{}
	for i, f := range families {
		for name := range strings.FieldsSeq(f.names) {
			if begin, _, isGlob := strings.Cut(name, "*"); isGlob {
				globs = append(globs, glob{begin, name[strings.LastIndexByte(name, '*')+1:], name, i})
			} else if _, known := exact[name]; !known {
				exact[name] = i
			}
		}
	}
	return exact, globs
}

// familyOf returns the index of the first family that has a name; len(families) if none has.
func familyOf(name string) int {
	first, known := exact[name]
	if !known {
		first = len(families)
	}
	for _, g := range globs {
		if g.family >= first {
			break
		}
		if !strings.HasPrefix(name, g.begin) || !strings.HasSuffix(name, g.end) {
			continue
		}
		if ok, err := path.Match(g.pattern, name); ok && err == nil { // names contain no slash, at which * would stop
			return g.family
		}
	}
	return first
}

// Problem returns a sentence about the first variable that loads code, or "".
func Problem(names []string, value func(name string) string) string {
	for _, name := range names {
		if why := Loads(name, value(name)); why != "" {
			return fmt.Sprintf("the environment sets %s, and %s: what was audited may not be what runs without it", name, why)
		}
	}
	return ""
}
