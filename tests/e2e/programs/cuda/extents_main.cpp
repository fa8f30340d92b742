int main()
{
    int x[1];
    df_target_f_gpu(NULL, NULL, 20, 40, x, x, 1, 64);
    df_target_f_gpu(NULL, NULL, 20, 40, x, x, 0, 64);                        /* || does not divide */
    df_target_f_gpu(NULL, NULL, 20, 40, x, x, 1, 10240);                     /* 40 KiB: as many as need no asking */
    df_target_f_gpu(NULL, NULL, 20, 40, x, x, 1, 11264);                     /* 44 KiB: too many with the static ones */
    df_target_f_gpu(NULL, NULL, 2000, 33, x, x, 2, 20000);                   /* it has asked */
    device = 1;
    df_target_f_gpu(NULL, NULL, 20, 40, x, x, 1, 11264);
    df_target_f_gpu(NULL, NULL, 20, 40, x, x, 1, 25600);                     /* the static ones are 8 KiB too many */
    df_target_f_gpu(NULL, NULL, 20, 40, x, x, 8, 64);                        /* a block of 0 */
    df_target_f_gpu(NULL, NULL, 20, 40, x, x, -70000, 64);
    df_target_f_gpu(NULL, NULL, 20, 40, x, x, 1, INT64_MAX);
    df_target_f_gpu(NULL, NULL, 20, 40, x, x, 1, -1);
}
