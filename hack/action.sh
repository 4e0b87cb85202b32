#!/usr/bin/env bash
# The steps of action.yml. All that a workflow says comes by the environment: nothing of it is read as shell.
set -euo pipefail

# install fetches the release for this machine into DIR/bin, and checks it.
install() {
	[[ $VERSION =~ ^v[0-9]+\.[0-9]+\.[0-9]+ ]] || fail "version: invalid value '$VERSION' (want a release such as v0.9.0, or use the action by one)"
	local arch program
	case $(uname -m) in
	x86_64) arch=amd64 ;;
	aarch64) arch=arm64 ;;
	*) fail "there is no release for $(uname -s) on $(uname -m) (want Linux on x86_64 or aarch64)" ;;
	esac
	program=mcpaudit-linux-$arch
	mkdir -p "$DIR/bin"
	cd "$DIR"
	fetch "$program"
	fetch SHA256SUMS
	if [ -n "$PUBLIC_KEY" ]; then
		fetch SHA256SUMS.sig
		base64 -d SHA256SUMS.sig >signature
		openssl dgst -sha256 -verify "$OLDPWD/$PUBLIC_KEY" -signature signature SHA256SUMS >&2 ||
			fail "public-key: the checksums of $VERSION are not signed with $PUBLIC_KEY"
	fi
	grep -E "^[0-9a-f]{64}  $program\$" SHA256SUMS >expected || fail "SHA256SUMS of $VERSION does not name $program"
	sha256sum --check --strict --status expected || fail "$program is not what SHA256SUMS of $VERSION says"
	mv "$program" bin/mcpaudit
	chmod +x bin/mcpaudit
	bin/mcpaudit version >&2
}

fetch() { curl --fail --silent --show-error --location --retry 3 --output "$1" "$RELEASES/$VERSION/$1" || fail "cannot fetch $RELEASES/$VERSION/$1"; }

# audit audits the server, or each of a configuration, and leaves verdict, report, sarif and the exit code as outputs.
audit() {
	local flags server run token code=0
	read -ra flags <<<"$RUN_FLAGS"
	read -ra server <<<"$SERVER"
	[ -n "$SERVER" ] || [ -n "$CONFIG" ] || fail "server: no value (want the command of a server, or config)"
	[ -z "$SERVER" ] || [ -z "$CONFIG" ] || fail "config: does not go with server"
	run=("$DIR/bin/mcpaudit" run --fail-on "$FAIL_ON" "${flags[@]}")
	# Ubuntu 24.04 lets only root make a user namespace.
	if [ "$(id -u)" != 0 ] && ! unshare --user --map-root-user true 2>/dev/null; then
		run=(sudo --preserve-env env "PATH=$PATH" "${run[@]}")
	fi
	# A line of a server's that begins with "::" is no command to the workflow.
	token=$(openssl rand -hex 16)
	echo "::stop-commands::$token"
	if [ -n "$CONFIG" ]; then
		"${run[@]}" --config "$CONFIG" --all | tee "$DIR/table" || code=$?
		{ echo '```'; cat "$DIR/table"; echo '```'; } >>"$GITHUB_STEP_SUMMARY"
	else
		"${run[@]}" --out-dir "$DIR/audit" -- "${server[@]}" || code=$?
		if [ -s "$DIR/audit/report.json" ]; then
			"$DIR/bin/mcpaudit" show -o markdown "$DIR/audit/report.json" >>"$GITHUB_STEP_SUMMARY"
			"$DIR/bin/mcpaudit" show -o sarif "$DIR/audit/report.json" >"$DIR/mcpaudit.sarif"
			{ echo "report=$DIR/audit/report.json"; echo "sarif=$DIR/mcpaudit.sarif"; } >>"$GITHUB_OUTPUT"
		fi
	fi
	echo "::$token::"
	{ echo "code=$code"; echo "verdict=$(verdict "$code")"; } >>"$GITHUB_OUTPUT"
}

# verdict is what the exit code of mcpaudit run says.
verdict() {
	case $1 in
	0) echo Pass ;;
	3) echo Fail ;;
	*) echo Inconclusive ;;
	esac
}

fail() {
	echo "::error::mcpaudit: $1"
	exit 1
}

case ${1-} in
install | audit) "$1" ;;
*) fail "usage: action.sh install|audit" ;;
esac
