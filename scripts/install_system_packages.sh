#!/usr/bin/env bash
# Installs the packages of scripts/debian-packages.txt that this machine lacks; quick when it lacks
# none. On a machine without dpkg it only names what to install by other means.
set -euo pipefail

list="$(dirname "${BASH_SOURCE[0]}")/debian-packages.txt"
mapfile -t packages < <(sed -e 's/#.*//' -e 's/[[:space:]]*$//' "$list" | grep -v '^$')

if ! command -v dpkg-query >/dev/null; then
  echo "This is not a Debian system: please install what these Debian packages hold:" >&2
  printf '  %s\n' "${packages[@]}" >&2
  exit 0
fi

installed="$(dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null |
  sed -n 's/^installed //p' || true)"
missing=()
for package in "${packages[@]}"; do
  grep -qxF "$package" <<<"$installed" || missing+=("$package")
done
[ "${#missing[@]}" -eq 0 ] && exit 0

echo "Missing system packages: ${missing[*]}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "Installing them needs root. Run as root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
"${as_root[@]}" apt-get update
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install --yes --no-install-recommends "${missing[@]}"
