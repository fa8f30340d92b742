#include <png.h>
int square_cpu(struct df_call *call, size_t k, const int32_t *a, int32_t *b)
{
    if (png_access_version_number() == 0)
        return df_fail(call, "no libpng");
    for (size_t i = 0; i < k; i++) b[i] = a[i] * a[i] + 1;
    return DF_OK;
}
