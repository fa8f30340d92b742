#include <cstddef>
#include <cstdio>
/* What libdf asks a device for: by the kernel's own function, or by one of its unit if the name alone does not say which it is. */
struct df_call;
void alone(size_t n, const int *a, int *b);
extern "C" void plain(size_t n, const int *a, int *b);
extern "C" int df_fail(df_call *, const char *, ...) { return 3; }
extern "C" {
const void *df_device_f1(), *df_device_f2(), *df_device_f3(), *df_device_f4(), *df_device_f5(), *df_device_host(), *df_device_here();
}
int main()
{
    const void *unit = df_device_host();
    printf("%d %d\n", df_device_f1() == (const void *)alone, df_device_f5() == (const void *)plain);
    printf("%d %d %d %d\n", df_device_f1() == unit, df_device_f2() == unit, df_device_f3() == unit, df_device_f4() == unit);
    printf("%d %d\n", df_device_here() != NULL, df_device_here() != unit);
}
