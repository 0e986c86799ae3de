# Puts the packages of the console in place, once for each lock of them: source it after _venv.sh, which sets `root`.
#
# Weft runs without them (the gateway then says at / how to get them), so nothing here fails a start: no npm, no network, no right to write.
# shellcheck shell=bash

ensure_console() {
  local folder=$root/actors/gateway/console wanted
  command -v npm > /dev/null || return 0
  wanted=$(cksum < "$folder/package-lock.json" | tr ' ' -)
  [ "$(cat "$folder/node_modules/.weft" 2> /dev/null)" = "$wanted" ] && return
  (
    cd "$folder" || exit
    if command -v flock > /dev/null; then flock 9; fi
    [ "$(cat node_modules/.weft 2> /dev/null)" = "$wanted" ] && exit
    printf '%s: installing the packages of the console\n' "${0##*/}" >&2
    if npm ci --prefer-offline --no-progress --fetch-retries=0 --fetch-timeout=15000 --loglevel=silent > /dev/null 2>&1 9<&-; then
      printf '%s\n' "$wanted" > node_modules/.weft
    else
      printf '%s: no console yet: npm could not get its packages (`npm config set registry` names another registry)\n' "${0##*/}" >&2
    fi
  ) 9< "$folder/package-lock.json" || true
}
