/* program_platform.c - reads the --platform file of a generated program with the compiler's own reader. It is linked
 * into programs together with the front end; libdf calls it through a function pointer in df_program.
 */
#include "compiler/front/program_platform.h"

#include "compiler/front/front.h"
#include "runtime/base/error.h"
#include "runtime/engine/log.h"

int dfc_program_platform(const char *path, struct df_platform *platform, struct df_error *error)
{
    struct dfl_sink *sink = dfl_sink_new(stderr);
    if (!sink)
        return dfr_error_memory(error);
    dfl_sink_program(sink, dfr_program_name());
    bool good = dfc_platform_read(sink, path, NULL, 0, platform);
    dfl_sink_summary(sink);
    dfl_sink_free(sink);
    return good ? DF_OK : dfr_error(error, DF_E_FORMAT, "no platform could be read from '%s'", path);
}
