/* Of what `dfc wrap` reads the types: corpus.sh compiles it. */
#include <stddef.h>
#include <stdint.h>
typedef struct { float x, y; } point;
typedef const uint8_t *bytes;
enum kind { FIRST, LAST };
struct list { struct list *next; double value[2][3]; };
int n_calls;
void scale(const float *in, float *out, size_t n, float by);
void scale(const float *in, float *out, size_t n, float by) { for (size_t i = 0; i < n; i++) out[i] = by * in[i]; }
double total(const point *p, int n, enum kind kind, _Complex double c, bytes b);
double total(const point *p, int n, enum kind kind, _Complex double c, bytes b) { (void)c, (void)b; return kind == LAST ? p[n - 1].x : p[0].y; }
void each(struct list *l, void (*call)(int, ...), int grid[4][5]);
void each(struct list *l, void (*call)(int, ...), int grid[4][5]) { n_calls++; call(grid[0][0]); l->value[0][0] = 1; }
