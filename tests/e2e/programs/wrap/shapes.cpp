// Functions of C++: namespaces, overloads, templates, references, enums, classes.
#include <cstddef>
#include <vector>

enum class Mode { plain, doubled };

namespace image {
void scale(float *v, int n, float by) { for (int i = 0; i < n; i++) v[i] *= by; }
void scale(double *v, int n, float by) { for (int i = 0; i < n; i++) v[i] *= by; }
namespace detail {
static int hidden(int a) { return a + 1; }
}
}

template <class T> T most(const T *v, std::size_t n)
{
    T best = v[0];
    for (std::size_t i = 1; i < n; i++)
        best = v[i] > best ? v[i] : best;
    return best;
}
template float most<float>(const float *, std::size_t);

void mix(const unsigned *in, const bool *mask, short *out, long count, Mode mode, const float &by, double &sum)
{
    sum = image::detail::hidden(0);
    for (long i = 0; i < count; i++) {
        out[i] = mask[i] ? (short)(in[i] * by * (mode == Mode::doubled ? 2 : 1)) : 0;
        sum += out[i];
    }
}

class Filter {
public:
    int taps = 3;
    void apply(float *v, int n) { v[n - 1] = (float)taps; }
    static void clear(float *v, int n) { for (int i = 0; i < n; i++) v[i] = 0; }
};

void use(float *v, int n) { Filter f; f.apply(v, n); Filter::clear(v, n); }
void grow(std::vector<float> &v) { v.push_back(1); }
