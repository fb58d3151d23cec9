# The common part of the recipes: each is called as RECIPE.sh FOLDER, with gemu on the path, and installs into FOLDER.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=${1:?usage: RECIPE.sh FOLDER}
mkdir -p "$work"
work=$(cd "$work" && pwd)

# packages PACKAGE... installs Python packages into an environment in FOLDER, once.
packages() {
  [ -x "$work/venv/bin/python" ] || python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet "$@"
  PATH=$work/venv/bin:$PATH
}
