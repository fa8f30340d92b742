#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <stdint.h>
#define STB_PERLIN_IMPLEMENTATION
#include "stb/stb_perlin.h"
#define STB_IMAGE_RESIZE_IMPLEMENTATION
#include "stb/stb_image_resize2.h"
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include "stb/stb_image_write.h"
#define STB_DXT_IMPLEMENTATION
#include "stb/stb_dxt.h"
enum { W = 512, H = 256 };
static unsigned char a[H][W][4], b[H / 2][W / 2][4], d[H / 8][W / 8][16];
int main(void)
{
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            for (int c = 0; c < 4; c++)
                a[y][x][c] = (uint8_t)(127.5f + 127.5f * stb_perlin_noise3(x / 32.0f, y / 32.0f, 0.5f + c, 0, 0, 0));
    stbir_resize_uint8_srgb(a[0][0], W, H, 0, b[0][0], W / 2, H / 2, 0, STBIR_RGBA);
    for (int y = 0; y < H / 8; y++)
        for (int x = 0; x < W / 8; x++) {
            unsigned char block[64];
            for (int r = 0; r < 4; r++)
                memcpy(block + 16 * r, b[4 * y + r][4 * x], 16);
            stb_compress_dxt_block(d[y][x], block, 1, STB_DXT_HIGHQUAL);
        }
    stbi_write_png("png.ref", W / 2, H / 2, 4, b, W / 2 * 4);
    FILE *f = fopen("dxt.ref", "wb");
    fwrite(d, 1, sizeof d, f);
    return fclose(f);
}
