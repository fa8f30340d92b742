/* What no kernel can call as it is. */
struct image { float *data; int w, h; };
void blur(struct image *image, int radius) { image->w = radius; }
void rows(float **m, int h, int w) { m[h - 1][w - 1] = 1; }
float each(const float *v, int n, float (*f)(float)) { return f(v[n - 1]); }
int say(const char *format, ...) { return format != 0; }
void area(struct image image, double *a) { *a = image.w * image.h; }
void wide(long double *x, int n) { x[n - 1] = 0; }
