#define STB_PERLIN_IMPLEMENTATION
#include "stb/stb_perlin.h"
