# shellcheck shell=bash
# Shared by the other scripts, which source it with the repository's root as the working folder. All its messages go to stderr: stdout
# belongs to the program that runs at the end.

servers_dir="${PELWATCH_TEST_SERVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/pelwatch/servers}"

say() { printf '%s\n' "$*" >&2; }

die() {
  say "$*"
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif has sudo; then
    sudo "$@"
  else
    say "this needs root, and there is no sudo: $*"
    return 1
  fi
}

# Prints `redis 7.0.15` for a binary that runs here and is a server, else fails. Valkey 7.2 does not print its name.
server_version() {
  local line
  line=$("$1" --version 2>/dev/null) || return 1
  case $line in
    'Redis server v='*) line="redis ${line#*v=}" ;;
    *[Ss]'erver v='*) line="valkey ${line#*v=}" ;;
    *) return 1 ;;
  esac
  printf '%s\n' "${line%% sha=*}"
}

# Prints the path of every available server binary that runs: first those on PATH, then the fetched ones.
server_binaries() {
  local bin
  for bin in "$(command -v redis-server)" "$(command -v valkey-server)" "$servers_dir"/*/redis-server \
    "$servers_dir"/*/valkey-server; do
    if [ -n "$bin" ] && [ -x "$bin" ] && server_version "$bin" >/dev/null; then printf '%s\n' "$bin"; fi
  done
}

# Prints the different versions that are available, one a line.
server_versions() {
  local bin
  server_binaries | while IFS= read -r bin; do server_version "$bin"; done | sort -u -V
}

# Fails with a sentence when fewer servers are available than PELWATCH_TEST_LEAST requires: '4 versions, 3 majors, valkey'. Majors count
# for Redis only. Without the variable any number is enough: a user without a network tests on what is there.
check_least() {
  local want have versions
  [ -n "${PELWATCH_TEST_LEAST:-}" ] || return 0
  versions=$(server_versions)
  while IFS= read -r want; do
    case $want in
      *' versions') have=$(grep -c . <<<"$versions") ;;
      *' majors') have=$(sed -n 's/^redis \([0-9]*\)\..*/\1/p' <<<"$versions" | sort -u | grep -c .) ;;
      redis | valkey) have=$(grep -c "^$want " <<<"$versions") ;;
      *) die "PELWATCH_TEST_LEAST asks for '$want', which is neither 'N versions' nor 'N majors' nor redis nor valkey" ;;
    esac || true
    case $want in *' '*) ;; *) want="1 $want" ;; esac
    [ "$have" -ge "${want%% *}" ] ||
      die "this run must have at least $PELWATCH_TEST_LEAST, and has only: $(tr '\n' ',' <<<"$versions" | sed 's/,$//; s/,/, /g')." \
        "scripts/servers says why the others could not be fetched."
  done < <(tr ',' '\n' <<<"$PELWATCH_TEST_LEAST" | sed 's/^ *//; s/ *$//')
}

# Installs a package. Each package manager has its own name for it; an empty name means that it has none.
install_package() {
  local apt=$1 dnf=$2 apk=$3 pacman=$4 brew=$5
  # The names are split on purpose: one can stand for several packages.
  # shellcheck disable=SC2086
  if has brew && [ -n "$brew" ]; then
    brew install $brew >&2
  elif has apt-get && [ -n "$apt" ]; then
    as_root apt-get update -qq >&2 &&
      as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $apt >&2
  elif has dnf && [ -n "$dnf" ]; then
    as_root dnf install -y -q $dnf >&2
  elif has apk && [ -n "$apk" ]; then
    as_root apk add -q $apk >&2
  elif has pacman && [ -n "$pacman" ]; then
    as_root pacman -S --needed --noconfirm $pacman >&2
  else
    say "no package manager known here has it"
    return 1
  fi
}

# On Debian and Ubuntu the package redis-server has only a service, which starts on installation, and a link named redis-server to the
# binary in the package redis-tools. That binary is the server when it is called by that name. So redis-tools alone and a link of our own
# give the server and leave the system's services unchanged.
link_redis_tools() {
  local tool link="$servers_dir/system/redis-server"
  tool=$(command -v redis-check-rdb) || return 1
  server_version "$link" >/dev/null && return
  mkdir -p "$servers_dir/system"
  ln -sfn "$tool" "$link"
  server_version "$link" >/dev/null && return
  rm -f "$link"
  return 1
}

# Prints the path of the newest Redis available, or else of the newest Valkey.
newest_server() {
  local bin
  server_binaries | while IFS= read -r bin; do printf '%s %s\n' "$(server_version "$bin")" "$bin"; done | sort -V |
    awk '/^redis / { redis = $0 } { last = $0 } END { print (redis != "" ? redis : last) }' | cut -d ' ' -f 3-
}

have_a_server() { [ -n "$(server_binaries)" ]; }

have_system_server() { has redis-server || has valkey-server || link_redis_tools; }

# Installs a server with the package manager. None of these packages starts a service on its own.
install_server() {
  say "neither redis-server nor valkey-server is on PATH: installing one (it is not started as a service)"
  install_package redis-tools valkey redis valkey redis && have_system_server && return
  say "the package manager could not install it"
  return 1
}

# Ensures that there is a server binary, and passes its path to pelwatch if it is not on PATH.
ensure_server() {
  if [ -n "${PELWATCH_SERVER_BIN:-}" ]; then return; fi
  have_a_server || have_system_server || install_server || scripts/servers ||
    die "pelwatch needs the binary of a Redis or Valkey server for this: put redis-server or valkey-server on PATH," \
      "or set PELWATCH_SERVER_BIN to the absolute path of one, and start this again."
  if ! has redis-server && ! has valkey-server; then
    PELWATCH_SERVER_BIN=$(newest_server)
    export PELWATCH_SERVER_BIN
  fi
}

# Ensures that there is an sshd for the tests of --via. None of these packages is needed by pelwatch itself.
ensure_sshd() {
  if { has sshd || [ -x /usr/sbin/sshd ]; } && has ssh-keygen; then return; fi
  say "sshd is missing: installing it for the tests (the package may start a service)"
  install_package 'openssh-server openssh-client' 'openssh-server openssh-clients' openssh openssh '' || return 1
}

# Ensures that Rust programs can be built.
ensure_rust() {
  # A shell that was started before Rust was installed does not know its path.
  if ! has cargo && [ -x "$HOME/.cargo/bin/cargo" ]; then PATH="$HOME/.cargo/bin:$PATH"; fi
  has cargo || die "cargo is missing. Install Rust 1.88 or later, as https://rustup.rs says, and start this again."
  if ! has cc; then
    say "there is no C compiler, which Rust needs for linking: installing one"
    install_package 'gcc libc6-dev' gcc build-base gcc '' || die "Install a C compiler (cc) and start this again."
  fi
}
