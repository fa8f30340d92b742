int main()
{
    int x[1];
    df_target_f_gpu(NULL, NULL, 20, 40, x, x, 1, 64);
    df_target_f_gpu(NULL, NULL, 20, 40, x, x, 0, 64);                        /* || does not divide */
    df_target_f_gpu(NULL, NULL, 2000, 33, x, x, 2, 20000);
    df_target_f_gpu(NULL, NULL, 20, 40, x, x, 8, 64);                        /* a block of 0 */
    df_target_f_gpu(NULL, NULL, 20, 40, x, x, -70000, 64);
    df_target_f_gpu(NULL, NULL, 20, 40, x, x, 1, INT64_MAX);
    df_target_f_gpu(NULL, NULL, 20, 40, x, x, 1, -1);
}
