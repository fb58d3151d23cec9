# The second step of action.yml: runs a command line of bash under gemu exec, which annotates the lines of errors.
#
# GEMU_ACTION_RUN: the command line. GEMU_ACTION_SANITIZE, GEMU_ACTION_TIME_LIMIT: flags of gemu exec; empty: none.
# GEMU_ACTION_OPTIONS: further flags, separated by spaces.
set -euo pipefail
flags=()
[ -z "$GEMU_ACTION_SANITIZE" ] || flags+=("--sanitize=$GEMU_ACTION_SANITIZE")
[ -z "$GEMU_ACTION_TIME_LIMIT" ] || flags+=("--time-limit=$GEMU_ACTION_TIME_LIMIT")
read -r -a options <<<"$GEMU_ACTION_OPTIONS"
exec gemu exec "${flags[@]}" "${options[@]}" -- bash --noprofile --norc -eo pipefail -c "$GEMU_ACTION_RUN"
