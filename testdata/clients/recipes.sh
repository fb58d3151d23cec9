#!/usr/bin/env bash
# Runs recipes, and says which have run and which have not.
#
#	testdata/clients/recipes.sh FOLDER [RECIPE ...]
#
# Without names it runs all scripts of testdata/clients/recipes. gemu with its libraries must be on the path (cmd/install.sh). Each
# recipe installs into FOLDER/RECIPE, which is removed when it has ended; FOLDER/RECIPE.log has its output. A recipe may take
# 30 minutes, or GEMU_RECIPE_TIME, such as 2h.
#
# The status is 1 if a recipe failed or could not begin: its program is missing, or its packages could not be fetched.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:?usage: recipes.sh FOLDER [RECIPE ...]}
shift
command -v gemu >/dev/null || { echo "recipes.sh: gemu is not on the path: cmd/install.sh PREFIX, and add PREFIX/bin" >&2; exit 2; }
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
if [ $# = 0 ]; then
  for script in "$here"/recipes/*.sh; do
    name=$(basename "$script" .sh)
    [ "$name" = common ] || set -- "$@" "$name"
  done
fi
for name in "$@"; do
  [ -x "$here/recipes/$name.sh" ] || { echo "recipes.sh: there is no recipe $name in $here/recipes" >&2; exit 2; }
done

ran=0 failed=0
for name in "$@"; do
  began=$SECONDS status=0
  timeout --kill-after=10 "${GEMU_RECIPE_TIME:-30m}" "$here/recipes/$name.sh" "$folder/$name" >"$folder/$name.log" 2>&1 </dev/null || status=$?
  rm -rf "${folder:?}/$name"
  case $status in
  0) result=right ran=$((ran + 1)) ;;
  75) result="NOT RUN: $(tail -n 1 "$folder/$name.log")" ;; # of common.sh
  124 | 137) result="FAILED: no end within ${GEMU_RECIPE_TIME:-30m}" ;;
  *) result="FAILED: status $status, $folder/$name.log" ;;
  esac
  [ $status = 0 ] || failed=$((failed + 1))
  printf '%-16s %5d s  %s\n' "$name" $((SECONDS - began)) "$result"
done
printf '%d passed, %d failed\n' "$ran" "$failed"
[ "$failed" = 0 ]
