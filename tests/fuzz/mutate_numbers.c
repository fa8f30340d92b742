/* mutate_numbers.c - libFuzzer's mutations, and one more: a number of the text becomes another one.
 *
 * Mutations of single bytes seldom make a number that is odd: very large or small, next to a limit of an integer, or a
 * power of two or ten. This file is linked with libFuzzer alone.
 */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

/* Writes an odd number, whole in half of the cases. */
static void odd_number(char *text, size_t size, unsigned *state)
{
    static const uint64_t limits[] = { UINT8_MAX, UINT16_MAX, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX };
    int way = rand_r(state) % 6;
    int step = rand_r(state) % 3 - 1, power = rand_r(state) % 64;
    double part = rand_r(state) / (double)RAND_MAX;
    switch (way) {
    case 0: snprintf(text, size, "%" PRIu64, limits[rand_r(state) % 6] + (uint64_t)step); break;
    case 1: snprintf(text, size, "%" PRIu64, (UINT64_C(1) << power) + (uint64_t)step); break;
    case 2: snprintf(text, size, "%d", rand_r(state) % 20); break;
    case 3: snprintf(text, size, "%.*f", power % 18, part * pow(10, power % 24)); break;
    case 4: snprintf(text, size, "%.1fe%d", 1 + 9 * part, (power - 32) * 10); break;
    default: snprintf(text, size, "%.*f", power % 12, 1000 - part * pow(10, -(power % 12))); break;
    }
}

/* The n-th run of digits and points; the last one if there are fewer. false: there is none. */
static bool find_number(const uint8_t *data, size_t size, size_t n, size_t *from, size_t *to)
{
    bool found = false;
    for (size_t at = 0; at < size; at++) {
        if (!isdigit(data[at]) || (at > 0 && (isalnum(data[at - 1]) || data[at - 1] == '_' || data[at - 1] == '.')))
            continue;
        if (found && n-- == 0)
            break;
        *from = *to = at;
        while (*to < size && (isdigit(data[*to]) || data[*to] == '.'))
            ++*to;
        found = true;
    }
    return found;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    char text[64];
    size_t from, to;
    if (rand_r(&seed) % 4 != 0 || !find_number(data, size, (size_t)rand_r(&seed) % 64, &from, &to))
        return LLVMFuzzerMutate(data, size, most);
    odd_number(text, sizeof text, &seed);
    size_t length = strlen(text);
    if (size - (to - from) + length > most)
        return LLVMFuzzerMutate(data, size, most);
    memmove(data + from + length, data + to, size - to);
    memcpy(data + from, text, length);
    return size - (to - from) + length;
}
