// halide.cpp - the filters in Halide 14, each under a schedule by hand of the kind of Halide's own examples (strips of
// rows; stages slide within a strip), and under the one that Mullapudi's autoscheduler finds. Harris has the schedule in
// tiles, too. All are for one thread: nothing is parallel, and the script sets HL_NUM_THREADS=1.
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>

#include <Halide.h>

#include "contender.h"

using namespace Halide;

enum schedule { STRIPS, TILES, AUTO };

static Var x("x"), y("y"), c("c"), yo("yo"), yi("yi"), xo("xo"), xi("xi");
static const int STRIP = 32;

// A filter that is compiled: the picture's parameter and the result.
struct compiled {
    ImageParam in;
    Func out;
    Buffer<uint8_t> curve;              // of the camera
    size_t h = 0, w = 0;
};

static int lanes() { return get_jit_target_from_environment().natural_vector_size<float>(); }

static Func by_rows(Func f, Func at, Var store, Var compute)
{
    return f.store_at(at, store).compute_at(at, compute).vectorize(f.args()[0], lanes());
}

static void strips(Func out)
{
    out.split(y, yo, yi, STRIP).vectorize(x, lanes());
}

// ---- Harris: Halide's apps/harris ----

static void harris(compiled &f, schedule how)
{
    Func Ix("Ix"), Iy("Iy"), sx("sx"), sy("sy"), sxy("sxy");
    f.in = ImageParam(Float(32), 2);
    auto p = [&](int j, int i) -> Expr { return f.in(x + 1 + i, y + 1 + j); };
    Ix(x, y) = ((p(-1, 1) - p(-1, -1)) + 2 * (p(0, 1) - p(0, -1)) + (p(1, 1) - p(1, -1))) * (1.f / 12);
    Iy(x, y) = ((p(1, -1) - p(-1, -1)) + 2 * (p(1, 0) - p(-1, 0)) + (p(1, 1) - p(-1, 1))) * (1.f / 12);
    auto sum = [&](Func to, Func a, Func b) {
        Expr all = 0.f;
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 3; i++)
                all = j + i ? all + a(x + i, y + j) * b(x + i, y + j) : a(x, y) * b(x, y);
        to(x, y) = all;
    };
    sum(sx, Ix, Ix), sum(sy, Iy, Iy), sum(sxy, Ix, Iy);
    Expr trace = sx(x, y) + sy(x, y);
    f.out(x, y) = sx(x, y) * sy(x, y) - sxy(x, y) * sxy(x, y) - HARRIS_K * trace * trace;
    if (how == STRIPS) {
        strips(f.out);
        by_rows(Ix, f.out, yo, yi), by_rows(Iy, f.out, yo, yi);
        Ix.compute_with(Iy, x);
    } else if (how == TILES) {
        f.out.tile(x, y, xo, yo, xi, yi, 256, 32).vectorize(xi, lanes());
        Ix.compute_at(f.out, xo).vectorize(x, lanes());
        Iy.compute_at(f.out, xo).vectorize(x, lanes());
    }
}

// ---- unsharp mask: PolyMage's ----

static Expr five(const std::function<Expr(int)> &at)
{
    return at(0) + 4 * at(1) + 6 * at(2) + 4 * at(3) + at(4);
}

static void unsharp(compiled &f, schedule how)
{
    Func down("down"), blurred("blurred");
    f.in = ImageParam(Float(32), 3);
    down(x, y, c) = five([&](int i) { return f.in(x, y + i, c); }) * (1.f / 16);
    blurred(x, y, c) = five([&](int i) { return down(x + i, y, c); }) * (1.f / 16);
    Expr v = f.in(x + 2, y + 2, c), b = blurred(x, y, c);
    f.out(x, y, c) = select(abs(v - b) < UNSHARP_THRESHOLD, v, v * (1 + UNSHARP_WEIGHT) - b * UNSHARP_WEIGHT);
    if (how == STRIPS) {
        strips(f.out);
        down.compute_at(f.out, yi).vectorize(x, lanes());
    }
}

// ---- bilateral filter ----

static void bilateral(compiled &f, schedule how)
{
    f.in = ImageParam(Float(32), 2);
    Func edged = BoundaryConditions::mirror_interior(f.in);
    Expr weights = 0.f, sum = 0.f, here = edged(x, y);
    for (int j = -2; j <= 2; j++)
        for (int i = -2; i <= 2; i++) {
            if (i * i + j * j > 4)
                continue;
            Expr there = edged(x + i, y + j), far = there - here;
            float space = -(i * i + j * j) / (2 * BILATERAL_SPACE * BILATERAL_SPACE);
            Expr weight = exp(space - far * far * (1 / (2 * BILATERAL_RANGE * BILATERAL_RANGE)));
            weights += weight;
            sum += weight * there;
        }
    f.out(x, y) = sum / weights;
    if (how == STRIPS)
        strips(f.out);
}

// ---- Gauss, Sobel, length ----

static void sobel(compiled &f, schedule how)
{
    Func down("down"), blurred("blurred");
    f.in = ImageParam(UInt(8), 2);
    Func edged = BoundaryConditions::mirror_interior(f.in);
    down(x, y) = five([&](int i) { return cast<uint16_t>(edged(x, y - 2 + i)); });
    blurred(x, y) = cast<uint8_t>((five([&](int i) { return cast<uint32_t>(down(x - 2 + i, y)); }) + 128) >> 8);
    // written so that Halide sees how little it moves: by mirror_interior() every strip would need the whole of `blurred`
    auto mirror = [](Expr at, Expr n) {
        Expr turned = clamp(at + 2 * clamp(-at, 0, 1) - 2 * clamp(at - (n - 1), 0, 1), 0, n - 1);
        return select(at < 0 || at > n - 1, turned, clamp(likely(at), 0, n - 1));
    };
    Func again("again");
    if (how == AUTO)                    // does better with it
        again(x, y) = cast<int16_t>(BoundaryConditions::mirror_interior(blurred, { { 0, f.in.width() }, { 0, f.in.height() } })(x, y));
    else
        again(x, y) = cast<int16_t>(blurred(mirror(x, f.in.width()), mirror(y, f.in.height())));
    auto q = [&](int j, int i) { return again(x + i, y + j); };
    Expr dx = cast<int32_t>((q(-1, 1) - q(-1, -1)) + 2 * (q(0, 1) - q(0, -1)) + (q(1, 1) - q(1, -1)));
    Expr dy = cast<int32_t>((q(1, -1) - q(-1, -1)) + 2 * (q(1, 0) - q(-1, 0)) + (q(1, 1) - q(-1, 1)));
    f.out(x, y) = cast<uint8_t>(min(round(sqrt(cast<float>(dx * dx + dy * dy))), 255.f));
    if (how == STRIPS) {
        strips(f.out);
        blurred.compute_at(f.out, yo).vectorize(x, lanes());
        down.compute_at(blurred, y).vectorize(x, lanes());
    }
}

// ---- camera pipe: examples/filters/camera.df ----

static Expr site(Expr even_even, Expr even_odd, Expr odd_even, Expr odd_odd)
{
    return select(y % 2 == 0, select(x % 2 == 0, even_even, even_odd), select(x % 2 == 0, odd_even, odd_odd));
}

// Red from the differences at its sites; blue is the same, moved by (1, 1).
static Func spread(Func k, Func g, bool red)
{
    Func to(red ? "red" : "blue");
    auto d = [&](int j, int i) { return k(x + 1 + i, y + 1 + j); };
    Expr here = d(0, 0), across = (d(0, -1) + d(0, 1)) * 0.5f, down = (d(-1, 0) + d(1, 0)) * 0.5f;
    Expr four = (d(-1, -1) + d(-1, 1) + d(1, -1) + d(1, 1)) * 0.25f;
    to(x, y) = g(x + 1, y + 1) + (red ? site(here, across, down, four) : site(four, down, across, here));
    return to;
}

static Expr curve_of(const Buffer<uint8_t> &curve, Expr v)
{
    return curve(clamp(cast<int32_t>(round(1023 * v)), 0, 1023));
}

static void camera(compiled &f, schedule how)
{
    Func denoise("denoise"), level("level"), green("green"), chroma("chroma"), luma("luma"), down("down"), detail("detail");
    f.in = ImageParam(UInt(16), 2);
    f.curve = Buffer<uint8_t>(1024);
    for (int i = 0; i < 1024; i++)
        f.curve(i) = (uint8_t)lrintf(255 * powf(i / 1023.f, 1 / 2.2f));
    // Sliding over several stages, Halide 14 begins some rows above the picture; these are not used.
    auto p = [&](int j, int i) { return f.in(x + 2 + i, how == AUTO ? y + 2 + j : clamp(y + 2 + j, 0, f.in.height() - 1)); };
    denoise(x, y) = clamp(p(0, 0), min(min(p(-2, 0), p(2, 0)), min(p(0, -2), p(0, 2))),
                          max(max(p(-2, 0), p(2, 0)), max(p(0, -2), p(0, 2))));
    Expr light = cast<float>(max(cast<int32_t>(denoise(x, y)) - 64, 0));
    level(x, y) = min(site(1.9f, 1.0f, 1.0f, 1.6f) * light / 959.f, 1.f);
    auto l = [&](int j, int i) { return level(x + 1 + i, y + 1 + j); };
    green(x, y) = select((x + y) % 2 == 1, l(0, 0),
                         select(abs(l(0, -1) - l(0, 1)) < abs(l(-1, 0) - l(1, 0)), (l(0, -1) + l(0, 1)) * 0.5f, (l(-1, 0) + l(1, 0)) * 0.5f));
    chroma(x, y) = l(0, 0) - green(x, y);
    Func red = spread(chroma, green, true), blue = spread(chroma, green, false), rgb[3] = { Func("r"), Func("g"), Func("b") };
    static const float matrix[3][3] = { { 1.6f, -0.5f, -0.1f }, { -0.2f, 1.4f, -0.2f }, { -0.1f, -0.6f, 1.7f } };
    for (int i = 0; i < 3; i++)
        rgb[i](x, y) = matrix[i][0] * red(x, y) + matrix[i][1] * green(x + 1, y + 1) + matrix[i][2] * blue(x, y);
    luma(x, y) = 0.299f * rgb[0](x, y) + 0.587f * rgb[1](x, y) + 0.114f * rgb[2](x, y);
    down(x, y) = five([&](int i) { return luma(x, y + i); });
    Expr v = luma(x + 2, y + 2) - five([&](int i) { return down(x + i, y); }) * (1.f / 256);
    detail(x, y) = select(abs(v) < 0.004f, 0.f, v);
    Expr sharp[3];
    for (int i = 0; i < 3; i++)
        sharp[i] = curve_of(f.curve, clamp(rgb[i](x + 2, y + 2) + detail(x, y), 0.f, 1.f));
    f.out(c, x, y) = mux(c, { sharp[0], sharp[1], sharp[2] });
    f.out.bound(c, 0, 3);
    f.out.output_buffer().dim(0).set_bounds(0, 3);
    f.out.output_buffer().dim(1).set_stride(3);
    if (how == STRIPS) {
        f.out.reorder(c, x, y).unroll(c).split(y, yo, yi, STRIP).vectorize(x, lanes());
        for (Func stage : { level, green, chroma, red, blue, rgb[0], rgb[1], rgb[2], luma })
            by_rows(stage, f.out, yo, yi);
        down.compute_at(f.out, yi).vectorize(x, lanes());
        detail.compute_at(f.out, yi).vectorize(x, lanes());
    }
}

// ---- compiling and running ----

struct entry {
    const char *filter, *name;
    void (*make)(compiled &, schedule);
    schedule how;
    unsigned cut;                       // pixels that the result is smaller by, each way
    Type type;
    int planes;                         // 3 behind each other, -3 interleaved, 1
};

static const entry entries[] = {
    { "harris", "Halide, strips", harris, STRIPS, 4, Float(32), 1 },
    { "harris", "Halide, tiles", harris, TILES, 4, Float(32), 1 },
    { "harris", "Halide, Mullapudi", harris, AUTO, 4, Float(32), 1 },
    { "unsharp", "Halide, strips", unsharp, STRIPS, 4, Float(32), 3 },
    { "unsharp", "Halide, Mullapudi", unsharp, AUTO, 4, Float(32), 3 },
    { "bilateral", "Halide, strips", bilateral, STRIPS, 0, Float(32), 1 },
    { "bilateral", "Halide, Mullapudi", bilateral, AUTO, 0, Float(32), 1 },
    { "sobel", "Halide, strips", sobel, STRIPS, 0, UInt(8), 1 },
    { "sobel", "Halide, Mullapudi", sobel, AUTO, 0, UInt(8), 1 },
    { "camera", "Halide, strips", camera, STRIPS, 12, UInt(8), -3 },
    { "camera", "Halide, Mullapudi", camera, AUTO, 12, UInt(8), -3 },
};
static const size_t N = sizeof entries / sizeof *entries;

static Region region(const entry &e, size_t h, size_t w)
{
    Region r = { { 0, (int)w }, { 0, (int)h } };
    if (e.planes == 3)
        r.push_back({ 0, 3 });
    else if (e.planes == -3)
        r.insert(r.begin(), { 0, 3 });
    return r;
}

static std::vector<int> sizes(const Region &r)
{
    std::vector<int> s;
    for (const Range &one : r)
        s.push_back(*as_const_int(one.extent));
    return s;
}

static void make(compiled &f, const entry &e, size_t h, size_t w)
{
    f = compiled();
    f.h = h, f.w = w;
    e.make(f, e.how);
    f.in.dim(0).set_bounds(0, (int)w);
    f.in.dim(1).set_bounds(0, (int)h);
    if (e.how == AUTO) {
        entry input = e;
        input.planes = e.planes == 3 ? 3 : 1;
        f.in.set_estimates(region(input, h, w));
        f.out.set_estimates(region(e, h - e.cut, w - e.cut));
        Pipeline(f.out).auto_schedule("Mullapudi2016", get_jit_target_from_environment(), MachineParams(1, 16 << 20, 40));
    }
    f.out.compile_jit();
}

static int run(size_t number, const void *in, size_t h, size_t w, void *out)
{
    static compiled all[N];
    const entry &e = entries[number];
    compiled &f = all[number];
    if (f.h != h || f.w != w)
        make(f, e, h, w);
    entry input = e;
    input.planes = e.planes == 3 ? 3 : 1;
    f.in.set(Buffer<>(f.in.type(), const_cast<void *>(in), sizes(region(input, h, w))));
    Buffer<> to(e.type, out, sizes(region(e, h - e.cut, w - e.cut)));
    f.out.realize(to);
    return 0;
}

template <size_t I> static int run_entry(const void *in, size_t h, size_t w, void *out) { return run(I, in, h, w, out); }

template <size_t... I> static void list(const char *filter, std::vector<contender> &to, std::index_sequence<I...>)
{
    ((strcmp(entries[I].filter, filter) == 0 ? to.push_back({ entries[I].name, run_entry<I> }) : (void)0), ...);
}

extern "C" const struct contender *contenders(const char *filter)
{
    static std::vector<contender> of_filter;
    load_plugin(MULLAPUDI);
    list(filter, of_filter, std::make_index_sequence<N>());
    of_filter.push_back({ nullptr, nullptr });
    return of_filter.data();
}
