/* emit_catch.c - prints the function through which kernels are called in programs that contain C++: it catches
 * exceptions and fails the job, as df_fail() does. emit_c.c declares it, build/build_units.c puts it into one unit: it is
 * part of one of the units that are C++ or CUDA anyway. Kernels in C are called through it, too, because they may call
 * C++.
 *
 * Forced:   the forced unwinding of pthread_exit() and pthread_cancel() is passed on.
 * Flags:    with -fno-exceptions the function is a plain call, since nothing in the unit can throw then.
 */
#include "compiler/emit/emit.h"

static const char parameters[] = "(df_function *function, struct df_call *call, void *stream, const size_t *dims, void *const *ports,\n"
                                 "    const union df_scalar *scalars)";

void dfc_emit_catch_prototype(FILE *out)
{
    fprintf(out, "extern int df_catch%s;\n\n", parameters);
}

void dfc_emit_catch(FILE *out)
{
    fprintf(out, "#line 1 \"around the kernels\"\n"
                 "#if defined __cpp_exceptions || defined __EXCEPTIONS\n#include <exception>\n#include <cxxabi.h>\n#include <stdlib.h>\n#endif\n"
                 "extern \"C\" int df_catch%s;\n"
                 "extern \"C\" int df_catch%s\n{\n"
                 "#if defined __cpp_exceptions || defined __EXCEPTIONS\n"
                 "    try {\n"
                 "        return function(call, stream, dims, ports, scalars);\n"
                 "#ifdef __GLIBCXX__\n"
                 "    } catch (abi::__forced_unwind &) {\n"
                 "        throw;\n"
                 "#endif\n"
                 "    } catch (const std::exception &exception) {\n"
                 "        return df_fail(call, \"the kernel threw an exception: %%s\", exception.what());\n"
                 "    } catch (...) {\n"
                 "        const std::type_info *type = abi::__cxa_current_exception_type();\n"
                 "        char *name = type ? abi::__cxa_demangle(type->name(), NULL, NULL, NULL) : NULL;\n"
                 "        df_fail(call, \"the kernel threw %%s, which is no std::exception\", name ? name : \"something\");\n"
                 "        free(name);\n"
                 "        return DF_FAILED;\n"
                 "    }\n"
                 "#else\n"
                 "    return function(call, stream, dims, ports, scalars);\n"
                 "#endif\n}\n", parameters, parameters);
}
