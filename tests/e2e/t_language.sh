# The examples of docs/language.md that are files, commands and what these print: files have a name behind the fence, `sh` is run, and each
# line of `text` must be in what it said.
export NVCC=none PATH=${DFC%/*}:$PATH
long || formulas_for none
awk '/^```/ { kind = kind ? "" : NF > 1 ? "file" : length($1) > 3 ? substr($1, 4) : "other"
              if (kind == "") next
              name = kind == "file" ? $2 : sprintf("%03d.%s", ++n, kind); printf "" > name; next }
     kind { print > name }' "$DF_SOURCE/docs/language.md"
for block in [0-9][0-9][0-9].*; do
    case $block in
        *.sh) if sh -e "$block" >said 2>&1; then pass "runs-$(head -n 1 "$block")"; else fail "runs-$block" "$(tail -n 5 said)"; fi ;;
        *.text) while IFS= read -r line; do
                if grep -qxF -- "$line" said; then pass "says-$line"; else fail "says-$line" "$(cat said)"; fi
            done <"$block" ;;
    esac
done

# The table of element types in docs/language.md is that of runtime/elements.def.
cat >elements.c <<'EOF'
#include <inttypes.h>
#include <stdio.h>
int main(void)
{
#define DF_ELEMENT(ID, name, type, bytes, least, most, formula, numpy) \
    if ((most) == 0) printf("| `%s` | `%s` | %d | binary%d%s | `%c%s` | `%s` |\n", #name, #type, bytes, 8 * bytes, bytes == 2 ? ", as bits in C" : "", \
                            #formula[0] + 32, #formula + 1, numpy + 1); \
    else printf("| `%s` | `%s` | %d | %" PRId64 " to %" PRId64 " | `%c%s` | `%s` |\n", #name, #type, bytes, (int64_t)(least), (int64_t)(most), \
                #formula[0] + 32, #formula + 1, numpy + 1);
#include "runtime/elements.def"
    return 0;
}
EOF
check elements-compile cc -w -I"$DF_SOURCE" elements.c -o elements; ./elements >elements.want
grep -E '^\| `[uif][0-9]+` \| `' "$DF_SOURCE/docs/language.md" >elements.page; same elements-table elements.page elements.want
