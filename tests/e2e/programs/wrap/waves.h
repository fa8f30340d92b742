/* A library that is a header, as some are: its functions are there if the source asks for them. */
void waves_fill(float *v, int n);
float waves_peak(const float *v, int n);
#ifdef WAVES_IMPLEMENTATION
static int waves_a, waves_b, waves_c, waves_d, waves_e, waves_f, waves_g, waves_h, waves_calls;
static float waves_at(int i) { return i % 8; }
void waves_fill(float *v, int n)
{
    waves_calls += 1 + waves_a + waves_b + waves_c + waves_d + waves_e + waves_f + waves_g + waves_h;
    for (int i = 0; i < n; i++)
        v[i] = waves_at(i);
}
float waves_peak(const float *v, int n)
{
    float peak = v[0];
    for (int i = 1; i < n; i++)
        peak = v[i] > peak ? v[i] : peak;
    return peak;
}
#endif
