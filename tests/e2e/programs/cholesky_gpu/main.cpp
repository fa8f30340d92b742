/* After tiles.cu: both factorisations of 3 x 3 tiles of unlike sizes, and how far L·Lᵀ and L·U are from the matrix. */
struct df_call { void *state; };
extern "C" void *df_opened(struct df_call *call) { return call->state; }
extern "C" void *df_cublas_function(struct df_call *, const char *name) { return dlsym(RTLD_DEFAULT, name); }
extern "C" struct cublasContext *df_cublas(struct df_call *call) { return (struct cublasContext *)call; }
extern "C" int df_fail(struct df_call *, const char *why, ...) { printf("failed: %s\n", why); return DF_FAILED; }

static const size_t rows[] = { 33, 20, 7 }, first[] = { 0, 33, 53 }, n = 60;

template <class T> struct tiles {
    std::vector<T> at[3][3];
    void put(const std::vector<double> &a)
    {
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                for (size_t r = 0; r < rows[i]; r++)
                    for (size_t c = 0; c < rows[j]; c++)
                        at[i][j].push_back((T)a[(first[i] + r) * n + first[j] + c]);
    }
    double get(size_t r, size_t c) const
    {
        int i = r >= first[2] ? 2 : r >= first[1], j = c >= first[2] ? 2 : c >= first[1];
        return at[i][j][(r - first[i]) * rows[j] + c - first[j]];
    }
};

template <class T> static bool cholesky(struct df_call *call, tiles<T> &t)
{
    bool ok = true;
    for (int k = 0; k < 3; k++) {
        ok &= potrf(call, nullptr, rows[k], t.at[k][k].data()) == DF_OK;
        for (int i = k + 1; i < 3; i++)
            ok &= trsm(call, rows[i], rows[k], t.at[k][k].data(), t.at[i][k].data(), RIGHT, LOWER, TRANSPOSED, 0) == DF_OK;
        for (int i = k + 1; i < 3; i++) {
            ok &= syrk(call, rows[i], rows[k], t.at[i][k].data(), t.at[i][i].data()) == DF_OK;
            for (int j = k + 1; j < i; j++)
                ok &= gemm(call, rows[i], rows[j], rows[k], t.at[i][k].data(), t.at[j][k].data(), TRANSPOSED, t.at[i][j].data()) == DF_OK;
        }
    }
    return ok;
}

template <class T> static bool lu(struct df_call *call, tiles<T> &t)
{
    bool ok = true;
    for (int k = 0; k < 3; k++) {
        ok &= getrf(call, nullptr, rows[k], t.at[k][k].data()) == DF_OK;
        for (int i = k + 1; i < 3; i++) {
            ok &= trsm(call, rows[k], rows[i], t.at[k][k].data(), t.at[k][i].data(), LEFT, LOWER, PLAIN, 1) == DF_OK;
            ok &= trsm(call, rows[i], rows[k], t.at[k][k].data(), t.at[i][k].data(), RIGHT, UPPER, PLAIN, 0) == DF_OK;
        }
        for (int i = k + 1; i < 3; i++)
            for (int j = k + 1; j < 3; j++)
                ok &= gemm(call, rows[i], rows[j], rows[k], t.at[i][k].data(), t.at[k][j].data(), PLAIN, t.at[i][j].data()) == DF_OK;
    }
    return ok;
}

template <class T> static void factor_both(struct df_call *call, const char *type, double eps)
{
    for (int symmetric = 0; symmetric < 2; symmetric++) {
        std::vector<double> a(n * n);
        double norm = 0, residual = 0;
        tiles<T> t;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                a[i * n + j] = (i == j ? 60 : 0) + (double)(symmetric ? i * j % 17 + i + j : i * 7 % 13 + j * 3 % 11) / 16;
        t.put(a);
        bool ok = symmetric ? cholesky(call, t) : lu(call, t);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                double sum = 0;
                for (size_t k = 0; k <= i && k <= j; k++)
                    sum += symmetric ? t.get(i, k) * t.get(j, k) : (k == i ? 1 : t.get(i, k)) * t.get(k, j);
                norm += a[i * n + j] * a[i * n + j];
                residual += (a[i * n + j] - sum) * (a[i * n + j] - sum);
            }
        ok = ok && std::sqrt(residual) / ((double)n * std::sqrt(norm) * eps) < 10;
        printf("%s %s: %s\n", symmetric ? "cholesky" : "lu", type, ok ? "right" : "wrong");
    }
}

int main()
{
    struct df_call call = { nullptr };
    if (solver_open(&call, 33, 0, &call.state) != DF_OK)
        return 1;
    printf("%s\n", ((struct solver *)call.state)->library ? "cuSOLVER" : "plain kernels");
    factor_both<double>(&call, "f64", 0x1p-53);
    factor_both<float>(&call, "f32", 0x1p-24);
    solver_close(call.state);
}
