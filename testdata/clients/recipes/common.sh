# The common part of the recipes: each is called as RECIPE.sh FOLDER, with gemu on the path, and installs into FOLDER. The status 75 says
# that a recipe could not begin.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=${1:?usage: RECIPE.sh FOLDER}
mkdir -p "$work"
work=$(cd "$work" && pwd)

# requires COMMAND... ends the recipe if a program is missing.
requires() {
  local program
  for program in "$@"; do
    command -v "$program" >/dev/null || { echo "the program $program is missing" >&2; exit 75; }
  done
}

# fetch COMMAND... runs a command that fetches packages, and ends the recipe if it fails.
fetch() {
  "$@" || { echo "packages could not be fetched: status $? of $*" >&2; exit 75; }
}

# packages PACKAGE... installs Python packages into an environment in FOLDER, once.
packages() {
  [ -x "$work/venv/bin/python" ] || python3 -m venv "$work/venv"
  fetch "$work/venv/bin/pip" install --quiet "$@"
  PATH=$work/venv/bin:$PATH
}
requires gemu python3
