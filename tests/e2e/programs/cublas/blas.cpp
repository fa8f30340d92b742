/* After std/blas.cu: products of matrices that are not square, against sums of the definition; and extents that BLAS cannot count. */
template <class T> static int product(const char *name, int (*multiply)(struct df_call *, cudaStream_t, size_t, size_t, size_t, const T *, const T *, T *))
{
    const size_t m = 5, k = 9, n = 3;
    struct df_call call = { 0 };
    std::vector<T> a(m * k), b(k * n), c(m * n, -1);
    int wrong = 0;
    for (size_t i = 0; i < m * k; i++)
        a[i] = (T)(i % 7);
    for (size_t i = 0; i < k * n; i++)
        b[i] = (T)(i % 5) - 2;
    if (multiply(&call, nullptr, m, k, n, a.data(), b.data(), c.data()) != DF_OK)
        return 1;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            T sum = 0;
            for (size_t l = 0; l < k; l++)
                sum += a[i * k + l] * b[l * n + j];
            wrong += c[i * n + j] != sum;
        }
    printf("%s: %d wrong\n", name, wrong);
    return 0;
}
int main()
{
    struct df_call call = { 0 };
    for (size_t large = 0; large < 3; large++)
        multiply_f32_gpu(&call, nullptr, large == 0 ? 1ul << 31 : 1, large == 1 ? 1ul << 31 : 1, large == 2 ? 1ul << 31 : 1, nullptr, nullptr, nullptr);
    int failed = product("f32", multiply_f32_gpu);
    return product("f64", multiply_f64_gpu) | failed;
}
