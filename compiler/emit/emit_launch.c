/* emit_launch.c - prints for emit_unit.c the function that launches a bare __global__ function, at the end of its .cu
 * file's unit. Extents are computed as the .df says, in 64 bits with overflow checks, so that no launch gets a wrapped
 * number.
 */
#include "compiler/emit/emit.h"
#include "compiler/types/launch.h"

#include <inttypes.h>

static const char numbers[] =
    "struct number { long long v; bool good; explicit number(long long n, bool g = true) : v(n), good(g) {} };\n"
    "inline number both(number a, number b, long long v) { return number(v, a.good && b.good); }\n"
    "inline number operator+(number a, number b)\n"
    "{ long long v; bool over = __builtin_add_overflow(a.v, b.v, &v); return number(v, a.good && b.good && !over); }\n"
    "inline number operator-(number a, number b)\n"
    "{ long long v; bool over = __builtin_sub_overflow(a.v, b.v, &v); return number(v, a.good && b.good && !over); }\n"
    "inline number operator*(number a, number b)\n"
    "{ long long v; bool over = __builtin_mul_overflow(a.v, b.v, &v); return number(v, a.good && b.good && !over); }\n"
    "inline bool divides(number a, number b) { return b.v != 0 && !(b.v == -1 && a.v == -"
    "9223372036854775807LL - 1); }\n"
    "inline number operator/(number a, number b)\n"
    "{ return divides(a, b) ? both(a, b, a.v / b.v) : number(0, false); }\n"
    "inline number operator%(number a, number b)\n"
    "{ return divides(a, b) ? both(a, b, a.v % b.v) : number(0, false); }\n"
    "inline number operator-(number a) { return number(0) - a; }\n"
    "inline number operator!(number a) { return number(!a.v, a.good); }\n"
    "inline number operator<(number a, number b) { return both(a, b, a.v < b.v); }\n"
    "inline number operator<=(number a, number b) { return both(a, b, a.v <= b.v); }\n"
    "inline number operator>(number a, number b) { return both(a, b, a.v > b.v); }\n"
    "inline number operator>=(number a, number b) { return both(a, b, a.v >= b.v); }\n"
    "inline number operator==(number a, number b) { return both(a, b, a.v == b.v); }\n"
    "inline number operator!=(number a, number b) { return both(a, b, a.v != b.v); }\n"
    "/* what the left side decides, the right one cannot spoil */\n"
    "inline number operator&&(number a, number b) { return a.good && !a.v ? number(0) : both(a, b, a.v && b.v); }\n"
    "inline number operator||(number a, number b) { return a.good && a.v ? number(1) : both(a, b, a.v || b.v); }\n"
    "inline number least(number a, number b) { return both(a, b, a.v < b.v ? a.v : b.v); }\n"
    "inline number most(number a, number b) { return both(a, b, a.v > b.v ? a.v : b.v); }\n"
    "struct extent { const char *name; long long least, most; };\n"
    "inline bool fits(struct df_call *call, const char *kernel, number n, extent e)\n"
    "{\n"
    "    if (!n.good)\n"
    "        df_fail(call, \"launching '%s': %s does not fit in 64 bits, or divides by zero\", kernel, e.name);\n"
    "    else if (n.v < e.least || n.v > e.most)\n"
    "        df_fail(call, \"launching '%s': %s is %lld, it must be from %lld to %lld\", kernel, e.name,\n"
    "                n.v, e.least,\n"
    "                e.most);\n"
    "    return n.good && n.v >= e.least && n.v <= e.most;\n"
    "}\n"
    "inline bool block_fits(struct df_call *call, const char *kernel, dim3 block, unsigned most)\n"
    "{\n"
    "    unsigned long long n = (unsigned long long)block.x * block.y * block.z;\n"
    "    if (n > most)\n"
    "        df_fail(call, \"launching '%s': a block has at most %u threads, this has %llu\", kernel, most, n);\n"
    "    return n <= most;\n"
    "}\n";

/* Without asking, a block may have 48 KiB, static and dynamic bytes together. Beyond that, CUDA wants a function to ask
 * once on each device. Threads that come here together ask for the same, so it does not matter which is first. */
static const char shared_memory[] =
    "/* dynamic bytes that a function may have on each device; 0: not yet known */\n"
    "struct known { long long most[64]; };\n"
    "template <class function>\n"
    "inline bool shared_fits(struct df_call *call, const char *kernel, function *launched, size_t bytes, known *on)\n"
    "{\n"
    "    int device = 0, of_block = 0;\n"
    "    ::cudaFuncAttributes has = ::cudaFuncAttributes();\n"
    "    ::cudaError_t error = ::cudaGetDevice(&device);\n"
    "    bool kept = error == ::cudaSuccess && (size_t)device < sizeof on->most / sizeof *on->most;\n"
    "    if (kept && (long long)bytes <= __atomic_load_n(&on->most[device], __ATOMIC_ACQUIRE))\n"
    "        return true;\n"
    "    if (error == ::cudaSuccess)\n"
    "        error = ::cudaFuncGetAttributes(&has, (const void *)launched);\n"
    "    if (error == ::cudaSuccess && bytes > (size_t)has.maxDynamicSharedSizeBytes) {\n"
    "        error = ::cudaDeviceGetAttribute(&of_block, ::cudaDevAttrMaxSharedMemoryPerBlockOptin, device);\n"
    "        if (error == ::cudaSuccess && bytes + has.sharedSizeBytes > (size_t)of_block) {\n"
    "            df_fail(call, \"launching '%s': %zu bytes of dynamic and %zu of static shared memory; a block of \"\n"
    "                    \"this GPU has at most %d\", kernel, bytes, has.sharedSizeBytes, of_block);\n"
    "            return false;\n"
    "        }\n"
    "        has.maxDynamicSharedSizeBytes = of_block - (int)has.sharedSizeBytes;\n"
    "        if (error == ::cudaSuccess)\n"
    "            error = ::cudaFuncSetAttribute((const void *)launched,\n"
    "                                           ::cudaFuncAttributeMaxDynamicSharedMemorySize,\n"
    "                                           has.maxDynamicSharedSizeBytes);\n"
    "    }\n"
    "    if (error != ::cudaSuccess) {\n"
    "        (void)::cudaGetLastError();\n"
    "        df_fail(call, \"launching '%s' with %zu bytes of shared memory: %s\", kernel, bytes,\n"
    "                ::cudaGetErrorString(error));\n"
    "    } else if (kept)\n"
    "        __atomic_store_n(&on->most[device], (long long)has.maxDynamicSharedSizeBytes, __ATOMIC_RELEASE);\n"
    "    return error == ::cudaSuccess;\n"
    "}\n";

void dfc_emit_launch_prelude(FILE *out)
{
    fprintf(out, "namespace df_generated {\n%s%s}\n", numbers, shared_memory);
}

static void emit_extents(FILE *out, const char *kernel, unsigned n)
{
    static const char *const members[] = { "df_grid.x", "df_grid.y", "df_grid.z", "df_block.x", "df_block.y",
                                           "df_block.z", "df_shared" };
    for (unsigned i = 0; i < n; i++) {
        int64_t least, most;
        enum dfc_extent extent = dfc_launch_extent(n, i);
        const char *name = dfc_launch_limit(extent, &least, &most);
        fprintf(out, "    if (!df_generated::fits(call, \"%s\", df_extents[%u], { \"%s\", %" PRId64 "LL, %" PRId64
                     "LL }))\n        return DF_FAILED;\n    %s = (%s)df_extents[%u].v;\n",
                kernel, i, name, least, most, members[extent], extent == DFC_SHARED ? "size_t" : "unsigned", i);
    }
    fprintf(out, "    if (!df_generated::block_fits(call, \"%s\", df_block, %uu))\n        return DF_FAILED;\n", kernel,
            DFC_MAX_BLOCK);
}

void dfc_emit_launch(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code,
                     const struct dfl_variant *variant)
{
    unsigned n;
    const char *kernel = code->ast->name.text, *file = dfl_sink_file_name(front->sink, variant->target.loc.file);
    fputs("    const df_generated::number df_extents[] = { ", out);
    n = dfc_launch_print(out, front, code, variant);
    fputs(" };\n    ::dim3 df_grid, df_block;\n    size_t df_shared = 0;\n", out);
    emit_extents(out, kernel, n);
    if (n % 2 == 1) {
        fprintf(out, "    static df_generated::known df_known;\n"
                     "    if (!df_generated::shared_fits(call, \"%s\",\n", kernel);
        dfc_emit_line(out, variant->target.loc.line, file);
        fprintf(out, "%*s%s, df_shared, &df_known))\n        return DF_FAILED;\n", (int)variant->target.loc.col - 1, "",
                variant->target.text);
    }
    dfc_emit_line(out, variant->target.loc.line, file);
    fprintf(out, "%*s%s<<<df_grid, df_block, df_shared, stream>>>(", (int)variant->target.loc.col - 1, "",
            variant->target.text);
    dfc_emit_arguments(out, front, code, variant, "");
    fputs(");\n    return DF_OK;\n", out);
}
