# The first step of action.yml: unpacks an archive of gemu, and puts its command on the path of later steps.
#
# GEMU_ACTION_ARCHIVE: path or URL of the archive; empty: the archive for this processor below GEMU_ACTION_RELEASE.
set -euo pipefail
archive=$GEMU_ACTION_ARCHIVE
if [ -z "$archive" ]; then
  case $(uname -m) in
  x86_64) archive=$GEMU_ACTION_RELEASE/gemu-linux-amd64.tar.gz ;;
  aarch64 | arm64) archive=$GEMU_ACTION_RELEASE/gemu-linux-arm64.tar.gz ;;
  *) echo "::error title=gemu::there is no archive of gemu for the processor $(uname -m): use a runner with Linux on x86-64 or arm64"; exit 2 ;;
  esac
fi
prefix=$RUNNER_TEMP/gemu
mkdir -p "$prefix"
case $archive in
*://*)
  curl --fail --silent --show-error --location --retry 3 --output "$RUNNER_TEMP/gemu.tar.gz" "$archive" || {
    echo "::error title=gemu::$archive cannot be downloaded: name an archive with the input archive"
    exit 2
  }
  archive=$RUNNER_TEMP/gemu.tar.gz
  ;;
esac
[ -f "$archive" ] || { echo "::error title=gemu::there is no archive $archive (input archive)"; exit 2; }
tar -xzf "$archive" -C "$prefix"
"$prefix/bin/gemu" --version
echo "$prefix/bin" >>"$GITHUB_PATH"
