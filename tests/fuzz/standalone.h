/* Runs a libFuzzer target without libFuzzer: the seeds, then random mutations of them, always the
 * same ones. `PROGRAM [COUNT [SEED]]`. A finding is a crash, an abort or a sanitizer's report, and
 * `PROGRAM COUNT SEED` finds it again. Include after LLVMFuzzerTestOneInput.
 */
#ifndef SC_TESTS_FUZZ_STANDALONE_H
#define SC_TESTS_FUZZ_STANDALONE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FUZZ_SIZE_MAX = 16 * 1024 };
#ifndef FUZZ_COUNT
#define FUZZ_COUNT 20000
#endif

static uint64_t fuzz_state;

static uint64_t fuzz_random(uint64_t below)
{
    fuzz_state ^= fuzz_state << 13;
    fuzz_state ^= fuzz_state >> 7;
    fuzz_state ^= fuzz_state << 17;
    return below > 0 ? fuzz_state % below : 0;
}

/* Replaces `cut` bytes at `at` by the `count` bytes at `with`; nothing where it would not fit. */
static size_t fuzz_splice(uint8_t *bytes, size_t size, size_t at, size_t cut, const uint8_t *with,
                          size_t count)
{
    if (size - cut + count > FUZZ_SIZE_MAX)
        return size;
    memmove(bytes + at + count, bytes + at + cut, size - at - cut);
    memcpy(bytes + at, with, count);
    return size - cut + count;
}

/* One of: a bit flipped, bytes cut out, a random byte put in, a piece of another seed put in, the
 * end cut off. */
static size_t fuzz_mutate(uint8_t *bytes, size_t size, const char *other)
{
    uint8_t byte = (uint8_t)fuzz_random(256);
    size_t at = fuzz_random(size + 1);
    size_t rest = size - at;
    size_t start = fuzz_random(strlen(other) + 1);
    size_t length = fuzz_random(strlen(other) - start + 1);
    switch (fuzz_random(5)) {
    case 0:
        if (rest > 0)
            bytes[at] ^= (uint8_t)(1 << fuzz_random(8));
        return size;
    case 1:
        return fuzz_splice(bytes, size, at, fuzz_random(rest < 32 ? rest + 1 : 32), &byte, 0);
    case 2:
        return fuzz_splice(bytes, size, at, 0, &byte, 1);
    case 3:
        return fuzz_splice(bytes, size, at, 0, (const uint8_t *)other + start, length);
    default:
        return fuzz_random(8) == 0 ? at : size;
    }
}

/* The target gets a copy of exactly this size, so that AddressSanitizer sees the first byte past.
 */
static void fuzz_try(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    if (!copy)
        abort();
    memcpy(copy, bytes, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static int fuzz_main(int argc, char **argv, const char *const *seeds, size_t seed_count)
{
    static uint8_t bytes[FUZZ_SIZE_MAX];
    unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : FUZZ_COUNT;
    fuzz_state = argc > 2 ? strtoull(argv[2], NULL, 10) | 1 : 1;
    for (size_t i = 0; i < seed_count; i++)
        fuzz_try((const uint8_t *)seeds[i], strlen(seeds[i]));
    for (unsigned long i = 0; i < count; i++) {
        const char *seed = seeds[fuzz_random(seed_count)];
        size_t size = strlen(seed);
        memcpy(bytes, seed, size);
        for (uint64_t rounds = 1 + fuzz_random(8); rounds > 0; rounds--)
            size = fuzz_mutate(bytes, size, seeds[fuzz_random(seed_count)]);
        fuzz_try(bytes, size);
    }
    printf("%zu seeds and %lu mutations\n", seed_count, count);
    return 0;
}

#endif
