/* After matrix.cu: two products and a sum, against sums of the definition. */
int main()
{
    struct df_call call = { 0 };
    for (size_t m : { (size_t)70, (size_t)16 }) {
        std::vector<float> a(m * m), b(m * m), c(m * m, -1), d(m * m, -1);
        int wrong = 0;
        for (size_t i = 0; i < m * m; i++)
            a[i] = (float)(i % 7), b[i] = (float)(i % 5) - 2;
        if (mm_gpu(&call, nullptr, m, a.data(), b.data(), c.data()) != DF_OK || ma_gpu(&call, nullptr, m, a.data(), b.data(), d.data()) != DF_OK)
            return 1;
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < m; j++) {
                float sum = 0;
                for (size_t k = 0; k < m; k++)
                    sum += a[i * m + k] * b[k * m + j];
                wrong += c[i * m + j] != sum || d[i * m + j] != (a[i * m + j] + b[i * m + j]) / 2;
            }
        printf("%zu: %d wrong\n", m, wrong);
    }
    return 0;
}
