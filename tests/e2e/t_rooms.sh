# tests/rooms.py sees an include and a call that a room may not have: planted in a copy of the tree, with objects of their own.
if [ ! -d "$DF_SOURCE/compiler" ]; then skip rooms 'not a source tree'; exit 0; fi
mkdir -p copy/docs copy/tests && cp "$DF_SOURCE/docs/architecture.md" copy/docs/ && cp "$DF_SOURCE/tests/rooms.py" copy/tests/
(cd "$DF_SOURCE" && find dsl runtime memmgr partition profiles compiler -name '*.[chly]' -exec cp --parents -t "$OLDPWD/copy" {} +)
echo '#include "compiler/load/load.h"' >>copy/runtime/base/bytes.c
echo 'int dfc_planted(void) { return dfr_planted(); }' >copy/memmgr/planted.c
echo 'int dfr_planted(void) { return 1; }' >copy/runtime/start/planted.c
for f in memmgr/planted runtime/start/planted; do mkdir -p "built/obj/${f%/*}"; cc -w -c -o "built/obj/$f.o" "copy/$f.c"; done
mv built copy/
expect include 1 '^not ok runtime/base: bytes.c includes compiler/load/load.h$' python3 copy/tests/rooms.py copy/built
expect symbol 1 '^not ok memmgr: planted.c uses dfr_planted\(\) of runtime/start/planted.c$' python3 copy/tests/rooms.py copy/built
mkdir copy/runtime/attic && echo 'int dfr_old;' >copy/runtime/attic/old.c
expect unlisted 1 '^not ok runtime/attic: old.c lies in a room that docs/architecture.md does not list$' python3 copy/tests/rooms.py
