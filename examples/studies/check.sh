#!/bin/bash
# check.sh BUILDDIR OUTDIR: runs each study, and compares what it makes with the page that shows it.
set -u
here=$(cd "$(dirname "$0")" && pwd) build=$(cd "$1" && pwd) pages=$(cd "$(dirname "$0")/../../docs/results" && pwd) || exit 1
mkdir -p "$2" && cd "$2" || exit 1
bad=0
told() { if [ "$1" = 0 ]; then echo "ok     $2"; else echo "FAILED $2"; bad=1; fi; }
same() { for file in "${@:3}"; do cmp "$1/$file" "$2/$file" || return 1; done; }
figures() { grep '^[|`].*[0-9]\.[0-9]' "$1"; }

python3 "$here/thesis.py" "$build" --check="$pages/thesis"; told $? thesis
"$here/volume.sh" "$build" volume && same volume "$pages/thesis" ct.csv ct.svg overlap.csv; told $? volume
python3 "$here/nuclei/platforms.py" "$build" platforms >platforms.md && diff <(figures "$pages/nuclei/README.md") <(figures platforms.md); told $? nuclei
mkdir -p streams && python3 "$here/streams.py" "$build" streams && same streams "$pages" streams.md streams.csv streams.svg; told $? streams
exit $bad
